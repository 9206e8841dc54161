//! The files that pages about the code name are there.

use crate::finding::Finding;
use crate::tidy::Evidence;
use crate::tree::SourceFile;

const RULE: &str = "named-files";
const PAGES: [&str; 3] = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/design/inside.md",
];
const ENDINGS: [&str; 4] = [".rs", ".sh", ".py", ".c"];

/// A file is named in backticks, by the end of its path.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let files = &evidence.tree.files;
    let is_there = |name: &str| {
        let mut ends = files.iter().map(|file| file.path.strip_suffix(name));
        ends.any(|rest| rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))
    };
    let pages = PAGES.iter().filter_map(|path| evidence.tree.file(path));
    pages.flat_map(|page| missing(page, is_there)).collect()
}

fn missing(page: &SourceFile, is_there: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in (1..).zip(page.text.lines()) {
        for name in text.split('`').skip(1).step_by(2) {
            let is_pattern = name.contains([' ', '*', '{', '<'])
                || name.contains("...")
                || name.contains("NAME");
            let is_file = ENDINGS.iter().any(|ending| name.ends_with(ending)) && !is_pattern;
            if is_file && !is_there(name.trim_start_matches("./")) {
                let message = format!("`{name}` is no file of the repository");
                findings.push(Finding::at(&page.path, line, RULE, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_file_that_is_gone_is_found() {
        let files = |text| sample(&[("ARCHITECTURE.md", text), ("crates/a/src/b.rs", "//! B.\n")]);
        for there in [
            "`a/src/b.rs`",
            "`b.rs` and `src/*.rs`",
            "`x.toml`",
            "`./ci.sh run`",
        ] {
            assert!(check(&files(there)).is_empty(), "{there}");
        }
        for gone in ["`a/src/c.rs`", "see `xb.rs`", "`b.rs`, `ci.sh`"] {
            assert_eq!(check(&files(gone)).len(), 1, "{gone}");
        }
    }
}
