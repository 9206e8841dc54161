//! Where the body of a message ends.

use super::HttpFault;
use super::chunked::{Chunked, Step};

/// A reader of one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// So many bytes are left.
    Length(u64),
    /// Chunks up to the last.
    Chunked(Chunked),
    /// Everything up to the end of the connection.
    UntilClose,
}

impl Body {
    pub(crate) const EMPTY: Self = Self::Length(0);

    pub(crate) const fn of_length(length: u64) -> Self {
        Self::Length(length)
    }

    pub(crate) const fn chunked() -> Self {
        Self::Chunked(Chunked::new())
    }

    /// Whether the body has ended by itself.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunked(chunked) => chunked.is_done(),
            Self::UntilClose => false,
        }
    }

    /// Reads on: takes something of an input that is not empty, unless the body is done.
    pub(crate) fn step<'i>(&mut self, input: &'i [u8]) -> Result<Step<'i>, HttpFault> {
        match self {
            Self::Length(left) => {
                let len = (*left).min(input.len() as u64) as usize;
                *left -= len as u64;
                Ok(Step {
                    taken: len,
                    data: &input[..len],
                })
            }
            Self::Chunked(chunked) => chunked.step(input),
            Self::UntilClose => Ok(Step {
                taken: input.len(),
                data: input,
            }),
        }
    }
}
