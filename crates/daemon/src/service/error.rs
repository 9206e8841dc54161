//! Why a daemon did not start.

use std::fmt;

use engine::EngineError;
use port::PortError;

use crate::LayoutError;
use crate::journal::JournalError;
use crate::rpc::BindError;
use crate::sets::Refusal;
use crate::sources::SpecError;

/// Why a daemon did not start: one sentence that names the thing and the remedy.
#[derive(Debug)]
pub enum StartError {
    /// The machine has not what `[workers]` and `[memory]` ask for.
    Layout(LayoutError),
    /// What survived the last run cannot be read.
    Journal(JournalError),
    /// The keeper of sets refuses.
    Sets(Refusal),
    /// A source of a set is none.
    Source(SpecError),
    /// The control socket cannot be listened at.
    Control(BindError),
    /// A port cannot be opened.
    Port(PortError),
    /// The workers cannot be started.
    Engine(EngineError),
    /// Lists that the start needs were not taken: one sentence each.
    Lists(Vec<String>),
    /// It was told to end before it forwarded.
    Stopped,
    /// Something around them, as a sentence.
    Other(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::Journal(error) => error.fmt(f),
            Self::Sets(error) => error.fmt(f),
            Self::Source(error) => error.fmt(f),
            Self::Control(error) => error.fmt(f),
            Self::Port(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
            Self::Lists(sentences) => match sentences.as_slice() {
                [sentence] => f.write_str(sentence),
                _ => {
                    write!(f, "{} lists refuse the start:", sentences.len())?;
                    let mut lines = sentences.iter();
                    lines.try_for_each(|sentence| write!(f, "\n  {sentence}"))
                }
            },
            Self::Stopped => f.write_str("it was told to end before it forwarded anything"),
            Self::Other(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for StartError {}

impl From<LayoutError> for StartError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl From<JournalError> for StartError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl From<Refusal> for StartError {
    fn from(error: Refusal) -> Self {
        Self::Sets(error)
    }
}

impl From<SpecError> for StartError {
    fn from(error: SpecError) -> Self {
        Self::Source(error)
    }
}

impl From<PortError> for StartError {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}

impl From<EngineError> for StartError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<BindError> for StartError {
    fn from(error: BindError) -> Self {
        Self::Control(error)
    }
}
