//! What keeps a bridge running for months: its configuration, its sets, and who may change them.
//!
//! No unsafe, and nothing here runs on a worker's CPU. Whatever is read, files, sockets, answers of
//! servers, is hostile: bounded in size and time, and refused with a named reason.
#![forbid(unsafe_code)]

pub mod journal;
pub mod sets;
