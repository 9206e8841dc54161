//! The table of folders in ARCHITECTURE.md: each folder of a crate, in the words of its own module.

use std::collections::BTreeMap;

use crate::architecture::PATH;
use crate::finding::Finding;
use crate::tidy::Evidence;
use crate::tree::Tree;

const RULE: &str = "folders";

/// Folders directly below a `src`, but for tests.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let told = &evidence.architecture.folders;
    let there = folders(&evidence.tree);
    let wrong = there
        .iter()
        .filter(|(folder, what)| told.get(*folder) != Some(*what))
        .map(|(folder, what)| format!("the table of folders needs `| `{folder}` | {what} |`"));
    let gone = told
        .keys()
        .filter(|folder| !there.contains_key(*folder))
        .map(|folder| format!("`{folder}` is no folder of a crate"));
    wrong
        .chain(gone)
        .map(|message| Finding::at(PATH, 1, RULE, message))
        .collect()
}

/// What each is, by its path below `crates/`.
fn folders(tree: &Tree) -> BTreeMap<String, String> {
    let files = tree.files.iter().filter(|file| file.is_rust());
    files
        .filter_map(|file| {
            let mut parts = file.path.strip_prefix("crates/")?.split('/');
            let (own, src, folder) = (parts.next()?, parts.next()?, parts.next()?);
            let is_inside = parts.next().is_some() && src == "src" && folder != "tests";
            let path = is_inside.then(|| format!("{own}/src/{folder}"))?;
            let head = tree.file(&format!("crates/{path}.rs"));
            let what = head.map(|head| first_sentence(&head.text));
            Some((path, what.unwrap_or_default()))
        })
        .collect()
}

/// Of the documentation that opens a module.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split(". ").next().unwrap_or_default();
    sentence.trim_end_matches('.').replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_folder_is_told_of_in_its_own_words() {
        let mut evidence = sample(&[
            ("crates/a/src/b.rs", "//! Bees, which\n//! fly. And more.\n"),
            ("crates/a/src/b/c.rs", "//! C.\n"),
            ("crates/a/src/tests/d.rs", "//! D.\n"),
        ]);
        let findings = check(&evidence);
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0]
                .to_string()
                .contains("| `a/src/b` | Bees, which fly |")
        );
        for (folder, what, wrong) in [
            ("a/src/b", "Bees, which fly", 0),
            ("a/src/b", "Wasps", 1),
            ("a/src/x", "Gone", 2),
        ] {
            evidence.architecture.folders = BTreeMap::from([(folder.into(), what.into())]);
            assert_eq!(check(&evidence).len(), wrong, "{folder} {what}");
        }
    }
}
