//! Where the entries of sets come from: files, `https:` addresses, commands, etcd, and CrowdSec.
//!
//! Each source has one thread, asleep but for its turns. A turn reads (bounded in bytes and time),
//! parses with the crate `list` and hands the result to a [`Deliver`], which is the keeper of sets;
//! what the keeper refuses stays refused until the source changes. A source that fails, for
//! whatever reason, leaves the set as it is: the old list stands, the failure is kept for `show
//! sets` and for metrics, and the next try comes later the more tries have failed.
//!
//! Parsing takes memory and a CPU, so that few sources do it at a time ([`Limits::LOADS_MAX`]);
//! waiting for a slow server or command is not part of that.

mod asking;
mod backoff;
mod bounded;
mod command;
#[cfg(test)]
mod command_tests;
mod copied;
mod copies;
pub mod crowdsec;
mod deliver;
mod error;
pub mod etcd;
mod etcd_spec;
mod fetch;
mod file;
#[cfg(test)]
mod file_tests;
mod keeper;
mod left_behind;
mod list_url;
mod plan;
mod signal;
mod source;
mod state;
mod task;
#[cfg(test)]
mod testkeeper;
#[cfg(test)]
mod testserver;
mod text;
mod ticker;
mod turns;
mod url;
#[cfg(test)]
mod url_tests;
mod watch;
#[cfg(test)]
mod watch_tests;
mod way;

pub use asking::{Answered, Asking};
pub(crate) use copies::{Copies, Spooled, is_copy};
pub use crowdsec::CrowdSecSpec;
pub use deliver::{Amended, Begun, Change, CopyOf, Decided, Deliver, Delivery, Refused, Taken};
pub use error::SourceError;
pub(crate) use file::{Accepted, accepted};
pub use keeper::ToKeeper;
pub use list_url::{ListUrl, SpecError};
pub use plan::purpose;
pub(crate) use plan::{FOLDERS, HAND_FOLDER};
pub use source::{Freshness, Kind, Limits, Source, SourceSpec, TextRules};
pub use state::{Failure, SourceState};
pub(crate) use text::read as read_list;
pub use ticker::Sources;
