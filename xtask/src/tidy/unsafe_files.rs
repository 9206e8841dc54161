//! `unsafe` stands only in the files that ARCHITECTURE.md lists; a crate without any forbids it.

use crate::architecture;
use crate::finding::Finding;
use crate::rust_text;
use crate::tidy::Evidence;
use crate::tree::SourceFile;

const RULE: &str = "unsafe-files";
const FORBID: &str = "#![forbid(unsafe_code)]";

/// Every `unsafe`, every listed file, and the root of every crate.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let listed = &evidence.architecture.unsafe_files;
    let mut findings = Vec::new();
    for file in evidence.tree.rust() {
        let first = rust_text::words(&file.code, "unsafe").next();
        if let (Some((line, _)), false) = (first, listed.contains(&file.path)) {
            let message = "`unsafe` in a file that ARCHITECTURE.md does not list";
            findings.push(Finding::at(&file.path, line, RULE, message));
        }
    }
    for path in listed {
        let code = evidence
            .tree
            .file(path)
            .map_or("", |file| file.code.as_str());
        if rust_text::words(code, "unsafe").next().is_none() {
            let message = format!("`{path}` is listed and holds no `unsafe`: take it off");
            findings.push(Finding::of(architecture::PATH, RULE, message));
        }
    }
    findings.extend(
        evidence
            .tree
            .rust()
            .filter_map(|file| check_root(evidence, file)),
    );
    findings
}

/// The root file of a library or program.
fn check_root(evidence: &Evidence, file: &SourceFile) -> Option<Finding> {
    let source = file
        .path
        .strip_suffix("/lib.rs")
        .or(file.path.strip_suffix("/main.rs"))?;
    let folder = format!("{source}/");
    let listed = evidence
        .architecture
        .unsafe_files
        .iter()
        .any(|path| path.starts_with(&folder));
    let message = format!("the crate holds no `unsafe`: say `{FORBID}` at its root");
    (source.ends_with("/src") && !listed && !file.code.contains(FORBID))
        .then(|| Finding::at(&file.path, 1, RULE, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn unsafe_in_an_unlisted_file_is_found() {
        let mut evidence = sample(&[
            ("a.rs", "// unsafe\nunsafe { }\n"),
            ("b.rs", "unsafe_code\n"),
        ]);
        assert_eq!(check(&evidence)[0].line, 2);
        assert_eq!(check(&evidence).len(), 1);
        evidence.architecture.unsafe_files.insert("a.rs".to_owned());
        assert!(check(&evidence).is_empty());
    }

    #[test]
    fn a_listed_file_without_unsafe_is_found() {
        let mut evidence = sample(&[("a.rs", "fn a() {}\n")]);
        evidence.architecture.unsafe_files.insert("a.rs".to_owned());
        assert!(check(&evidence)[0].message.contains("take it off"));
    }

    #[test]
    fn a_crate_without_unsafe_must_forbid_it() {
        let root = "crates/a/src/lib.rs";
        assert_eq!(check(&sample(&[(root, "//! A.\n")])).len(), 1);
        assert!(check(&sample(&[(root, "//! A.\n#![forbid(unsafe_code)]\n")])).is_empty());
    }
}
