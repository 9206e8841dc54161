//! Files, folders and modules are named by what they hold, never by "and the rest".

use crate::finding::Finding;
use crate::rust_text;
use crate::tidy::Evidence;
use crate::tree::SourceFile;

const RULE: &str = "names";
const BANNED: &[&str] = &[
    "util", "utils", "common", "helper", "helpers", "misc", "manager", "handler", "handlers",
];

/// Paths of all files, and modules declared inside Rust files.
pub fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings: Vec<Finding> = evidence.tree.files.iter().filter_map(check_path).collect();
    findings.extend(evidence.tree.rust().flat_map(check_modules));
    findings
}

/// A module's file is `name.rs` beside its folder: editors show it by its name.
fn check_path(file: &SourceFile) -> Option<Finding> {
    if file.path.contains("src/") && file.path.ends_with("/mod.rs") {
        let message = "a module's file stands beside its folder, as `name.rs`".to_owned();
        return Some(Finding::of(&file.path, RULE, message));
    }
    let stem = |part: &'_ str| part.split('.').next().unwrap_or(part).to_owned();
    let bad = file
        .path
        .split('/')
        .map(stem)
        .find(|part| BANNED.contains(&part.as_str()))?;
    Some(Finding::of(
        &file.path,
        RULE,
        format!("`{bad}` says nothing: name what it holds"),
    ))
}

fn check_modules(file: &SourceFile) -> Vec<Finding> {
    let banned = |(line, at): (usize, usize)| {
        let rest = file.code[at + 3..].trim_start();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let name = &rest[..end];
        let message = format!("`mod {name}` says nothing: name what it holds");
        BANNED
            .contains(&name)
            .then(|| Finding::at(&file.path, line, RULE, message))
    };
    rust_text::words(&file.code, "mod")
        .filter_map(banned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_file_a_folder_and_a_module_are_found() {
        for (path, text) in [
            ("src/utils.rs", ""),
            ("tests/common/mod.rs", ""),
            ("crates/a/src/b/mod.rs", ""),
            ("src/a.rs", "mod helpers { }\n"),
        ] {
            assert_eq!(check(&sample(&[(path, text)])).len(), 1, "{path}");
        }
        assert!(check(&sample(&[("tests/ports/mod.rs", "")])).is_empty());
        assert!(check(&sample(&[("src/manager_port.rs", "mod commons;\n")])).is_empty());
    }
}
