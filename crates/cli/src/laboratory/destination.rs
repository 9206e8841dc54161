//! Where a result is written: standard output, or a file that is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Outcome};
use crate::exit::ExitCode;

/// A place for one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Stdout,
    File(PathBuf),
}

impl Destination {
    /// `-` is standard output. A file is tried at once: a run of minutes should not end with
    /// finding out that its result cannot be written.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        let destination = Self::File(resolved(path));
        destination.probe().map_err(Error::refused)?;
        Ok(destination)
    }

    /// Writes the file. What was there before stays until all is written.
    pub(super) fn write(&self, text: &str) -> Outcome {
        let Self::File(path) = self else {
            return Ok(ExitCode::Done);
        };
        let written = if replaceable(path) {
            replace(path, text)
        } else {
            fs::write(path, text)
        };
        written.map_err(|error| Error::check_failed(refusal(path, &error)))?;
        Ok(ExitCode::Done)
    }

    fn probe(&self) -> Result<(), String> {
        let Self::File(path) = self else {
            return Ok(());
        };
        if path.is_dir() {
            return Err(format!("'{}' is a folder: name a file", path.display()));
        }
        if !replaceable(path) {
            return Ok(());
        }
        let beside = beside(path);
        let tried = File::create_new(&beside).and_then(|_| fs::remove_file(&beside));
        tried.map_err(|error| refusal(path, &error))
    }
}

/// One name for one file, however it is written. A link is followed, so that the rename replaces
/// what it points to; of a file that is not there yet, its folder is resolved.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

fn refusal(path: &Path, error: &io::Error) -> String {
    format!("'{}' cannot be written: {error}", path.display())
}

/// A device or a pipe is written to, never replaced.
fn replaceable(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

/// A name in the same folder, since a file can only be renamed within its file system.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = beside(path);
    let written = fill(&beside, path, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What failed first is what the user wants to know.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn fill(beside: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(beside)?;
    if let Ok(found) = fs::metadata(path) {
        file.set_permissions(found.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("text")
        };
        entries.map(name).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_stays_beside_it() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("run.json");
        fs::write(&path, "old").expect("a file");
        let destination = Destination::open(&path).expect("writable");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
        destination.write("new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "new");
        assert_eq!(names(folder.path()), ["run.json"]);
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let folder = TempDir::new().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        Destination::open(&link)
            .expect("writable")
            .write("new")
            .expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&file).expect("a file"), "new");
        let null = Path::new("/dev/null");
        Destination::open(null)
            .expect("writable")
            .write("x")
            .expect("written");
        assert!(!fs::metadata(null).expect("there").is_file());
    }

    #[test]
    fn what_cannot_be_written_is_refused_before_the_run() {
        let folder = TempDir::new().expect("a folder");
        let refused = |path: &Path| Destination::open(path).expect_err("refused").to_string();
        assert!(refused(folder.path()).contains("is a folder"));
        assert!(refused(&folder.path().join("absent/run.json")).contains("cannot be written"));
        assert_eq!(
            Destination::open(Path::new("-")).expect("fine"),
            Destination::Stdout
        );
    }
}
