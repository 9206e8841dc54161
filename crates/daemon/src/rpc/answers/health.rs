//! What `health` and `drain` take and answer.

use serde::{Deserialize, Serialize};

/// What `drain` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrainParams {
    /// Whether the daemon is to drain from now on.
    pub on: bool,
}

/// What `health` and `drain` answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Workers go round, ports are up, required sets are current.
    pub healthy: bool,
    /// It is healthy and does not drain: traffic may be sent to it.
    pub ready: bool,
    /// Somebody asked it to drain.
    pub draining: bool,
    /// Why it is not ready; empty where it is.
    pub reasons: Vec<HealthReason>,
}

/// One reason for which a daemon is not ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthReason {
    /// What it is about.
    pub kind: HealthKind,
    /// The worker's number, or the name of the port or set; empty for the daemon as a whole.
    pub name: String,
    /// One sentence.
    pub text: String,
}

/// What a reason is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HealthKind {
    /// The daemon starts.
    Start,
    /// A worker hangs.
    Worker,
    /// A port is down.
    Port,
    /// A required set is missing or too old.
    Set,
    /// The daemon drains.
    Drain,
}

impl Health {
    /// The reasons for which it is not healthy: all but that it drains.
    #[must_use]
    pub fn without_drain(mut self) -> Self {
        self.reasons.retain(|one| one.kind != HealthKind::Drain);
        self
    }

    /// The reasons as text, a sentence a line; `ok` where there are none.
    #[must_use]
    pub fn text(&self) -> String {
        match self.reasons.as_slice() {
            [] => "ok\n".to_owned(),
            reasons => reasons.iter().map(|one| one.text.clone() + "\n").collect(),
        }
    }
}
