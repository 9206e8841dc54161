//! The files of the repository: what git tracks or would track; without git, what a walk finds.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::rust_text;

/// One text file, with its Rust code apart from comments and strings when it is Rust.
#[derive(Debug)]
pub struct SourceFile {
    /// Relative to the root, with `/` between folders.
    pub path: String,
    /// The text as it stands.
    pub text: String,
    /// The same text with comments, strings and character literals blanked, line for line; empty
    /// unless the file is Rust.
    pub code: String,
}

impl SourceFile {
    /// A file from its path and text.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") {
            rust_text::code_only(text)
        } else {
            String::new()
        };
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
        }
    }

    /// Whether the file is Rust.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    /// Whether the name ends in `.extension`.
    #[must_use]
    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }

    /// Whether the whole file is tests: it lies in a `tests/` folder or is called `tests.rs`.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs")
    }

    /// Lines with their numbers, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

/// All text files of the repository, in order of their paths.
#[derive(Debug, Default)]
pub struct Tree {
    /// The files.
    pub files: Vec<SourceFile>,
}

impl Tree {
    /// Reads the tree under `root`. Binary files are left out.
    ///
    /// # Errors
    /// When the root cannot be walked, as a sentence.
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut paths = match tracked(root) {
            Some(paths) => paths,
            None => walked(root).map_err(|error| format!("cannot walk the tree: {error}"))?,
        };
        paths.sort();
        paths.dedup();
        let read = |path: &String| {
            let text = fs::read_to_string(root.join(path)).ok()?;
            Some(SourceFile::new(path, &text))
        };
        Ok(Self {
            files: paths.iter().filter_map(read).collect(),
        })
    }

    /// The file at `path`, relative to the root.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// A tree made by hand, for the tests of rules.
    #[must_use]
    pub fn sample(files: &[(&str, &str)]) -> Self {
        Self {
            files: files
                .iter()
                .map(|(path, text)| SourceFile::new(path, text))
                .collect(),
        }
    }
}

/// Tracked files and those that a commit of everything would add.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .ok()?;
    let listing = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

/// Every file below the root but for build folders and git's own.
fn walked(root: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            if !entry.file_type()?.is_dir() {
                paths.push(path);
            } else if name != "target" && name != ".git" {
                folders.push(path);
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_their_place() {
        for (path, is_test) in [
            ("crates/a/tests/b.rs", true),
            ("crates/a/src/b/tests.rs", true),
            ("crates/a/src/b.rs", false),
            ("crates/a/src/contests.rs", false),
        ] {
            assert_eq!(SourceFile::new(path, "").is_test(), is_test, "{path}");
        }
    }

    #[test]
    fn git_and_a_walk_both_find_this_file() {
        let root = crate::repository_root();
        let here = "xtask/src/tree.rs".to_owned();
        assert!(walked(&root).unwrap().contains(&here));
        assert!(Tree::read(&root).unwrap().file(&here).is_some());
    }
}
