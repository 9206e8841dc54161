//! Test traffic: what frames are made of, how they are signed, when they are due, and what is
//! concluded from those that arrive.
//!
//! A [`Recipe`] says what frames are made, a [`Source`] a worker makes them, a [`Pacer`] says how
//! many are due, and a [`Sink`] a worker takes in what arrives and accounts for it. A [`Signature`]
//! at the end of each frame is what source and sink have in common.
//!
//! Nothing here does I/O, starts a thread or reads a clock: time is an argument.
#![forbid(unsafe_code)]

mod choice;
mod echo;
mod error;
mod histogram;
mod neighbour;
mod pacer;
mod random;
mod rate;
mod recipe;
mod replay;
mod share;
mod signature;
mod sink;
mod sizes;
mod source;

pub use choice::Choice;
pub use echo::{EchoCounts, Echoes, LABEL_BYTES};
pub use error::RecipeError;
pub use histogram::{Histogram, LatencyReport};
pub use neighbour::{ANSWER_BYTES_MAX, Controls, Neighbour};
pub use pacer::{Pacer, PacingError};
pub use random::Random;
pub use rate::{FCS_BYTES, L1_BYTES, Rate};
pub use recipe::{Flows, Protocol, Recipe, Stamp};
pub use replay::{ClockSteps, Replay, Speed};
pub use share::Share;
pub use signature::{Cover, SIGNATURE_BYTES, Signature};
pub use sink::{Sink, SinkLimits, SinkReport, StreamReport};
pub use sizes::Sizes;
pub use source::{BUCKETS, Source, Sources, part};
