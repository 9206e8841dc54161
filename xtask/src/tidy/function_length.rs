//! A function is at most 70 lines long; those that are longer stand in a list that may only shrink.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::rust_text;
use crate::tidy::Evidence;

const RULE: &str = "function-length";
const LINES_MAX: usize = 70;
/// `path::function lines` a row: the longest that the function may be, which is what it is.
const RATCHET: &str = "xtask/long-functions.txt";

/// Compares each function with the limit, and the long ones with the list.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let allowed = ratchet(evidence);
    let found = long_functions(evidence);
    let mut findings: Vec<Finding> = found
        .iter()
        .filter(|(name, (_, lines))| allowed.get(*name).is_none_or(|limit| lines > limit))
        .map(|(name, (line, lines))| {
            let (path, function) = name.split_once("::").unwrap_or((name, ""));
            let limit = allowed.get(name).copied().unwrap_or(LINES_MAX);
            let message = format!("`{function}` has {lines} lines, {limit} are allowed");
            Finding::at(path, *line, RULE, message)
        })
        .collect();
    findings.extend(allowed.iter().filter_map(|(name, limit)| {
        let lines = found.get(name).map_or(0, |(_, lines)| *lines);
        let remedy = if lines == 0 {
            "take it off".to_owned()
        } else {
            format!("lower it to {lines}")
        };
        let message = format!("`{name}` no longer has {limit} lines: {remedy}");
        (lines < *limit).then(|| Finding::of(RATCHET, RULE, message))
    }));
    findings
}

/// Functions above the limit: name to line and length, the longest of those that share a name.
fn long_functions(evidence: &Evidence) -> BTreeMap<String, (usize, usize)> {
    let mut found = BTreeMap::new();
    for file in evidence.tree.rust() {
        for function in rust_text::functions(&file.code) {
            if function.line_count <= LINES_MAX {
                continue;
            }
            let place = (function.line, function.line_count);
            let entry = found
                .entry(format!("{}::{}", file.path, function.name))
                .or_insert(place);
            if entry.1 < place.1 {
                *entry = place;
            }
        }
    }
    found
}

fn ratchet(evidence: &Evidence) -> BTreeMap<String, usize> {
    let Some(file) = evidence.tree.file(RATCHET) else {
        return BTreeMap::new();
    };
    let row = |line: &str| {
        let (name, lines) = line.trim().rsplit_once(' ')?;
        Some((name.to_owned(), lines.parse().ok()?))
    };
    file.text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(row)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "x();\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_function_is_found_unless_it_is_listed() {
        let (long, full) = (function(71), function(70));
        assert!(check(&sample(&[("a.rs", &full)])).is_empty());
        let found = check(&sample(&[("a.rs", &long)]));
        assert!(found[0].message.contains("71 lines, 70"), "{found:?}");
        assert!(
            check(&sample(&[
                ("a.rs", &long),
                (RATCHET, "# why\na.rs::long 71\n")
            ]))
            .is_empty()
        );
    }

    #[test]
    fn the_list_may_only_shrink() {
        let longer = function(80);
        let grown = check(&sample(&[("a.rs", &longer), (RATCHET, "a.rs::long 75\n")]));
        assert!(grown[0].message.contains("80 lines, 75"), "{grown:?}");
        let shrunk = check(&sample(&[("a.rs", &longer), (RATCHET, "a.rs::long 90\n")]));
        assert!(shrunk[0].message.contains("lower it to 80"), "{shrunk:?}");
        let gone = check(&sample(&[(RATCHET, "a.rs::long 90\n")]));
        assert!(gone[0].message.contains("take it off"), "{gone:?}");
    }
}
