//! Lists of addresses as people have them, read into entries.
//!
//! The only place where text that strangers wrote becomes addresses. It takes a `Read`, never a
//! path; has no clock and no unsafe; and holds a block, a line and the entries, whatever it is
//! fed. [`read`] tells the format by the text itself (plain lines, columns by request, JSON lines
//! and documents, what ipset and nft print and the scripts they read; gzip by its magic bytes) and
//! delivers to one intake, which counts, keeps the first bad lines and warns of special address
//! space. [`find`] reads a list once more for the entries that hold one address.
//!
//! A script changes what it made before: `sets` holds the entries of each of its sets apart until
//! the text ends, and `removal` what was taken out of them. A JSON document has its addresses at
//! paths: `json_places` holds those of each path apart until it is known which are meant.
//!
//! [`routes`] reads routes, in the text of iproute2, and [`nat`] rules for NAT, in words like those
//! of nft.
//!
//! The path of a plain line is the one that is fast: `lines` cuts blocks at line ends, `plain`
//! reads addresses out of a block without looking for their ends first.
#![forbid(unsafe_code)]

mod beside;
mod columns;
mod csv;
mod diagnosis;
mod entry;
mod error;
mod excerpt;
mod extent;
mod fault;
mod find;
mod foreign;
mod format;
mod fragment;
mod held;
mod intake;
mod ipset;
mod ipset_kind;
mod ipset_words;
mod iptables;
mod ipv4;
mod ipv6;
mod json_beside;
mod json_claims;
mod json_document;
mod json_key;
mod json_lines;
mod json_path;
mod json_places;
mod json_row;
mod json_scalar;
mod json_stream;
mod lines;
mod marks;
pub mod nat;
mod nft_element;
mod nft_json;
mod nft_object;
mod nft_rules;
mod nft_statement;
mod nft_text;
mod nft_value;
mod nft_variables;
mod nft_word;
mod open_range;
mod options;
mod plain;
mod read;
mod record;
mod removal;
mod report;
mod rest;
pub mod routes;
pub mod rules;
mod sets;
mod source;
mod spared;
pub mod special;
mod trial;
mod watch;
mod wording;

pub use columns::{Column, Columns};
pub use entry::{Entry, Span};
pub use error::ListError;
pub use fault::Fault;
pub use find::{Found, Match, find};
pub use foreign::Foreign;
pub use format::Format;
pub use json_claims::Incomplete;
pub use json_path::{JsonPath, JsonPathError};
pub use options::{Limits, OwnAddress, Purpose, ReadOptions};
pub use plain::entry_of_line;
pub use read::{Loaded, Progress, read};
pub use report::{BadLine, Finding, remedy};
pub use wording::Wording;
