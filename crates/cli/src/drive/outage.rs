//! The link of a port that was not up all the time: what it means for what was to leave by it, or
//! to arrive at it.

use engine::{Outage, TrialReport};
use port::interface::Link;
use serde::Serialize;

use crate::report::number::{plural, seconds};

/// Which of a trial's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    TakesIn,
    Sends,
}

/// What arrived, and what kept it from arriving.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Arrival {
    /// The times that the link of the port that takes in was not up; null where it was.
    pub(super) link_down: Option<LinkDown>,
    /// Why there is no result, where that is why.
    #[serde(skip)]
    pub(super) sentence: Option<String>,
}

/// An outage of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct LinkDown {
    /// `down`, `gone` or `without a carrier`.
    pub(super) state: String,
    pub(super) since_seconds: f64,
    pub(super) seconds: f64,
    /// How often the link was up and then was not.
    pub(super) losses: u32,
    #[serde(skip)]
    port: String,
    #[serde(skip)]
    outage: Outage,
    #[serde(skip)]
    side: Side,
}

impl Arrival {
    /// A sink that nobody here sends to may wait for its link; one that lost it missed something.
    pub(super) fn of(trial: &TrialReport) -> Self {
        let link_down = LinkDown::of(trial, Side::TakesIn);
        let spoils = |down: &&LinkDown| trial.senders != 0 || !down.was_awaited();
        Self {
            sentence: link_down.as_ref().filter(spoils).map(LinkDown::sentence),
            link_down,
        }
    }
}

impl LinkDown {
    pub(super) fn of(trial: &TrialReport, side: Side) -> Option<Self> {
        let outage = trial.outages[side as usize]?;
        // The port that sends comes first.
        let place = match side {
            Side::TakesIn => usize::from(trial.senders != 0),
            Side::Sends => 0,
        };
        let spec = trial.ports.get(place).map_or("", |port| &port.spec);
        Some(Self::new(outage, spec, side))
    }

    fn new(outage: Outage, spec: &str, side: Side) -> Self {
        Self {
            // It was up again when it was last looked at.
            state: match outage.link {
                Link::Up(_) => Link::Down(0),
                link => link,
            }
            .to_string(),
            since_seconds: outage.since_seconds,
            seconds: outage.seconds,
            losses: outage.losses,
            port: spec.split(',').next().unwrap_or_default().to_owned(),
            outage,
            side,
        }
    }

    /// Whether it was down at the start alone.
    fn was_awaited(&self) -> bool {
        !self.outage.whole && self.losses == 0
    }

    /// Which port was in which state, and when.
    pub(super) fn state(&self) -> String {
        let Self { port, state, .. } = self;
        let lasted = seconds(self.seconds);
        let when = match self.outage.whole {
            true => "all the time".to_owned(),
            false if self.seconds == 0.0 => {
                format!("for a moment, after {}", seconds(self.since_seconds))
            }
            false if self.was_awaited() => format!("for the first {lasted}"),
            false => format!("for {lasted}, first after {}", seconds(self.since_seconds)),
        };
        format!("{port} was {state} {when}")
    }

    /// The same with what it means and what helps.
    pub(super) fn sentence(&self) -> String {
        let name = self.port.split_once(':').map_or("", |(_, name)| name);
        let remedy = match self.outage.link {
            Link::Down(_) => format!("set it up: ip link set dev {name} up"),
            Link::Absent => {
                "see what took the interface away, or made it anew (ip link)".to_owned()
            }
            Link::NoCarrier(_) | Link::Up(_) => {
                "see the cable, and whether the other end is up".to_owned()
            }
        };
        let means = match self.side {
            Side::TakesIn => "no frame arrives then",
            Side::Sends => "no frame leaves then",
        };
        format!("{}, and {means}; {remedy}", self.state())
    }

    /// The same with frames that did not leave.
    pub(super) fn kept(&self, not_left: u64) -> String {
        let kept = match not_left {
            0 => String::new(),
            frames => format!("; {} did not leave", plural(frames, "frame", "frames")),
        };
        self.sentence() + &kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(link: Link, whole: bool, losses: u32) -> Outage {
        Outage {
            link,
            since_seconds: 1.0,
            seconds: 2.0,
            whole,
            losses,
            frames: 7,
        }
    }

    #[test]
    fn an_outage_is_told_with_what_helps() {
        let table = [
            (
                outage(Link::Down(3), true, 0),
                "xdp:e0 was down all the time",
                "ip link set dev e0 up",
            ),
            (
                outage(Link::Absent, false, 1),
                "xdp:e0 was gone for 2.00 s, first after 1.00 s",
                "ip link",
            ),
            (
                outage(Link::NoCarrier(3), true, 0),
                "without a carrier all the time",
                "the other end",
            ),
            (
                outage(Link::Down(3), false, 0),
                "xdp:e0 was down for the first 2.00 s",
                "ip link set dev e0 up",
            ),
        ];
        let sides = [(Side::TakesIn, "arrives"), (Side::Sends, "leaves")];
        for (outage, said, remedy) in table {
            for (side, verb) in sides {
                let down = LinkDown::new(outage, "xdp:e0,mode=copy", side);
                let sentence = down.sentence();
                for part in [said, remedy, &format!("no frame {verb} then")] {
                    assert!(sentence.contains(part), "{sentence}");
                }
                assert_eq!(down.kept(0), sentence);
                assert_eq!(down.kept(9), format!("{sentence}; 9 frames did not leave"));
            }
        }
    }
}
