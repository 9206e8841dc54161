//! Where frames enter and leave: network interfaces, capture files, the traffic generator,
//! memory rings, nothing.
//!
//! A port is written `DRIVER:NAME[,key=value]...` ([`PortSpec`]), opened once ([`open`]) and gives
//! each worker a queue of its own ([`PortQueue`]), which nobody else touches. Decorators stand
//! between a queue and its worker: [`Faulty`] harms traffic, [`Tap`] records it.
//!
//! This crate knows no tables and no nodes, starts no threads and reads no clock.
//!
//! ```
//! use frame::{Burst, PoolRequest, QueueId, PortId, Region};
//! use port::{OpenContext, PortSpec};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let request =
//!     PoolRequest { frames: 64, stride_bytes: 1920, headroom_bytes: 128, node: None };
//! let (_, mut pools) = Region::with_pools(&[request])?;
//! let spec = PortSpec::parse("gen:size=64,frames=40")?;
//! let mut port = port::open(&spec, PortId(0), &OpenContext::default())?;
//! let mut queue = port.open_queue(QueueId(0), 1)?;
//! let mut burst = Burst::new();
//! queue.rx_burst(&mut pools[0], &mut burst, 32);
//! assert_eq!(burst.len(), 32);
//! assert_eq!(burst.frames()[0].len(), 60); // 64 on the wire, with FCS
//! queue.tx_burst(&mut burst, &mut pools[0]); // what the generator is sent, it swallows
//! assert!(burst.is_empty());
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

mod error;
mod faulty;
pub mod generator;
mod host_tap;
mod identity;
pub mod interface;
mod loss;
mod memif;
mod nic_clock;
mod null;
mod open;
mod packet;
pub mod pcap;
mod port;
mod rights;
mod ring;
mod spec;
mod statistics;
mod sys;
mod tap;
#[cfg(test)]
mod tests_support;
mod timestamps;
mod xdp;

pub use error::{PortError, PortErrorKind};
pub use faulty::{FaultCounts, FaultPlan, Faults, Faulty};
pub use host_tap::{TapPort, TapSpec};
pub use identity::Identity;
pub use loss::{Loss, QueueLoss};
pub use memif::{Listeners, MemifPort, MemifRole, MemifSpec};
pub use null::NullPort;
pub use open::{OpenContext, open};
pub use packet::{Fanout, PacketPort, PacketSpec, QUEUE_UNTOLD};
pub use port::{Port, PortQueue, RxState};
pub use rights::Rights;
pub use ring::{RingEnd, RingPort, RingSpec, Rings};
pub use spec::{PortSpec, SpecError, nearest_word};
pub use statistics::PortStatistics;
pub use tap::Tap;
pub use timestamps::{TimeSource, Timestamps};
pub use traffic::Share;
pub use xdp::{
    Bypass, Diversion, DiversionKinds, Diversions, KeepLocal, Queues, Shortcut, SieveWords,
    Standing, Transmit, Umems, Unclaimed, VlanTags, XdpAttachment, XdpMap, XdpMapKind, XdpMode,
    XdpPort, XdpProgram, XdpSpec, native_mtu_max, standing, take_away,
};
