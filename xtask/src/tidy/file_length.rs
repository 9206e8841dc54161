//! A Rust file holds one noun: at most 500 lines, tests at most 800.

use crate::finding::Finding;
use crate::tidy::Evidence;
use crate::tree::SourceFile;

const RULE: &str = "file-length";
const LINES_MAX: usize = 500;
const TEST_LINES_MAX: usize = 800;

/// Counts the lines of each Rust file.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.tree.rust().filter_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    let limit = if file.is_test() {
        TEST_LINES_MAX
    } else {
        LINES_MAX
    };
    let message = format!("{lines} lines, {limit} are allowed: part it by what it is about");
    (lines > limit).then(|| Finding::of(&file.path, RULE, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_long_file_is_found_and_tests_get_more_room() {
        let long = "//! x\n".repeat(501);
        let longer = "//! x\n".repeat(801);
        let found = check(&sample(&[
            ("src/a.rs", &long),
            ("src/a/tests.rs", &long),
            ("tests/b.rs", &longer),
        ]));
        let paths: Vec<_> = found.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(paths, ["src/a.rs", "tests/b.rs"]);
    }
}
