//! `tap:NAME[,queues=N]`: what a user says of a tap.

use std::fmt;

use super::QUEUES_MAX;
use crate::SpecError;
use crate::spec::{Settings, check_own_name, escape};

const KEYS: [&str; 1] = ["queues"];

/// A tap interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapSpec {
    /// The interface's name.
    pub interface: String,
    /// The most queues; one a worker where nothing is said.
    pub queues: Option<u16>,
}

impl TapSpec {
    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        let queues = settings.take_number("queues", 1..=QUEUES_MAX as u64)?;
        let interface = settings.take_interface("tap:tap0")?;
        check_own_name(&interface)?;
        Ok(Self {
            interface,
            queues: queues.map(|queues| queues as u16),
        })
    }
}

impl fmt::Display for TapSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tap:{}", escape(&self.interface))?;
        match self.queues {
            Some(queues) => write!(f, ",queues={queues}"),
            None => Ok(()),
        }
    }
}
