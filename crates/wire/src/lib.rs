//! Bytes to fields and back: parsing, header views, emitters, checksums, the RSS hash, capture
//! records.
//!
//! Pure functions over byte slices: no unsafe code, no allocation, no state, no clock, no I/O.
//! Byte order stops here: every number that leaves this crate is in host order. Sizes are those
//! of frames in memory, without the four bytes of FCS.
#![forbid(unsafe_code)]

pub mod capture;
pub mod checksum;
mod control;
pub mod emit;
pub mod ether_type;
mod flow_key;
mod follow;
mod icmp_error;
mod link_message;
mod mac;
mod malformed;
pub mod neighbour;
pub mod parse;
mod piece;
pub mod protocol;
mod tag;
pub mod toeplitz;
mod turn;
pub mod view;

pub use control::Control;
pub use flow_key::{Family, FlowKey};
pub use follow::{Follow, follow};
pub use icmp_error::{IcmpError, IcmpErrorKind};
pub use link_message::{LinkMessage, LinkProtocol, claims_router, link_message};
pub use mac::{MacAddress, NotAMacAddress};
pub use malformed::Malformed;
pub use parse::{
    Fragment, HashHeader, Parsed, Placing, PlainV4, Readable, Tunnel, TunnelKind, TunnelPortError,
    TunnelPorts, parse, parse_into,
};
pub use piece::{DatagramKey, Piece};
pub use tag::Tag;
pub use turn::turn_around;
