//! Protocol machines of an end: who the neighbours on a link are, what ICMP says, TCP
//! and UDP.
//!
//! Bytes and the time go in, bytes and events come out: no I/O, no clock, no threads, no frame
//! memory. Routers and hosts use them.
#![forbid(unsafe_code)]

mod hash;
pub mod icmp;
mod limit;
pub mod neighbours;
pub mod tcp;
mod timers;
pub mod udp;

pub use hash::{KeyedHash, KeyedHasher};
pub use limit::{Allowance, Limiter};
