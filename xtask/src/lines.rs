//! `xtask lines`: how much product code there is.

use std::collections::BTreeMap;
use std::path::Path;

use crate::finding::Finding;
use crate::rust_text;
use crate::tree::{SourceFile, Tree};

/// Prints the lines of product code of each crate, and of all.
///
/// # Errors
/// When the files cannot be listed, as a sentence.
pub fn run(root: &Path) -> Result<Vec<Finding>, String> {
    let tree = Tree::read(root)?;
    let mut crates: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &tree.files {
        if let Some(name) = product_crate(file) {
            *crates.entry(name).or_default() += product_lines(file);
        }
    }
    for (name, lines) in &crates {
        println!("{name:<10}{lines:>8}");
    }
    println!("{:<10}{:>8}", "all", crates.values().sum::<usize>());
    Ok(Vec::new())
}

/// The crate whose product code the file is; `None` for tests, benchmarks, examples and tools.
fn product_crate(file: &SourceFile) -> Option<&str> {
    let (name, path) = file.path.strip_prefix("crates/")?.split_once('/')?;
    let is_product = path.starts_with("src/") && file.is_rust() && !file.is_test();
    (is_product && !path.ends_with("_tests.rs")).then_some(name)
}

/// Lines that hold code, without those of items under `#[cfg(test)]`.
fn product_lines(file: &SourceFile) -> usize {
    let tests = rust_text::test_lines(&file.code);
    let is_test = |number| tests.iter().any(|lines| lines.contains(&number));
    let text = rust_text::without_comments(&file.text);
    let lines = (1..).zip(text.lines());
    let code = lines.filter(|&(number, line)| !line.trim().is_empty() && !is_test(number));
    code.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_blank_lines_do_not_count() {
        let text = "//! Head.\n\nuse a;\n/* b\n c */\nfn d() {\n    e(\"// f\");\n}\n\
                    #[cfg(test)]\nmod g;\n#[cfg(test)]\nmod tests {\n    fn h() {}\n}\n";
        for (path, lines) in [
            ("crates/a/src/b.rs", Some(4)),
            ("crates/a/src/b/tests.rs", None),
            ("crates/a/src/c_tests.rs", None),
            ("crates/a/tests/c.rs", None),
            ("xtask/src/main.rs", None),
        ] {
            let file = SourceFile::new(path, text);
            let counted = product_crate(&file).map(|_| product_lines(&file));
            assert_eq!(counted, lines, "{path}");
        }
    }
}
