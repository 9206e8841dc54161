//! A `// SAFETY:` comment, naming owner and range, stands right above each unsafe block or impl.

use crate::finding::Finding;
use crate::rust_text;
use crate::tidy::Evidence;
use crate::tree::SourceFile;

const RULE: &str = "safety-comment";
/// The comment may stand above the statement that the block is part of.
const LINES_ABOVE_MAX: usize = 8;

/// Looks above each `unsafe {` and `unsafe impl`.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.tree.rust().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().collect();
    let bare = |(line, at): (usize, usize)| {
        let rest = file.code[at + "unsafe".len()..].trim_start();
        let promises = rest.starts_with('{') || rest.starts_with("impl");
        let above = &lines[line.saturating_sub(LINES_ABOVE_MAX + 1)..line];
        let explained = above.iter().any(|text| text.contains("SAFETY:"));
        let message = "say in a `// SAFETY:` comment why this is sound: owner and range";
        (promises && !explained).then(|| Finding::at(&file.path, line, RULE, message))
    };
    rust_text::words(&file.code, "unsafe")
        .filter_map(bare)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn an_unexplained_block_is_found() {
        let found = check(&sample(&[("a.rs", "fn a() {\n    unsafe { b() }\n}\n")]));
        assert_eq!(found[0].line, 2);
        let explained = "fn a() {\n    // SAFETY: ours.\n    let x = unsafe { b() };\n}\n";
        assert!(check(&sample(&[("a.rs", explained)])).is_empty());
    }

    #[test]
    fn an_unexplained_impl_is_found_and_a_declaration_is_not() {
        let text = "unsafe impl Send for A {}\nunsafe fn b() {}\n";
        assert_eq!(check(&sample(&[("a.rs", text)])).len(), 1);
    }
}
