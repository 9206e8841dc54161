//! Options about how frames get to the worker that decides on them.

use clap::{Args, ValueEnum};
use engine::{DEFAULT_RING_LIMIT, DispatchPolicy, DispatchSettings, RING_LIMIT_MAX};

/// `--dispatch`, `--dispatch-limit` and `--balance`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Workers and memory")]
pub(crate) struct DispatchArgs {
    /// Who decides on a frame: direct, hybrid or deferred.
    ///
    /// direct: the worker that received it; hybrid: the one that owns its flow, at once where it
    /// received it; deferred: the same, always by way of a queue. auto is direct for a port that
    /// has a receive queue for each worker, and hybrid for one with fewer. Hybrid puts right what
    /// an interface spreads wrongly, at the cost of a hash a frame.
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) dispatch: DispatchWhen,
    /// Let a ring between two workers hold N frames; where it is full, frames are dropped
    /// (handoff_ring_full) unless the source can wait.
    #[arg(
        long,
        value_name = "N",
        default_value_t = DEFAULT_RING_LIMIT as u32,
        value_parser = clap::value_parser!(u32).range(1..=RING_LIMIT_MAX as i64),
        hide_short_help = true
    )]
    pub(crate) dispatch_limit: u32,
    /// Move flows from a worker that has too much to one that has room, in order: on or off.
    ///
    /// Only where frames are given to the worker that owns their flow (hybrid, deferred), and come
    /// from where they cannot wait.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "on",
        default_missing_value = "on",
        num_args = 0..=1,
        require_equals = true,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) balance: Balance,
}

/// Whether flows move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Balance {
    #[default]
    On,
    Off,
}

/// When a frame is given to the worker that owns its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DispatchWhen {
    #[default]
    Auto,
    Direct,
    Hybrid,
    Deferred,
}

impl DispatchArgs {
    /// What the options mean.
    pub(crate) fn settings(&self) -> DispatchSettings {
        DispatchSettings {
            policy: match self.dispatch {
                DispatchWhen::Auto => None,
                DispatchWhen::Direct => Some(DispatchPolicy::Direct),
                DispatchWhen::Hybrid => Some(DispatchPolicy::Hybrid),
                DispatchWhen::Deferred => Some(DispatchPolicy::Deferred),
            },
            ring_limit: self.dispatch_limit as usize,
            balance: self.balance == Balance::On,
        }
    }
}
