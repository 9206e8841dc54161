//! A CrowdSec bouncer: decisions of a local API, in a set for as long as they stand.
//!
//! The local API gives out all decisions that stand (`GET /v1/decisions/stream?startup=true`) and
//! after that what changed since the last call. It can do so with or without leaving out decisions
//! that another one for the same address outlasts. We ask for all of them (`dedup=false`): then
//! each decision has its own end, and an address is free when the last one is gone (`standing`).
//! Versions 1.3 of CrowdSec leave them out whatever is asked, and may take back a decision that
//! they never gave; where that leaves a doubt all decisions are fetched anew.
//!
//! The state of a delta is the server's: what it believes to have given out it does not give again.
//! So after every failure, of the net, of the keeper, or of the answer's text, the next call asks
//! for everything.

mod api;
mod bouncer;
mod duration;
mod guard;
mod spec;
mod standing;

pub use api::{Decision, Decisions, DecisionsError, read_decisions};
pub(crate) use bouncer::BouncerTask;
pub use spec::CrowdSecSpec;

#[cfg(test)]
mod testapi;
#[cfg(test)]
mod tests;
