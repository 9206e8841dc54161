//! Each third-party dependency has a line in ARCHITECTURE.md that says why it is there.

use std::collections::BTreeSet;

use crate::architecture;
use crate::finding::Finding;
use crate::tidy::Evidence;

const RULE: &str = "dependencies";

/// Manifests against the table, and the table against the manifests.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let explained = &evidence.architecture.dependencies;
    let mut findings = Vec::new();
    for package in &evidence.packages {
        for used in package
            .foreign
            .iter()
            .filter(|used| !explained.contains(*used))
        {
            let message = format!("`{used}` has no line in ARCHITECTURE.md saying why it is here");
            findings.push(Finding::of(&package.manifest, RULE, message));
        }
    }
    let used: BTreeSet<&String> = evidence
        .packages
        .iter()
        .flat_map(|package| &package.foreign)
        .collect();
    for name in explained.iter().filter(|name| !used.contains(name)) {
        let message = format!("the table explains `{name}`, which nothing uses");
        findings.push(Finding::of(architecture::PATH, RULE, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::OwnPackage;

    #[test]
    fn an_unexplained_and_an_unused_dependency_are_found() {
        let package = OwnPackage {
            folder: "a".to_owned(),
            manifest: "crates/a/Cargo.toml".to_owned(),
            own: Vec::new(),
            foreign: vec!["leftpad".to_owned(), "libc".to_owned()],
        };
        let mut evidence = Evidence {
            packages: vec![package],
            ..Evidence::default()
        };
        evidence.architecture.dependencies = ["libc", "old"].map(str::to_owned).into();
        let found = check(&evidence);
        assert!(found[0].message.contains("`leftpad`"));
        assert!(found[1].message.contains("`old`, which nothing uses"));
        assert_eq!(found.len(), 2);
    }
}
