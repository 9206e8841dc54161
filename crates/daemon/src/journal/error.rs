//! Why a journal cannot be opened or written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a journal cannot be opened or written. Displays as one sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process has the folder.
    Locked {
        /// The folder.
        dir: PathBuf,
    },
    /// A file cannot be read or written.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: `read`, `write`, `make`.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Something is missing that is not the end.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it, bytes from its beginning.
        offset: u64,
        /// What is wrong there, without full stop.
        what: &'static str,
    },
    /// More entries than a daemon may have.
    TooMany {
        /// How many are possible.
        entries_max: usize,
    },
}

/// What helps where a run as another user, root for instance, has written the folder.
const FOREIGN: &str = "; if a run as another user wrote it, give the folder to the user of this \
                       one, as root: chown -R USER FOLDER";

impl JournalError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, what, source }
    }

    /// True when the disk is full, or the user's share of it.
    pub(super) fn is_no_room(&self) -> bool {
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        matches!(self, Self::Io { source, .. } if full.contains(&source.kind()))
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked { dir } => write!(
                f,
                "{}: another daemon keeps its state here; stop it, or give this one a folder of \
                 its own",
                dir.display()
            ),
            Self::Io { path, what, source } => {
                write!(f, "cannot {what} {}: {source}", path.display())?;
                match source.kind() {
                    io::ErrorKind::PermissionDenied => f.write_str(FOREIGN),
                    _ => Ok(()),
                }
            }
            Self::Damaged { path, offset, what } => write!(
                f,
                "{}: {what} at byte {offset}, and there is more after it, so entries given by \
                 hand or by a feed are lost: restore the folder from a backup, or start with \
                 --recover to go on with what is readable",
                path.display()
            ),
            Self::TooMany { entries_max } => write!(
                f,
                "the journal holds more than {entries_max} entries: move its folder away"
            ),
        }
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_user_wrote_is_named_with_its_remedy_and_nothing_else_is() {
        for (kind, named) in [
            (io::ErrorKind::PermissionDenied, true),
            (io::ErrorKind::NotFound, false),
            (io::ErrorKind::StorageFull, false),
        ] {
            let error = JournalError::io("read", Path::new("/state/lock"))(kind.into());
            let said = error.to_string();
            assert!(said.starts_with("cannot read /state/lock: "), "{said}");
            assert_eq!(said.contains("chown -R"), named, "{said}");
        }
    }
}
