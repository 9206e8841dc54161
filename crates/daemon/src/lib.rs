//! What keeps a bridge running for months: its configuration, its sets, and who may change them.
//!
//! No unsafe, and nothing here runs on a worker's CPU. Whatever is read, files, sockets, answers of
//! servers, is hostile: bounded in size and time, and refused with a named reason.
#![forbid(unsafe_code)]

pub mod capture;
pub mod config;
mod flow_log;
mod health;
pub mod journal;
mod layout;
pub mod log;
pub mod metrics;
mod notify;
mod pins;
pub mod privileges;
pub mod router;
pub mod rpc;
pub mod rules;
mod samples;
mod service;
pub mod sets;
pub mod sources;
pub mod switch;

pub use flow_log::{FlowLogCounts, FlowLogEnd, FlowLogFile, FlowLogWriter};
pub use layout::{DEFAULT_STRIDE_BYTES, Layout, LayoutAsked, LayoutError, nodes_of};
pub use pins::Pinned;
pub use samples::Samples;
pub use service::{
    Daemon, ListsChecked, Stage, StartError, StartOptions, Started, check, check_lists, layout,
};
