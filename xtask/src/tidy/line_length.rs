//! Lines are at most 100 characters wide, tables in Markdown excepted.

use crate::finding::Finding;
use crate::tidy::Evidence;
use crate::tree::SourceFile;

const RULE: &str = "line-length";
const WIDTH_MAX: usize = 100;
const CHECKED: &[&str] = &["rs", "py", "sh"];

/// Code and scripts; prose in Markdown flows, and an inline table in TOML cannot be wrapped.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let checked = |file: &&SourceFile| CHECKED.iter().any(|end| file.has_extension(end));
    evidence
        .tree
        .files
        .iter()
        .filter(checked)
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let too_wide = |(line, text): (usize, &str)| {
        let width = text.chars().count();
        let message = format!("{width} characters wide, {WIDTH_MAX} are allowed");
        (width > WIDTH_MAX).then(|| Finding::at(&file.path, line, RULE, message))
    };
    file.lines().filter_map(too_wide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_wide_line_is_found_and_a_full_one_is_not() {
        let text = format!("{}\n{}\n", "x".repeat(100), "x".repeat(101));
        let found = check(&sample(&[("a.rs", &text), ("table.md", &text)]));
        assert_eq!(
            found
                .iter()
                .map(|f| (f.path.as_str(), f.line))
                .collect::<Vec<_>>(),
            [("a.rs", 2)]
        );
    }
}
