//! The bridge: what came in by one of two ports leaves by the other, unless the policy stops it.

use frame::{Burst, PortId};
use table::CompiledLists;
use wire::{Family, Parsed, ether_type};

use crate::policy::{Matched, PolicyMasks};
use crate::{Classifier, DropReason, Hits, Policy, Verdict, Verdicts};

/// Two ports and a policy; owned by one worker.
#[derive(Debug)]
pub struct Bridge {
    ports: [PortId; 2],
    masks: PolicyMasks,
    classifier: Classifier,
    hits: Hits,
}

impl Bridge {
    /// A bridge between two ports.
    #[must_use]
    pub fn new(ports: [PortId; 2], policy: &Policy) -> Self {
        Self {
            ports,
            masks: PolicyMasks::from(policy),
            classifier: Classifier::new(),
            hits: Hits::new(),
        }
    }

    /// The hits of the policy's sets so far.
    #[must_use]
    pub fn hits(&self) -> &Hits {
        &self.hits
    }

    /// Decides on a burst that came in by `from`; `lists` hold list `i` for the policy's rule `i`.
    #[inline]
    pub fn decide(
        &mut self,
        burst: &Burst,
        from: PortId,
        lists: &CompiledLists,
        verdicts: &mut Verdicts,
    ) {
        self.classifier.classify(burst, lists);
        self.judge(from, verdicts);
    }

    /// The first half of [`Bridge::decide`], pass by pass.
    pub fn classifier(&mut self) -> &mut Classifier {
        &mut self.classifier
    }

    /// The second half of [`Bridge::decide`]: weighs what the classifier found in the last burst,
    /// which came in by `from`.
    #[inline]
    pub fn judge(&mut self, from: PortId, verdicts: &mut Verdicts) {
        let to = self.ports[usize::from(from == self.ports[0])];
        verdicts.clear();
        for (place, parsed) in self.classifier.parsed().iter().enumerate() {
            let matched = self.classifier.matched(place);
            verdicts.push(judge(parsed, matched, &self.masks, &mut self.hits, to));
        }
    }
}

/// The verdict on one frame. Addresses are weighed before faults, so that no blocked address
/// passes by being malformed further on.
#[inline]
fn judge(
    parsed: &Parsed,
    matched: Matched,
    masks: &PolicyMasks,
    hits: &mut Hits,
    to: PortId,
) -> Verdict {
    let matched = Matched {
        src: table::ListMask(matched.src.0 & masks.any.src),
        dst: table::ListMask(matched.dst.0 & masks.any.dst),
    };
    let hit = matched.src.0 | matched.dst.0 != 0;
    if hit {
        hits.record(matched);
    }
    if let Some(reason) = blocked(matched, masks) {
        return Verdict::Drop(reason);
    }
    if hit {
        hits.record_trial(matched, masks);
    }
    match stopped(parsed, matched, masks) {
        Some(reason) => Verdict::Drop(reason),
        None => Verdict::Forward(to),
    }
}

/// Which address stops a frame, if one does.
#[inline]
fn blocked(matched: Matched, masks: &PolicyMasks) -> Option<DropReason> {
    let (src, dst) = (matched.src.0, matched.dst.0);
    if src & masks.block.src != 0 && src & masks.allow.src == 0 {
        return Some(DropReason::BlockedSrc);
    }
    if dst & masks.block.dst != 0 && dst & masks.allow.dst == 0 {
        return Some(DropReason::BlockedDst);
    }
    None
}

/// Why a frame that no address stops may not pass, if it may not.
#[inline]
fn stopped(parsed: &Parsed, matched: Matched, masks: &PolicyMasks) -> Option<DropReason> {
    if is_non_ip(parsed) {
        return masks.non_ip_drop.then_some(DropReason::NonIp);
    }
    if let Some(fault) = parsed.fault
        && masks.malformed_drop
    {
        return Some(DropReason::Malformed(fault));
    }
    let allowed = matched.src.0 & masks.allow.src | matched.dst.0 & masks.allow.dst != 0;
    (masks.default_drop && !allowed).then_some(DropReason::NotAllowed)
}

/// Whether the frame is known to carry something other than IP. A frame that ends before it says
/// what it carries, or hides it behind too many tags, is malformed instead. An ARP message stays
/// ARP, however short.
#[inline]
fn is_non_ip(parsed: &Parsed) -> bool {
    let sound = parsed.fault.is_none() || parsed.ether_type == ether_type::ARP;
    parsed.family == Family::None && sound
}
