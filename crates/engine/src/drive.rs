//! Sending test frames and taking them in: ports that are driven instead of bridged.
//!
//! [`Drive::open`] opens the queues once; each [`Trial`] then starts the workers, which send at a
//! rate, take in what arrives and account for it, and rest when it is over. The same start, books
//! and reports as those of a bridge.

mod answering;
#[cfg(test)]
mod answering_tests;
mod arrivals;
mod carrier;
mod counted;
mod feed;
mod link;
mod open;
mod part;
mod plan;
mod report;
mod running;
mod sender;
mod shrunk;
#[cfg(test)]
mod stamped_tests;
mod stepped;
#[cfg(test)]
mod tests;
mod worker;

pub use link::Outage;
pub use open::Drive;
pub use plan::{DrivePlan, Replayed, Trial};
pub use report::{ClockDoubt, DriveClosing, DriveSnapshot, StreamSent, TrialReport};
pub use running::RunningDrive;
pub use stepped::SteppedDrive;
