//! Why a client got no answer, each one sentence with its remedy.

use super::error::RpcError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientError {
    /// Nobody listens at the path.
    NotRunning(PathBuf),
    /// The socket's mode or owner keep this user out.
    Denied(PathBuf),
    /// The daemon speaks another version of the protocol; its sentence.
    OtherVersion(PathBuf, String),
    /// The daemon ended, or closed the connection.
    Gone(PathBuf),
    /// No answer came in time.
    Silent(PathBuf, Duration),
    /// The connection failed in a way of the operating system.
    Broken(PathBuf, String),
    /// What answers is no daemon of linerate, or of a version far away.
    Garbled(PathBuf, String),
    /// A stream broke off, for this reason.
    Stream(String),
    /// The daemon answered with an error.
    Refused(RpcError),
}

impl ClientError {
    pub(super) fn connect(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Self::NotRunning(path),
            io::ErrorKind::PermissionDenied => Self::Denied(path),
            _ => Self::Broken(path, error.to_string()),
        }
    }

    /// Whether a daemon was spoken to at all, and answered with an error.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// Whether the daemon was about to stop, or to take over another configuration: of a request
    /// of many entries some may have been done.
    #[must_use]
    pub fn is_of_half_made_change(&self) -> bool {
        matches!(self, Self::Refused(error) if error.reason == "stopped")
    }

    /// Whether the change was made all the same: it is not in the journal, or a worker was too
    /// slow to confirm it.
    #[must_use]
    pub fn is_of_made_change(&self) -> bool {
        matches!(self, Self::Refused(error) if error.is_of_made_change())
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRunning(path) => write!(
                f,
                "no daemon listens at {}: start one with 'linerate run CONFIG', or name its \
                 socket with --socket",
                path.display()
            ),
            Self::Denied(path) => write!(
                f,
                "{} may not be opened: run this as root, or as a member of the group that \
                 [control] in the daemon's configuration names",
                path.display()
            ),
            Self::OtherVersion(path, sentence) => write!(
                f,
                "{sentence}: use the 'linerate' that runs at {}, or restart the daemon with this \
                 one",
                path.display()
            ),
            Self::Gone(path) => write!(
                f,
                "the daemon at {} closed the connection: its log says why",
                path.display()
            ),
            Self::Silent(path, within) => write!(
                f,
                "the daemon at {} did not answer within {} s: its log may say why",
                path.display(),
                within.as_secs_f64()
            ),
            Self::Broken(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Garbled(path, why) => write!(
                f,
                "what answers at {} speaks no protocol of linerate ({why}): is this its control \
                 socket?",
                path.display()
            ),
            Self::Stream(why) => f.write_str(why),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClientError {}
