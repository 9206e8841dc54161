//! Modules of different folders do not use each other in a circle: one of them stands on the other.
//!
//! A module and all beneath it are one unit. Beside each other in one folder, files may use each
//! other as they like; where a unit with a folder of its own takes part, a circle is one between
//! folders. Names that a module passes on (`pub use`) lead to where they come from.

mod graph;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::tidy::Evidence;
use graph::circles;
use uses::Uses;

const RULE: &str = "circles";

/// A module's path in its crate; that of `lib.rs` is empty.
type Module = Vec<String>;

/// Units in circles that were there before this rule, by the folder that they lie in. A count may
/// shrink and never grow; one that is 0 goes away.
const KNOWN: &[(&str, usize)] = &[
    ("crates/daemon/src", 2),
    ("crates/daemon/src/sets", 3),
    ("crates/engine/src", 27),
    ("crates/frame/src", 6),
    ("crates/lab/src", 4),
    ("crates/list/src", 11),
    ("crates/plane/src", 5),
    ("crates/port/src", 15),
    ("crates/table/src", 10),
];

/// Each folder with circles that are not known, and each known count that is too high.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let found = found(evidence);
    let known: BTreeMap<&str, usize> = KNOWN.iter().copied().collect();
    let folders: BTreeSet<&str> = found
        .keys()
        .map(String::as_str)
        .chain(known.keys().copied())
        .collect();
    let judge = |folder: &str| {
        let units: Vec<&str> = found
            .get(folder)
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        judge(folder, &units, known.get(folder).copied().unwrap_or(0))
    };
    folders.into_iter().filter_map(judge).collect()
}

fn judge(folder: &str, units: &[&str], known: usize) -> Option<Finding> {
    let count = units.len();
    if count == known {
        return None;
    }
    let message = if count > known {
        format!(
            "{count} modules use each other in circles, {known} may: {}; have what both sides need \
             stand in a module of its own",
            units.join(", ")
        )
    } else {
        format!(
            "{count} modules use each other in circles, not {known}: lower the count in {RULE}.rs"
        )
    };
    Some(Finding::of(folder, RULE, message))
}

/// By folder, the units of circles between folders.
fn found(evidence: &Evidence) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for (source, uses) in sources(evidence) {
        let parents: BTreeSet<&[String]> = uses
            .modules()
            .filter_map(|module| Some(module.split_last()?.1))
            .collect();
        for parent in parents {
            let units = units_in_circles(&uses, parent);
            if !units.is_empty() {
                let folder = [std::slice::from_ref(&source), parent].concat().join("/");
                found.insert(folder, units);
            }
        }
    }
    found
}

/// The files of each `src` folder, read.
fn sources(evidence: &Evidence) -> BTreeMap<String, Uses> {
    let mut sources: BTreeMap<String, Uses> = BTreeMap::new();
    for file in evidence
        .tree
        .rust()
        .filter(|file| !file.path.ends_with("tests.rs"))
    {
        let Some((before, inside)) = file.path.split_once("/src/") else {
            continue;
        };
        let source = sources.entry(format!("{before}/src")).or_default();
        source.add(inside, &file.code);
    }
    sources
}

/// The units right beneath `parent` that are in a circle of which one has a folder.
fn units_in_circles(uses: &Uses, parent: &[String]) -> Vec<String> {
    let unit_of =
        |module: &[String]| -> Option<String> { module.strip_prefix(parent)?.first().cloned() };
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in uses.edges() {
        if let (Some(from), Some(to)) = (unit_of(&from), unit_of(&to))
            && from != to
        {
            edges.entry(from).or_default().insert(to);
        }
    }
    let depth = parent.len() + 1;
    let has_folder = |unit: &String| {
        let beneath =
            |module: &Module| module.len() > depth && unit_of(module).as_ref() == Some(unit);
        uses.modules().any(beneath)
    };
    let mut units: Vec<String> = circles(&edges)
        .into_iter()
        .filter(|circle| circle.iter().any(has_folder))
        .flatten()
        .collect();
    units.sort();
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    fn units(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> = files
            .iter()
            .map(|&(path, text)| (format!("crates/x/src/{path}"), text))
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        found(&sample(&files)).into_values().flatten().collect()
    }

    #[test]
    fn circles_between_folders_are_found() {
        for (why, files, expected) in [
            (
                "a file and one in another's folder",
                &[
                    ("a.rs", "use crate::b::c::C;"),
                    ("b.rs", "mod c;"),
                    ("b/c.rs", "use crate::a::A;"),
                ][..],
                &["a", "b"][..],
            ),
            (
                "through a name that the other's root passes on",
                &[
                    ("a.rs", "use crate::b::C;"),
                    ("b.rs", "mod c;\npub use c::C;"),
                    ("b/c.rs", "use crate::a::A;"),
                ],
                &["a", "b"],
            ),
            (
                "through a name that the crate passes on",
                &[
                    ("lib.rs", "mod a;\nmod b;\npub use a::{A, B as D};"),
                    ("a.rs", "use crate::b::c::C;"),
                    ("b.rs", ""),
                    ("b/c.rs", "use crate::{D, other};"),
                ],
                &["a", "b"],
            ),
            (
                "by a path in the code",
                &[
                    ("a.rs", "fn f() { crate::b::c::g() }"),
                    ("b.rs", ""),
                    ("b/c.rs", "fn g() { super::super::a::f() }"),
                ],
                &["a", "b"],
            ),
            (
                "deeper",
                &[
                    ("a/b.rs", "use super::c::d::D;"),
                    ("a/c/d.rs", "use crate::a::b::B;"),
                    ("a/c.rs", ""),
                    ("a.rs", ""),
                ],
                &["b", "c"],
            ),
            (
                "of three",
                &[
                    ("a.rs", "use crate::b::B;"),
                    ("b.rs", "use crate::c::d::D;"),
                    ("c.rs", ""),
                    ("c/d.rs", "use crate::a::A;"),
                ],
                &["a", "b", "c"],
            ),
        ] {
            assert_eq!(units(files), expected, "{why}");
        }
    }

    #[test]
    fn what_is_no_circle_between_folders_is_not() {
        for (why, files) in [
            (
                "one way",
                &[
                    ("a.rs", "use crate::b::c::C;"),
                    ("b.rs", ""),
                    ("b/c.rs", "use super::B;"),
                ][..],
            ),
            (
                "files of one folder",
                &[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")],
            ),
            (
                "a module and those beneath it",
                &[("b.rs", "use c::C;"), ("b/c.rs", "use super::B;")],
            ),
            (
                "tests",
                &[
                    ("a.rs", "use crate::b::c::C;"),
                    ("b.rs", ""),
                    ("b/c.rs", "#[cfg(test)]\nmod t {\n use crate::a::A;\n}"),
                ],
            ),
            (
                "a name of a comment",
                &[
                    ("a.rs", "use crate::b::c::C;"),
                    ("b.rs", ""),
                    ("b/c.rs", "// use crate::a::A;"),
                ],
            ),
        ] {
            assert_eq!(units(files), Vec::<String>::new(), "{why}");
        }
    }

    #[test]
    fn a_count_that_grows_or_could_shrink_is_found() {
        let units = ["a", "b"];
        assert_eq!(judge("crates/x/src", &units, 2), None);
        for (known, says) in [(0, "0 may: a, b"), (1, "1 may"), (3, "not 3: lower")] {
            let finding = judge("crates/x/src", &units, known).expect("a finding");
            assert!(finding.message.contains(says), "{}", finding.message);
        }
    }
}
