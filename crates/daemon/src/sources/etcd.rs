//! Lists from etcd, over its JSON gateway: a consistent snapshot, then a watch from its revision.
//!
//! [`Client`] asks one member after the other; `message` is what goes over the wire; `mirror`
//! keeps what etcd holds, as a value without sockets; `task` is the source at work; [`Writer`] is
//! for the command line. A set gets the whole list at first, behind its guards and with its copy on
//! disk, as from any other source, and then what changed of it, in place; what a guard might refuse
//! is loaded whole again.

mod client;
mod message;
mod mirror;
mod task;
#[cfg(test)]
mod tests;
mod write;

pub use super::etcd_spec::{EtcdAt, EtcdSource};
pub use client::Client;
pub(super) use task::EtcdTask;
pub use write::{Pushed, Writer};
