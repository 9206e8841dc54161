//! Every Rust file opens with `//!`: its contract in a sentence.

use crate::finding::Finding;
use crate::tidy::Evidence;

const RULE: &str = "file-head";

/// The first line of each Rust file.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let headless = |text: &str| !text.starts_with("//! ");
    let bad = evidence.tree.rust().filter(|file| headless(&file.text));
    bad.map(|file| {
        Finding::at(
            &file.path,
            1,
            RULE,
            "open the file with `//!` and its contract",
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_file_without_a_contract_is_found() {
        let files = [
            ("a.rs", "//! What it is.\n"),
            ("b.rs", "use x;\n"),
            ("c.py", "x\n"),
        ];
        let found = check(&sample(&files));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "b.rs");
    }
}
