//! What cargo says about our packages and those we build on (`cargo metadata`).

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// One of our packages and what its manifest asks for.
#[derive(Debug, Clone)]
pub struct OwnPackage {
    /// The folder it lives in (`wire`, `cli`, `xtask`), the name that ARCHITECTURE.md uses.
    pub folder: String,
    /// Its manifest, relative to the root.
    pub manifest: String,
    /// Folders of our own packages it uses, in whichever kind of dependency.
    pub own: Vec<String>,
    /// Third-party packages it uses.
    pub foreign: Vec<String>,
}

/// A package somebody else wrote.
#[derive(Debug, Clone)]
pub struct ForeignPackage {
    /// Name and version.
    pub name: String,
    /// The SPDX expression of its manifest.
    pub licence: Option<String>,
}

/// The packages of the workspace whose manifest is `manifest`, without looking anything up.
///
/// # Errors
/// When cargo fails or answers what we cannot read, as a sentence.
pub fn own_packages(root: &Path, manifest: &str) -> Result<Vec<OwnPackage>, String> {
    let answer = metadata(root, &["--no-deps", "--manifest-path", manifest])?;
    array(&answer, "packages")
        .iter()
        .map(|package| own_package(root, package))
        .collect()
}

/// Every third-party package that a build on this machine takes part in.
///
/// # Errors
/// When cargo fails or answers what we cannot read, as a sentence.
pub fn foreign_packages(root: &Path) -> Result<Vec<ForeignPackage>, String> {
    let host = host_triple()?;
    let answer = metadata(root, &["--filter-platform", &host])?;
    let foreign = |package: &&Value| !package["source"].is_null();
    Ok(array(&answer, "packages")
        .iter()
        .filter(foreign)
        .map(foreign_package)
        .collect())
}

fn own_package(root: &Path, package: &Value) -> Result<OwnPackage, String> {
    let manifest = Path::new(text(package, "manifest_path"));
    let folder_of = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let folder = manifest
        .parent()
        .map(folder_of)
        .ok_or("a package without a folder")?;
    let (mut own, mut foreign) = (Vec::new(), Vec::new());
    for dependency in array(package, "dependencies") {
        match dependency["path"].as_str() {
            Some(path) => own.push(folder_of(Path::new(path))),
            None => foreign.push(text(dependency, "name").to_owned()),
        }
    }
    let manifest = manifest
        .strip_prefix(root)
        .unwrap_or(manifest)
        .to_string_lossy()
        .into_owned();
    Ok(OwnPackage {
        folder,
        manifest,
        own,
        foreign,
    })
}

fn foreign_package(package: &Value) -> ForeignPackage {
    ForeignPackage {
        name: format!("{} {}", text(package, "name"), text(package, "version")),
        licence: package["license"].as_str().map(str::to_owned),
    }
}

fn metadata(root: &Path, arguments: &[&str]) -> Result<Value, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["metadata", "--format-version", "1"])
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

fn host_triple() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| format!("cannot run rustc: {error}"))?;
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = answer.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_manifest_is_read() {
        let packages = own_packages(&crate::repository_root(), "Cargo.toml").unwrap();
        let xtask = packages
            .iter()
            .find(|package| package.folder == "xtask")
            .unwrap();
        assert_eq!(xtask.manifest, "xtask/Cargo.toml");
        assert_eq!(xtask.foreign, ["serde_json"]);
        let engine = packages
            .iter()
            .find(|package| package.folder == "engine")
            .unwrap();
        assert!(engine.own.contains(&"plane".to_owned()));
    }
}
