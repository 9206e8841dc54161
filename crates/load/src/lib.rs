//! Servers and clients that make or answer requests, their profiles and statistics.
//!
//! [`http`] reads and writes HTTP/1.1 and does no I/O: bytes in, bytes out. [`serve`] answers by
//! kernel sockets, [`client`] asks by them: one thread a CPU, each with its own epoll instance and
//! its own connections, so that nothing is shared and nothing is locked. [`udp`] does both with
//! datagrams.
//!
//! This crate knows requests, not packets, and is the only one that opens kernel sockets for
//! traffic.
#![forbid(unsafe_code)]

pub mod client;
mod error;
mod files;
pub mod http;
mod poller;
pub mod serve;
mod stream;
mod timer;
pub mod tls;
pub mod udp;

pub use error::LoadError;
