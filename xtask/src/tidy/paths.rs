//! No tracked file names a place on somebody's machine.

use crate::finding::Finding;
use crate::tidy::Evidence;
use crate::tree::SourceFile;

const RULE: &str = "paths";
/// Spelled in two parts so that this file does not name them.
const PLACES: &[&str] = &[
    concat!("/wo", "rk"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];

/// Looks for the places in every text file.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let named = |(line, text): (usize, &str)| {
        let place = PLACES.iter().find(|place| names_place(text, place))?;
        Some(Finding::at(
            &file.path,
            line,
            RULE,
            format!("names `{place}`, a place on one machine"),
        ))
    };
    file.lines().filter_map(named).collect()
}

/// A path that starts at the root of the file system, not the tail of a relative or web one.
fn names_place(text: &str, place: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || "._-}*/".contains(c);
    text.match_indices(place).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + place.len()..].chars().next();
        let whole = place.ends_with('/') || after.is_none_or(|c| c == '/' || !word(c));
        !before.is_some_and(word) && whole
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn places_are_found() {
        for place in PLACES {
            let text = format!("# x\nopen(\"{place}/a\")\n");
            assert_eq!(check(&sample(&[("a.py", &text)]))[0].line, 2, "{place}");
        }
    }

    #[test]
    fn tails_of_other_paths_are_not() {
        let text = format!("engine{p}er.rs\n.{p}/x\n{p}er\n", p = PLACES[0]);
        assert!(check(&sample(&[("a.md", &text)])).is_empty());
    }
}
