//! `xtask licences`: every package we build on is under a permissive licence, or the task names it.

mod expression;

use std::path::Path;

use crate::finding::Finding;
use crate::metadata::{self, ForeignPackage};

const RULE: &str = "licences";

/// Licences that ask for no more than a notice. `deny.toml` holds the same list.
pub const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks the packages that a build on this machine takes part in.
///
/// # Errors
/// When cargo cannot tell, as a sentence.
pub fn run(root: &Path) -> Result<Vec<Finding>, String> {
    Ok(metadata::foreign_packages(root)?
        .iter()
        .filter_map(judge)
        .collect())
}

fn judge(package: &ForeignPackage) -> Option<Finding> {
    let complaint = match package.licence.as_deref() {
        None => "its manifest names no licence".to_owned(),
        Some(licence) => match expression::allows(licence, ALLOWED) {
            Ok(true) => return None,
            Ok(false) => format!("`{licence}` is not on the list of permissive licences"),
            Err(problem) => format!("`{licence}` cannot be read: {problem}"),
        },
    };
    Some(Finding::of(&package.name, RULE, complaint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(licence: Option<&str>) -> ForeignPackage {
        ForeignPackage {
            name: "x 1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
        }
    }

    #[test]
    fn a_copyleft_or_silent_package_is_named() {
        let finding = judge(&package(Some("GPL-3.0-only"))).unwrap();
        assert_eq!(finding.path, "x 1.0.0");
        assert!(finding.message.contains("GPL-3.0-only"));
        assert!(
            judge(&package(None))
                .unwrap()
                .message
                .contains("no licence")
        );
        assert!(judge(&package(Some("MIT OR"))).is_some());
        assert!(judge(&package(Some("MIT OR GPL-2.0"))).is_none());
    }

    #[test]
    fn deny_toml_allows_the_same_licences() {
        let deny = std::fs::read_to_string(crate::repository_root().join("deny.toml")).unwrap();
        for licence in ALLOWED {
            assert!(
                deny.contains(&format!("\"{licence}\"")),
                "{licence} is not in deny.toml"
            );
        }
        let listed = deny
            .lines()
            .filter(|line| line.starts_with("    \""))
            .count();
        assert_eq!(listed, ALLOWED.len());
    }
}
