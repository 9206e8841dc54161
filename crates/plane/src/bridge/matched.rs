//! Which sets a frame's addresses are in, told once more: for samples and explanations.

use frame::PortId;

use super::Bridge;
use super::judge::looked_at;
use crate::Ruleset;
use crate::ruleset::Matched;

/// The lists that matched a frame's addresses, as bits by their places in the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchedLists {
    /// Those that its source is in, where the policy looks at sources.
    pub src: u32,
    /// Those that its destination is in, where the policy looks at destinations.
    pub dst: u32,
}

impl From<Matched> for MatchedLists {
    fn from(matched: Matched) -> Self {
        Self {
            src: matched.src.0,
            dst: matched.dst.0,
        }
    }
}

impl Bridge {
    /// Tells again which frames of the last burst, which came in by `from`, had an address in a
    /// set: by place, in no order. For samples: the way of all frames does without.
    pub fn each_match(
        &self,
        from: PortId,
        ruleset: &Ruleset,
        mut each: impl FnMut(usize, MatchedLists),
    ) {
        let masks = ruleset.masks(from);
        let classifier = &self.classifier;
        classifier.each_match(masks.any, |place, _, matched| each(place, matched.into()));
        classifier.each_tunnelled(|place, headers| {
            let looked_at = looked_at(headers, masks);
            let matched = looked_at.fold(Matched::default(), |all, (_, one)| all.or(one.matched));
            if !matched.is_empty() {
                each(place, matched.into());
            }
        });
    }

    /// The same by header: the place of the frame, and that of the header in it, the outermost
    /// being 0. For explanations.
    pub fn each_header_match(
        &self,
        from: PortId,
        ruleset: &Ruleset,
        mut each: impl FnMut(usize, usize, MatchedLists),
    ) {
        let masks = ruleset.masks(from);
        let classifier = &self.classifier;
        classifier.each_match(masks.any, |place, _, matched| {
            each(place, 0, matched.into());
        });
        classifier.each_tunnelled(|place, headers| {
            for (_, header) in looked_at(headers, masks) {
                if !header.matched.is_empty() {
                    each(place, header.depth, header.matched.into());
                }
            }
        });
    }
}
