//! Sets of addresses and networks, compiled so that a lookup costs what memory makes it cost.
//!
//! Entries are kept as given ([`Entries`]); [`CompiledLists::compile`] turns up to
//! [`LISTS_MAX`] lists into one immutable structure per address family. A lookup answers with
//! the set of lists that match ([`ListMask`]) and costs the same for one list or thirty-two:
//! lists with equal answers share a class, and only a hit resolves it.
//!
//! Lookups come in bursts: the lines of many keys are on their way at once, and the caller
//! pays for bandwidth, not for latency. Nothing here allocates after `compile`, blocks, reads a
//! clock or does I/O.
#![deny(unsafe_code)]

mod address;
mod class;
pub mod classify;
mod compact;
mod compiled;
mod entries;
mod exact4;
mod exact6;
mod family;
pub mod fdb;
pub mod fib;
mod flatten;
pub mod flows;
pub mod fragments;
mod hits;
pub mod live;
mod mask;
mod memory;
mod network;
pub mod oracle;
mod order;
mod prefixes;
mod range;
mod rss;
mod secret;
mod sieve;
#[allow(unsafe_code)]
mod simd;

pub use address::Address;
pub use compiled::{CompileError, CompiledLists, ListFacts};
pub use entries::{Entries, FamilyEntries};
pub use exact4::AddressSetV4;
pub use exact6::AddressSetV6;
pub use mask::{LISTS_MAX, ListMask};
pub use network::{Network, NetworkError};
pub use prefixes::PrefixSet;
pub use range::{Range, RangeError};
pub use rss::{FlowColumns, KeyWeakness, RssHash, SourcePlan, check_key, random_key};
pub use sieve::{SIEVE_BLOCK_WORDS, Sieve};
pub use simd::Level;
