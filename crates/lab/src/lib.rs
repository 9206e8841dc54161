//! The laboratory: experiments that show where the nanoseconds go, one cause at a time.
//!
//! An experiment names what it varies, takes its samples in interleaved rounds, so that a machine
//! whose speed drifts cannot favour one variant, keeps every sample, and speaks in medians. It
//! drives the other crates through what they publish, never the reverse.
#![deny(unsafe_code)]

mod against;
mod batch;
mod caches;
mod chart;
mod conditions;
pub mod contention;
mod contest;
mod copies;
pub mod counters;
mod design;
mod dispatch;
mod experiment;
mod experiments;
mod flows;
mod fragments;
mod himeno;
mod key;
mod ladder;
pub mod layout;
mod load;
mod lock;
mod locks;
mod memory;
mod metric;
pub mod no_drop;
mod noise;
mod online;
mod paired;
mod pipeline;
mod places;
mod ratio;
mod routes;
mod rss;
mod rules;
mod sample;
mod shuffle;
mod skew;
mod source_cost;
mod source_port;
mod stamped;
mod stride;
mod switch;
mod sys;
mod tables;
mod tcp;
mod trial;
mod value;
mod veth;
mod wired;

pub use against::Against;
pub use caches::{Cache, Caches, size};
pub use chart::{Chart, ChartKind};
pub use conditions::Conditions;
pub use experiment::{Experiment, LabError, Outcome, Published, Row, Settings};
pub use experiments::{EXPERIMENTS, find};
pub use load::{Load, LoadRecord, LoadWatch};
pub use metric::Better;
pub use noise::Noise;
pub use ratio::Ratio;
pub use sample::Samples;
pub use source_cost::{SourceCost, SourceSettings};
pub use trial::{Interleaved, Trial, interleave};
pub use value::Value;
pub use wired::Wire;
