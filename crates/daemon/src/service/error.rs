//! Why a daemon did not start.

use std::fmt;

use engine::EngineError;
use list::ListError;
use plane::PolicyError;
use port::PortError;
use table::CompileError;

use crate::LayoutError;

/// Why a daemon did not start: one sentence that names the thing and the remedy.
#[derive(Debug)]
pub enum StartError {
    /// The machine has not what `[workers]` and `[memory]` ask for.
    Layout(LayoutError),
    /// A list cannot be read.
    List(ListError),
    /// The sets do not make a policy.
    Policy(PolicyError),
    /// The lists do not make tables.
    Compile(CompileError),
    /// A port cannot be opened.
    Port(PortError),
    /// The workers cannot be started.
    Engine(EngineError),
    /// Something around them, as a sentence.
    Other(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::List(error) => error.fmt(f),
            Self::Policy(error) => error.fmt(f),
            Self::Compile(error) => error.fmt(f),
            Self::Port(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
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

impl From<ListError> for StartError {
    fn from(error: ListError) -> Self {
        Self::List(error)
    }
}

impl From<PolicyError> for StartError {
    fn from(error: PolicyError) -> Self {
        Self::Policy(error)
    }
}

impl From<CompileError> for StartError {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
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
