//! An error as the user reads it: one sentence that names the thing and the remedy.

use std::fmt;

use port::{PortError, PortErrorKind};

use crate::exit::ExitCode;

/// Why a command ended early, and with which code.
#[derive(Debug)]
pub(crate) struct Error {
    exit: ExitCode,
    sentence: String,
}

impl Error {
    /// It could not run: usage or environment.
    pub(crate) fn refused(sentence: impl fmt::Display) -> Self {
        Self {
            exit: ExitCode::Refused,
            sentence: sentence.to_string(),
        }
    }

    /// It ran, and a check failed.
    pub(crate) fn check_failed(sentence: impl fmt::Display) -> Self {
        Self {
            exit: ExitCode::CheckFailed,
            sentence: sentence.to_string(),
        }
    }

    /// A port ended the run. A capture of which nothing could be read is of the environment, though
    /// it shows at its end; what breaks off on the way was moved as far as it goes.
    pub(crate) fn of_port(error: &PortError) -> Self {
        match error.kind() {
            PortErrorKind::NotACapture | PortErrorKind::LinkType => Self::refused(error),
            _ => Self::check_failed(error),
        }
    }

    /// The code the program ends with.
    pub(crate) fn exit(&self) -> ExitCode {
        self.exit
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What a command returns.
pub(crate) type Outcome = Result<ExitCode, Error>;
