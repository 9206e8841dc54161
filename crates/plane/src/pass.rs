//! Messages that a network needs to work pass where all else of no known flow or of no allowed
//! address is dropped: each protocol by a rule that can be switched off.
//!
//! Looked at are frames that would be dropped, and only for want of a reason to let them pass. An
//! address in a block set, a fault and a fragment that does not fit are reasons to drop them.

use std::fmt;

use frame::{Burst, PortId};
use wire::{Fragment, LinkProtocol};

use crate::ruleset::PolicyMasks;
use crate::{Classifier, DropReason, Verdict, Verdicts};

/// Which protocols pass: a rule each, by the protocol's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassRules(u8);

impl PassRules {
    /// All of them.
    pub const ALL: Self = Self((1 << LinkProtocol::ALL.len()) - 1);
    /// None.
    pub const NONE: Self = Self(0);

    /// Rules by their names; `all` and `none` stand for what they say and stand alone.
    ///
    /// # Errors
    /// A word that names no rule, and a word beside `all` or `none`.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, PassRuleError> {
        let words: Vec<&str> = words.into_iter().collect();
        if let [word] = words[..] {
            match word {
                "all" => return Ok(Self::ALL),
                "none" => return Ok(Self::NONE),
                _ => {}
            }
        }
        words.iter().try_fold(Self::NONE, |rules, &word| {
            let rule = LinkProtocol::ALL.iter().find(|rule| rule.name() == word);
            let rule = rule.ok_or_else(|| PassRuleError(word.to_owned()))?;
            Ok(Self(rules.0 | bit(*rule)))
        })
    }

    /// Whether this protocol passes.
    #[must_use]
    pub fn contains(self, rule: LinkProtocol) -> bool {
        self.0 & bit(rule) != 0
    }

    /// The names of the rules, in their order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let rules = LinkProtocol::ALL.iter().copied();
        let rules = rules.filter(move |&rule| self.contains(rule));
        rules.map(LinkProtocol::name)
    }
}

const fn bit(rule: LinkProtocol) -> u8 {
    1 << rule as u8
}

/// A word that names no rule here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassRuleError(String);

impl fmt::Display for PassRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = PassRules::ALL.names().collect();
        let names = names.join(", ");
        match self.0.as_str() {
            word @ ("all" | "none") => {
                write!(f, "'{word}' stands alone: leave it out, or the others")
            }
            word => write!(
                f,
                "'{word}' is no rule: write some of {names}, or all, or none"
            ),
        }
    }
}

impl std::error::Error for PassRuleError {}

/// Frames that passed by a rule alone, by rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassCounts([u64; LinkProtocol::ALL.len()]);

impl PassCounts {
    /// How many passed by this rule.
    #[must_use]
    pub fn of(&self, rule: LinkProtocol) -> u64 {
        self.0[rule as usize]
    }
}

/// Forwards to `to` the frames of a burst that would be dropped and that a rule lets pass.
#[inline(never)]
pub(crate) fn pass(
    burst: &Burst,
    classifier: &Classifier,
    (masks, to): (&PolicyMasks, PortId),
    verdicts: &mut Verdicts,
    counts: &mut PassCounts,
) {
    let frames = burst.frames().iter().zip(classifier.parsed());
    for (place, (frame, parsed)) in frames.enumerate() {
        let may_pass = match verdicts.as_slice().get(place) {
            // Nobody remembers that the first fragment passed: the others would not follow.
            Some(Verdict::Drop(DropReason::NotAllowed)) => parsed.fragment == Fragment::Whole,
            Some(Verdict::Drop(
                DropReason::NotEstablished | DropReason::OtherSide | DropReason::FlowsFull,
            )) => true,
            _ => false,
        };
        if !may_pass || classifier.is_tunnel(place) {
            continue;
        }
        let Some(message) = wire::link_message(frame.bytes(), parsed) else {
            continue;
        };
        let from_here = !message.from_router || masks.router;
        if from_here && masks.pass.contains(message.protocol) {
            counts.0[message.protocol as usize] += 1;
            verdicts.set(place, Verdict::Forward(to));
        }
    }
}

/// Drops the frames of a burst whose sender claims to be a router or a DHCP server: the burst came
/// in by a port that none is behind.
#[inline(never)]
pub(crate) fn guard(burst: &Burst, classifier: &Classifier, verdicts: &mut Verdicts) {
    let frames = burst.frames().iter().zip(classifier.parsed());
    for (place, (frame, parsed)) in frames.enumerate() {
        let claims = wire::claims_router(frame.bytes(), parsed) && !classifier.is_tunnel(place);
        if claims && matches!(verdicts.as_slice().get(place), Some(Verdict::Forward(_))) {
            verdicts.set(place, Verdict::Drop(DropReason::RouterSide));
        }
    }
}

#[cfg(test)]
mod tests;
