//! No marks of unfinished work: it is done, or it is an issue.

use crate::finding::Finding;
use crate::rust_text;
use crate::tidy::Evidence;

const RULE: &str = "unfinished";
/// Spelled in two parts so that this file does not name them.
const MARKS: &[&str] = &[
    concat!("FIX", "ME"),
    concat!("TO", "DO"),
    concat!("XX", "X"),
];

/// Looks for the marks in every text file.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &evidence.tree.files {
        for mark in MARKS {
            findings.extend(rust_text::words(&file.text, mark).map(|(line, _)| {
                Finding::at(&file.path, line, RULE, format!("{mark}: do it, or file it"))
            }));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn each_mark_is_found_and_a_template_is_not() {
        for mark in MARKS {
            let text = format!("# fine\n# {mark}: later\n");
            assert_eq!(check(&sample(&[("a.sh", &text)]))[0].line, 2);
        }
        let template = format!("mktemp a.{}\n", "X".repeat(6));
        assert!(check(&sample(&[("a.sh", &template)])).is_empty());
    }
}
