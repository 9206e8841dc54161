//! What was to leave the machine and did not, and why: such a run has no result.

use engine::TrialReport;
use plane::DropReason;
use serde::Serialize;
use traffic::Rate;

use super::outage::{LinkDown, Side};
use crate::report::number::{count, plural};

/// Where no number of frames and no rate was asked for, a port may lose this share of them.
const LOST_FLAT_OUT: f64 = 0.001;

/// What did not leave.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Departure {
    /// Frames that were to be sent, or sent back, and did not leave.
    pub(super) not_left: u64,
    /// The same by what became of them; names as in the ledger.
    pub(super) causes: Vec<CauseOf>,
    /// The times that the link of the port that sends was not up; null where it was.
    pub(super) link_down: Option<LinkDown>,
    /// Why there is no result, where that is why.
    #[serde(skip)]
    pub(super) sentence: Option<String>,
}

/// Frames of one cause.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CauseOf {
    pub(super) name: &'static str,
    pub(super) frames: u64,
}

impl Departure {
    pub(super) fn of(trial: &TrialReport) -> Self {
        let causes = trial.not_left();
        let not_left = causes.iter().map(|(_, frames)| frames).sum();
        let link_down = LinkDown::of(trial, Side::Sends);
        let port = trial.ports.first().map_or("", |port| port.spec.as_str());
        let port = port.split(',').next().unwrap_or_default();
        let kept = (not_left != 0).then(|| kept_back(trial, port, not_left));
        let sentence = match &link_down {
            // Whatever the port counted them as: the link explains it.
            Some(down) => Some(down.kept(not_left)),
            None => kept.filter(|_| not_left > tolerated(trial)),
        };
        Self {
            not_left,
            causes: causes
                .iter()
                .map(|&(cause, frames)| CauseOf {
                    name: cause.name(),
                    frames,
                })
                .collect(),
            link_down,
            sentence,
        }
    }
}

/// Frames that may be lost on the way out: none of those that were asked for by number or rate. A
/// port that is sent as much as it takes may lose some when it is full.
fn tolerated(trial: &TrialReport) -> u64 {
    let as_many_as_fit = trial.rate == Rate::Unlimited && !trial.counted && trial.senders != 0;
    match as_many_as_fit {
        true => (trial.sent as f64 * LOST_FLAT_OUT) as u64,
        false => 0,
    }
}

fn kept_back(trial: &TrialReport, port: &str, frames: u64) -> String {
    let causes = trial.not_left();
    let each = causes.iter().map(|&(cause, frames)| {
        format!("{} {} ({})", count(frames), cause.name(), cause.sentence())
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let refused = engine::Cause::Drop(DropReason::TxRefused);
    let remedy = match causes.first() {
        Some(&(cause, _)) if cause == refused => {
            "give another --size or capture, or raise the interface's MTU (ip link set dev IFACE \
             mtu BYTES)"
        }
        Some(&(cause, _)) => cause.remedy(),
        None => "",
    };
    let remedy = match remedy {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    let frames = plural(frames, "frame", "frames");
    format!("{frames} did not leave {port}: {each}{remedy}")
}
