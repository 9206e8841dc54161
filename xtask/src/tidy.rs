//! `xtask tidy`: the rules of the repository, each in a file of its own.

pub mod changelog;
pub mod circles;
pub mod dependencies;
pub mod edges;
pub mod file_head;
pub mod file_length;
pub mod folders;
pub mod function_length;
pub mod line_length;
pub mod named_files;
pub mod names;
pub mod paths;
pub mod safety_comments;
pub mod unfinished;
pub mod unsafe_files;

use std::path::Path;

use crate::architecture::Architecture;
use crate::finding::Finding;
use crate::metadata::{self, OwnPackage};
use crate::tree::Tree;

/// All that a rule may look at.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The files.
    pub tree: Tree,
    /// What ARCHITECTURE.md promises.
    pub architecture: Architecture,
    /// Our packages, those of the fuzz workspace among them.
    pub packages: Vec<OwnPackage>,
}

/// A rule: from the evidence to what is wrong.
pub type Rule = fn(&Evidence) -> Vec<Finding>;

/// Every rule.
pub const RULES: &[Rule] = &[
    changelog::check,
    circles::check,
    dependencies::check,
    edges::check,
    file_head::check,
    file_length::check,
    folders::check,
    function_length::check,
    line_length::check,
    named_files::check,
    names::check,
    paths::check,
    safety_comments::check,
    unfinished::check,
    unsafe_files::check,
];

/// Runs every rule over the repository at `root`.
///
/// # Errors
/// When the evidence cannot be gathered, as a sentence.
pub fn run(root: &Path) -> Result<Vec<Finding>, String> {
    let evidence = gather(root)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&evidence)).collect();
    findings.sort();
    Ok(findings)
}

fn gather(root: &Path) -> Result<Evidence, String> {
    let tree = Tree::read(root)?;
    let architecture = Architecture::read(&tree)?;
    let mut packages = metadata::own_packages(root, "Cargo.toml")?;
    if tree.file("fuzz/Cargo.toml").is_some() {
        packages.extend(metadata::own_packages(root, "fuzz/Cargo.toml")?);
    }
    Ok(Evidence {
        tree,
        architecture,
        packages,
    })
}

#[cfg(test)]
pub(crate) fn sample(files: &[(&str, &str)]) -> Evidence {
    Evidence {
        tree: Tree::sample(files),
        ..Evidence::default()
    }
}
