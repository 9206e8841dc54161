//! Why a port cannot be opened or did not do its work to the end.

use std::{fmt, io};

/// What sort of trouble it is, for exit codes and tests; the sentence says the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PortErrorKind {
    /// The thing named is not there or may not be opened.
    Open,
    /// The file is no capture that can be read.
    NotACapture,
    /// The capture holds frames of another link type than Ethernet.
    LinkType,
    /// A file would be read and written at once, or written twice.
    SameFile,
    /// Reading failed on the way.
    Read,
    /// Writing failed on the way: disk full, for instance.
    Write,
    /// The reader of our output went away; the usual end of a pipe, and no fault.
    BrokenPipe,
    /// The port has no such queue, or it is taken.
    Queue,
    /// What was asked for cannot be done with what is there.
    Setting,
}

/// An error of a port: one sentence that names the thing and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortError {
    kind: PortErrorKind,
    sentence: String,
}

impl PortError {
    pub(crate) fn new(kind: PortErrorKind, sentence: impl Into<String>) -> Self {
        Self {
            kind,
            sentence: sentence.into(),
        }
    }

    pub(crate) fn open(name: &dyn fmt::Display, verb: &str, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => "; check the path",
            io::ErrorKind::PermissionDenied => "; check the permissions of file and folder",
            io::ErrorKind::IsADirectory => "; name a file",
            _ => "",
        };
        Self::new(
            PortErrorKind::Open,
            format!("cannot {verb} {name}: {error}{remedy}"),
        )
    }

    /// The same error, with what else is to be said: no warnings come beside an error.
    pub(crate) fn with_notes(mut self, notes: &[String]) -> Self {
        for note in notes {
            if *note != self.sentence {
                self.sentence += "; ";
                self.sentence += note;
            }
        }
        self
    }

    /// What sort of trouble it is.
    #[must_use]
    pub const fn kind(&self) -> PortErrorKind {
        self.kind
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for PortError {}
