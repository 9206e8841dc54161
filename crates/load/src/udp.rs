//! UDP by kernel sockets: a server that takes datagrams or sends them back, and a client that
//! sends them; one thread a CPU, each with sockets of its own.

mod client;
mod counters;
mod limits;
mod server;
mod socket;
mod threads;

pub use client::{UdpClientOptions, UdpSent, start_client};
pub use counters::{KernelCounters, KernelDrops};
pub use limits::{LimitsAsked, limits};
pub use server::{UdpServerOptions, UdpTaken, start_server};
pub use threads::Threads;

#[cfg(test)]
mod tests;
