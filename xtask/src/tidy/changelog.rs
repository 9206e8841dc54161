//! CHANGELOG.md has an Unreleased section to write into.

use crate::finding::Finding;
use crate::tidy::Evidence;

const RULE: &str = "changelog";
const PATH: &str = "CHANGELOG.md";

/// Looks for the heading.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let text = evidence
        .tree
        .file(PATH)
        .map_or("", |file| file.text.as_str());
    let there = text.lines().any(|line| line.trim_end() == "## Unreleased");
    let missing = || Finding::of(PATH, RULE, "there is no section `## Unreleased`");
    (!there).then(missing).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_missing_section_is_found() {
        assert_eq!(check(&sample(&[])).len(), 1);
        assert_eq!(check(&sample(&[(PATH, "# Changelog\n## 1.0\n")])).len(), 1);
        assert!(check(&sample(&[(PATH, "# Changelog\n## Unreleased\n")])).is_empty());
    }
}
