//! `packet:IFACE[,queues=N][,qdisc=on]`: what a user says of an interface.

use std::fmt;

use super::QUEUES_MAX;
use crate::SpecError;
use crate::spec::{Settings, escape};

const KEYS: [&str; 2] = ["queues", "qdisc"];

/// A kernel interface by packet sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketSpec {
    /// The interface's name.
    pub interface: String,
    /// The most sockets; one a worker where nothing is said.
    pub queues: Option<u16>,
    /// Whether frames leave by the interface's queueing discipline, and not past it.
    pub qdisc: bool,
}

impl PacketSpec {
    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        let queues = settings.take_number("queues", 1..=QUEUES_MAX as u64)?;
        let qdisc = settings.take_switch("qdisc")?;
        let interface = settings.take_interface("packet:eth0")?;
        Ok(Self {
            interface,
            queues: queues.map(|queues| queues as u16),
            qdisc: qdisc.unwrap_or(false),
        })
    }
}

impl fmt::Display for PacketSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet:{}", escape(&self.interface))?;
        if let Some(queues) = self.queues {
            write!(f, ",queues={queues}")?;
        }
        f.write_str(if self.qdisc { ",qdisc=on" } else { "" })
    }
}
