//! What the keeper tells without changing anything.

use super::claims::Tag;
use super::clock::{self, Now};
use super::publish::RecentlyHit;
use super::reply::{PartHeld, Place, SetFacts, TestAnswer, TestReason};
use super::request::Origin;
use super::state::{SetState, Sets};
use std::net::IpAddr;
use std::time::Duration;
use table::live::{Part, Reason};

impl Sets {
    /// What is known of the set at `place`.
    pub(super) fn facts(&self, place: usize) -> SetFacts {
        let set = &self.sets[place];
        let configured = set.config.rule.action;
        SetFacts {
            name: set.name.clone(),
            rule: set.rule.clone(),
            configured: (configured != set.rule.action).then_some(configured),
            counts: self.live.counts(place),
            covered_v4: set.covered_v4,
            loaded: set.loaded.clone(),
            changed: set.changed_ms.map(clock::wall),
            refused: set.refused,
            refusal: set.refusal.clone(),
        }
    }

    /// What each set says of an address. Lines of files and hits are for whoever asked.
    pub(super) fn test(&self, address: IpAddr, now: Now) -> Vec<TestAnswer> {
        let reasons = match address {
            IpAddr::V4(address) => self.live.explain_v4(address.to_bits()),
            IpAddr::V6(address) => self.live.explain_v6(address.to_bits()),
        };
        let answer = |set: &SetState| TestAnswer {
            name: set.name.clone(),
            rule: set.rule.clone(),
            reasons: Vec::new(),
            source: set.loaded.as_ref().map(|loaded| loaded.from.clone()),
            hits: RecentlyHit::default(),
        };
        let mut answers: Vec<TestAnswer> = self.sets.iter().map(answer).collect();
        for reason in reasons {
            let set = &self.sets[reason.list];
            answers[reason.list].reasons.push(told(set, reason, now));
        }
        answers
    }
}

fn told(set: &SetState, reason: Reason, now: Now) -> TestReason {
    let Reason {
        entry,
        part,
        expires,
        comment,
        tag,
        ..
    } = reason;
    match part {
        Part::Dynamic => {
            let tag = Tag::of(tag);
            let origin = tag.map_or(Origin::Hand, |tag| tag.giver.origin());
            TestReason {
                entry,
                part: PartHeld::Dynamic,
                origin,
                place: Place::Single(origin),
                comment: comment.map(String::from),
                since: tag.map(|tag| clock::wall(tag.since_ms)),
                time_left: expires.map(|at| Duration::from_nanos(at.since(now.mono))),
            }
        }
        Part::File => {
            let loaded = set.loaded.as_ref();
            let name = loaded.map_or(String::new(), |loaded| loaded.from.name.clone());
            let why = "no line was looked for";
            TestReason {
                entry,
                part: PartHeld::File,
                origin: loaded.map_or(Origin::File, |loaded| loaded.origin),
                place: Place::Source { name, why },
                comment: None,
                since: loaded.map(|loaded| loaded.since),
                time_left: None,
            }
        }
    }
}
