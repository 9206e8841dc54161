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
    let tests = test_modules(&tree.files);
    let is_product = |file: &&SourceFile| !tests.iter().any(|module| is_within(&file.path, module));
    for file in tree.files.iter().filter(is_product) {
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

/// The paths, without `.rs`, of modules that are declared under `#[cfg(test)]`.
fn test_modules(files: &[SourceFile]) -> Vec<String> {
    let mut modules = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let folder = module_folder(&file.path);
        let declared = file.code.split("#[cfg(test)]").skip(1);
        let names = declared.filter_map(|text| {
            let text = text.trim_start();
            let name = text.strip_prefix("pub(crate) ").unwrap_or(text);
            let name = name.strip_prefix("mod ")?;
            let end = name.find(|c: char| c != '_' && !c.is_alphanumeric())?;
            name[end..].starts_with(';').then_some(&name[..end])
        });
        modules.extend(names.map(|name| format!("{folder}/{name}")));
    }
    modules
}

/// Where the modules of a file lie.
fn module_folder(path: &str) -> &str {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if matches!(name, "lib" | "main") {
        folder
    } else {
        path
    }
}

/// Whether the file is the module, or lies in its folder.
fn is_within(path: &str, module: &str) -> bool {
    let rest = path.strip_prefix(module);
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
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
    fn files_of_test_modules_do_not_count() {
        let text = "#[cfg(test)]\nmod oracle;\nmod kept;\n#[cfg(test)]\nmod inline {\n}\n";
        for (path, module) in [
            ("crates/a/src/b.rs", "crates/a/src/b/oracle"),
            ("crates/a/src/lib.rs", "crates/a/src/oracle"),
        ] {
            assert_eq!(test_modules(&[SourceFile::new(path, text)]), [module]);
        }
        assert!(is_within("crates/a/src/oracle.rs", "crates/a/src/oracle"));
        assert!(is_within("crates/a/src/oracle/b.rs", "crates/a/src/oracle"));
        assert!(!is_within("crates/a/src/oracles.rs", "crates/a/src/oracle"));
    }

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
