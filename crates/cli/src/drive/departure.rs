//! What was to leave the machine and did not, and why: such a run has no result.

use engine::{Outage, TrialReport};
use plane::DropReason;
use port::interface::Link;
use serde::Serialize;
use traffic::Rate;

use crate::report::number::{count, plural, seconds};

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

/// An outage of the link.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LinkDown {
    /// `down`, `gone` or `without a carrier`.
    pub(super) state: String,
    pub(super) since_seconds: f64,
    pub(super) seconds: f64,
}

impl Departure {
    pub(super) fn of(trial: &TrialReport) -> Self {
        let causes = trial.not_left();
        let not_left = causes.iter().map(|(_, frames)| frames).sum();
        let outage = trial.outage.as_ref();
        let port = trial.ports.first().map_or("", |port| port.spec.as_str());
        let port = port.split(',').next().unwrap_or_default();
        let kept = (not_left != 0).then(|| kept_back(trial, port, not_left));
        let sentence = match outage {
            Some(outage) => Some(without_link(outage, port, not_left)),
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
            link_down: outage.map(|outage| LinkDown {
                state: outage.link.to_string(),
                since_seconds: outage.since_seconds,
                seconds: outage.seconds,
            }),
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

/// Whatever the port counted them as: the link explains it.
fn without_link(outage: &Outage, port: &str, not_left: u64) -> String {
    let Outage {
        link,
        since_seconds,
        seconds: down,
        whole,
    } = *outage;
    let when = match whole {
        true => "all the time".to_owned(),
        false => format!(
            "for {}, first after {}",
            seconds(down),
            seconds(since_seconds)
        ),
    };
    let name = port.split_once(':').map_or(port, |(_, name)| name);
    let remedy = match link {
        Link::Down(_) => format!("set it up: ip link set dev {name} up"),
        Link::Absent => "see what took the interface away (ip link)".to_owned(),
        Link::NoCarrier(_) | Link::Up(_) => {
            "see the cable, and whether the other end is up".to_owned()
        }
    };
    let state = match link {
        // It was up again when it was last looked at.
        Link::Up(_) => "down".to_owned(),
        link => link.to_string(),
    };
    let kept = match not_left {
        0 => String::new(),
        frames => format!("; {} did not leave", plural(frames, "frame", "frames")),
    };
    format!("{port} was {state} {when}, and no frame leaves then; {remedy}{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_with_what_helps() {
        let outage = |link, whole| Outage {
            link,
            since_seconds: 1.0,
            seconds: 2.0,
            whole,
        };
        let table = [
            (
                Link::Down(3),
                true,
                "xdp:e0 was down all the time",
                "ip link set dev e0 up",
            ),
            (
                Link::Absent,
                false,
                "xdp:e0 was gone for 2.00 s, first after 1.00 s",
                "ip link",
            ),
            (
                Link::NoCarrier(3),
                true,
                "without a carrier all the time",
                "the other end",
            ),
        ];
        for (link, whole, said, remedy) in table {
            let sentence = without_link(&outage(link, whole), "xdp:e0", 0);
            assert!(sentence.contains(said), "{sentence}");
            assert!(sentence.contains(remedy), "{sentence}");
            let kept = without_link(&outage(link, whole), "xdp:e0", 9);
            assert_eq!(kept, format!("{sentence}; 9 frames did not leave"));
        }
    }
}
