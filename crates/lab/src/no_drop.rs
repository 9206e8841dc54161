//! The highest rate at which a device loses nothing, and the highest at which it loses little.
//!
//! The search is that of RFC 9971 (MLRsearch): goals with a loss ratio each, short trials first,
//! full ones where it matters, bounds on either side, and one noisy trial decides nothing. In the
//! terms of RFC 2544, section 26.1, the rate of the goal without loss is the throughput.
//!
//! [`Search`] is a state machine that sends nothing and reads no clock; [`search`] runs it on a
//! [`Device`]. A device whose trials contradict each other gets no rate but a [`Reason`].

mod confirm;
mod device;
mod evidence;
mod finding;
mod goal;
mod history;
mod model;
mod plan;
mod ports;
mod reason;
mod ring_device;
mod search;
mod select;
mod stability;
#[cfg(test)]
mod tests;
mod trial;

pub use device::{Device, search};
pub use finding::{Finding, GoalFinding, LatencyPoint, Verdict};
pub use goal::{Goal, GoalError};
pub use model::{ModelDevice, ModelSpec, Pauses};
pub use plan::{LoadLimit, SearchPlan};
pub use ports::PortsDevice;
pub use reason::{Percent, Reason, Shaken};
pub use ring_device::RingSetup;
pub use search::{Progress, Search};
pub use trial::{Direction, Judged, Latency, Purpose, Trial, TrialOutcome, TrialPlan};
