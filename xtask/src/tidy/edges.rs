//! Who uses whom among our crates is what ARCHITECTURE.md allows, dev-dependencies included.

use crate::architecture;
use crate::finding::Finding;
use crate::tidy::Evidence;

const RULE: &str = "edges";

/// Every manifest against the list, and the list against the manifests.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let allowed = &evidence.architecture.edges;
    let mut findings = Vec::new();
    for package in &evidence.packages {
        let Some(uses) = allowed.get(&package.folder) else {
            let message = format!("`{}` has no line in the list of edges", package.folder);
            findings.push(Finding::of(architecture::PATH, RULE, message));
            continue;
        };
        for used in package.own.iter().filter(|used| !uses.contains(*used)) {
            let message = format!("`{}` must not use `{used}`", package.folder);
            findings.push(Finding::of(&package.manifest, RULE, message));
        }
    }
    for name in allowed.keys().chain(allowed.values().flatten()) {
        if !evidence
            .packages
            .iter()
            .any(|package| package.folder == *name)
        {
            let message = format!("the list of edges names `{name}`, which does not exist");
            findings.push(Finding::of(architecture::PATH, RULE, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::OwnPackage;

    fn package(folder: &str, own: &[&str]) -> OwnPackage {
        OwnPackage {
            folder: folder.to_owned(),
            manifest: format!("crates/{folder}/Cargo.toml"),
            own: own.iter().map(|&name| name.to_owned()).collect(),
            foreign: Vec::new(),
        }
    }

    fn evidence(packages: &[OwnPackage], edges: &[(&str, &[&str])]) -> Evidence {
        let mut evidence = Evidence {
            packages: packages.to_vec(),
            ..Evidence::default()
        };
        for (name, uses) in edges {
            let uses = uses.iter().map(|&used| used.to_owned()).collect();
            evidence.architecture.edges.insert((*name).to_owned(), uses);
        }
        evidence
    }

    #[test]
    fn a_forbidden_edge_is_found() {
        let packages = [package("port", &["plane"]), package("plane", &[])];
        let edges: [(&str, &[&str]); 2] = [("port", &[]), ("plane", &[])];
        let found = check(&evidence(&packages, &edges));
        assert_eq!(found[0].message, "`port` must not use `plane`");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn an_unlisted_and_a_vanished_crate_are_found() {
        let found = check(&evidence(&[package("new", &[])], &[("old", &[])]));
        assert!(found[0].message.contains("`new` has no line"));
        assert!(found[1].message.contains("`old`, which does not exist"));
    }
}
