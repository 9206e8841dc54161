//! `ring:NAME[,end=a|b][,capacity=N]`: what a user says of a memory ring.

use std::fmt;

use crate::SpecError;
use crate::spec::{Settings, escape};

const KEYS: [&str; 2] = ["end", "capacity"];
/// Frames each way: four full bursts, so that neither end runs dry while the other computes.
const CAPACITY_DEFAULT: u64 = 4 * frame::BURST_MAX as u64;
/// The bound of the rings' memory: 16 bytes a frame.
const CAPACITY_MAX: u64 = 1 << 20;

/// One of the two ends of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingEnd {
    /// The end of the port that is opened first, where nothing else is said.
    A,
    /// The other one.
    B,
}

impl RingEnd {
    pub(super) const fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }

    /// The word after `end=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

/// An end of a memory ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingSpec {
    /// What the two ends have in common.
    pub name: String,
    /// Which end; the first that is free where none is named.
    pub end: Option<RingEnd>,
    /// Frames that fit each way of each queue.
    pub capacity: u32,
}

impl RingSpec {
    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        let end = match settings.take("end").as_deref() {
            None => None,
            Some("a") => Some(RingEnd::A),
            Some("b") => Some(RingEnd::B),
            Some(other) => return Err(SpecError::value("end", other, "a or b")),
        };
        let capacity = settings.take_number("capacity", 1..=CAPACITY_MAX)?;
        let capacity = capacity.unwrap_or(CAPACITY_DEFAULT) as u32;
        let name = settings
            .name
            .take()
            .filter(|name| !name.is_empty())
            .ok_or_else(|| {
                SpecError::new("it has no name for its two ends to meet by; write ring:NAME")
            })?;
        Ok(Self {
            name,
            end,
            capacity,
        })
    }
}

impl fmt::Display for RingSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ring:{}", escape(&self.name))?;
        if let Some(end) = self.end {
            write!(f, ",end={}", end.name())?;
        }
        write!(f, ",capacity={}", self.capacity)
    }
}
