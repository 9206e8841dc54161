//! Development tasks: the rules of this repository as tests (`tidy`), and the licences of what it
//! builds on.
//!
//! A rule is a function from the tree to findings; it lives in a file of its own and has a test
//! that shows it failing. What a rule needs to know about the project (who may use whom, where
//! `unsafe` may stand, why a dependency is there) is read from ARCHITECTURE.md, so that the
//! document cannot drift.
#![forbid(unsafe_code)]

pub mod architecture;
pub mod finding;
pub mod licences;
pub mod lines;
pub mod metadata;
pub mod rust_text;
pub mod tidy;
pub mod tree;

use std::path::{Path, PathBuf};

/// The root of the repository: the folder above this package.
#[must_use]
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
