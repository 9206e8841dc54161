//! `packet:IFACE[,queues=N][,qdisc=on][,fanout=queue][,timestamps=auto]`: what a user says of an
//! interface.

use std::fmt;

use super::QUEUES_MAX;
use crate::spec::{Settings, escape};
use crate::{SpecError, Timestamps};

const KEYS: [&str; 4] = ["queues", "qdisc", "fanout", "timestamps"];

/// A kernel interface by packet sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketSpec {
    /// The interface's name.
    pub interface: String,
    /// The most sockets; one a worker where nothing is said.
    pub queues: Option<u16>,
    /// Whether frames leave by the interface's queueing discipline, and not past it.
    pub qdisc: bool,
    /// How sockets share the interface's frames.
    pub fanout: Fanout,
    /// Where the times of received frames come from.
    pub timestamps: Timestamps,
}

/// How several sockets share the frames of one interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fanout {
    /// By the flow, as the kernel hashes it.
    #[default]
    Flow,
    /// By the interface's receive queue: the first socket has frames of which the driver told no
    /// queue, the second those of queue 0, and so on; a frame's record says which queue, or
    /// [`QUEUE_UNTOLD`], and what hash the kernel has of it. For looking at a NIC's choices.
    Queue,
}

impl Fanout {
    fn parse(text: &str) -> Result<Self, SpecError> {
        match text {
            "flow" => Ok(Self::Flow),
            "queue" => Ok(Self::Queue),
            _ => Err(SpecError::value("fanout", text, "flow or queue")),
        }
    }
}

/// The queue of frames of which the driver told none.
pub const QUEUE_UNTOLD: u16 = u16::MAX;

impl PacketSpec {
    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        let queues = settings.take_number("queues", 1..=QUEUES_MAX as u64)?;
        let qdisc = settings.take_switch("qdisc")?;
        let fanout = settings.take("fanout").as_deref().map(Fanout::parse);
        let timestamps = settings
            .take("timestamps")
            .as_deref()
            .map(Timestamps::parse);
        let interface = settings.take_interface("packet:eth0")?;
        Ok(Self {
            interface,
            queues: queues.map(|queues| queues as u16),
            qdisc: qdisc.unwrap_or(false),
            fanout: fanout.transpose()?.unwrap_or_default(),
            timestamps: timestamps.transpose()?.unwrap_or_default(),
        })
    }
}

impl fmt::Display for PacketSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet:{}", escape(&self.interface))?;
        if let Some(queues) = self.queues {
            write!(f, ",queues={queues}")?;
        }
        f.write_str(if self.qdisc { ",qdisc=on" } else { "" })?;
        f.write_str(match self.fanout {
            Fanout::Flow => "",
            Fanout::Queue => ",fanout=queue",
        })?;
        if self.timestamps.ask() {
            write!(f, ",timestamps={}", self.timestamps.name())?;
        }
        Ok(())
    }
}
