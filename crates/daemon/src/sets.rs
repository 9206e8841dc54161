//! The sets of a running bridge: one thread, the *keeper*, changes them, and everybody asks it.
//!
//! Whoever wants something sends a [`Request`] over a [`Handle`] and waits for its answer. The
//! keeper takes all that wait, makes one version of the tables of them, publishes it, waits until
//! every worker has it, writes the journal, and then answers: a change that was answered is in
//! force and survives `kill -9`. Its order is the order of arrival.
//!
//! # What a set is
//!
//! A *file part*, replaced whole by a load, and a *dynamic part* of single entries, added by hand
//! or by a feed, each with an origin, a time, and perhaps a timeout and a comment. An address is in
//! the set when either part holds it. By hand, an entry is removed from both parts; a feed can take
//! back only what it gave itself. Where hand and feed gave the same entry it stays until both have
//! let it go. [`table::live`] has the rules of loads and removals that cross.
//!
//! # Who waits for whom
//!
//! What takes long (sorting and compiling a load, reading a file again for a line number, writing
//! a set out) is done by the thread that asks, inside [`Handle::ask`], and not by the keeper. One
//! thread compiles at a time, since two would need twice the memory and be no faster. A request of
//! many entries is made in slices, between which others have their turn.
//!
//! Times inside are monotonic ([`frame::Nanos`] since the keeper began); what people and the
//! journal see is wall-clock time.

mod amend;
mod claims;
mod clock;
mod compact_pages;
mod config;
mod exceptions;
mod facts;
mod fault;
mod guard;
mod handle;
mod keeper;
mod lines;
mod message;
mod name;
mod past;
mod publish;
mod refusal;
mod reply;
mod request;
mod restore;
mod save;
mod state;
mod turn;

pub use config::{Defaults, KeeperConfig, Keeps, SetConfig};
pub use fault::{ChangeBy, Covered, Fault, Force, Guarded};
pub use handle::{Handle, PendingLoad, Waiting};
pub use keeper::Keeper;
pub use lines::live_entry;
pub use name::{NameError, SetName};
pub use past::Past;
pub use publish::{Deferred, NoHits, Publish, RecentHits, RecentlyHit};
pub use refusal::Refusal;
pub use reply::{
    Added, Deleted, Flushed, Load, LoadedList, PartHeld, Place, Reply, SetFacts, TestAnswer,
    TestReason,
};
pub use request::{Amendment, At, LoadedFrom, NewEntry, Origin, Request};
pub use save::Saved;
