//! The verdict on one frame, by what the lookups found of its headers.

use frame::PortId;
use wire::{Family, Parsed, ether_type};

use crate::classify::FrameHeaders;
use crate::counted::Counting;
use crate::hits::would_stop;
use crate::ruleset::{Matched, PolicyMasks};
use crate::{DropReason, Verdict};

/// What of one header counts.
#[derive(Clone, Copy)]
pub(super) struct LookedAt {
    /// Its place among the frame's headers, the outermost being 0.
    pub(super) depth: usize,
    /// The sets that its addresses are in and that look at it.
    pub(super) matched: Matched,
    /// The sets that look at it.
    pub(super) lists: u32,
}

/// The verdict on sound IP that is in no list.
pub(super) fn plain(masks: &PolicyMasks, to: PortId) -> Verdict {
    if masks.default_drop {
        Verdict::Drop(DropReason::NotAllowed)
    } else {
        Verdict::Forward(to)
    }
}

/// The verdict on one frame. Addresses are weighed before faults, so that no blocked address
/// passes by being malformed further on. `arrival` is the place of the port it came in by.
#[inline(never)]
pub(super) fn judge(
    parsed: &Parsed,
    matched: Matched,
    masks: &PolicyMasks,
    counted: &mut impl Counting,
    (arrival, to): (usize, PortId),
) -> Verdict {
    let hit = matched.src.0 | matched.dst.0 != 0;
    if hit {
        counted.frame(arrival, matched);
        counted.address(parsed, matched);
    }
    if let Some(reason) = blocked(matched, masks) {
        return Verdict::Drop(reason);
    }
    if hit {
        counted.trial(would_stop(matched, masks));
    }
    match stopped(parsed, matched, masks) {
        Some(reason) => Verdict::Drop(reason),
        None => Verdict::Forward(to),
    }
}

/// The IP headers of a frame that carries other packets, from the outside in, as its sets see
/// them.
pub(super) fn looked_at<'a>(
    headers: &'a FrameHeaders<'_>,
    masks: &'a PolicyMasks,
) -> impl Iterator<Item = (&'a Parsed, LookedAt)> {
    let carries_ip = headers.iter().skip(1).any(|(inner, _)| inner.is_ip());
    let lists = move |place| match place {
        0 if !carries_ip => u32::MAX,
        0 => masks.outer,
        _ => masks.inner,
    };
    let ip = headers
        .iter()
        .enumerate()
        .filter(|(_, header)| header.0.is_ip());
    ip.map(move |(depth, (parsed, matched))| {
        let lists = lists(depth);
        let matched = matched.within(masks.any, lists);
        let looked_at = LookedAt {
            depth,
            matched,
            lists,
        };
        (parsed, looked_at)
    })
}

/// The verdict on a frame that carries other packets: each header is weighed by the sets that look
/// at it, the outermost first, before faults inside, which count where a set looks inside.
#[inline(never)]
pub(super) fn judge_all(
    headers: &FrameHeaders<'_>,
    masks: &PolicyMasks,
    counted: &mut impl Counting,
    (arrival, to): (usize, PortId),
) -> Verdict {
    let (mut matched, mut trial, mut stopped) = (Matched::default(), 0, None);
    let allowing = masks.allow.src | masks.allow.dst;
    let (mut one_allowed, mut all_allowed) = (false, true);
    for (parsed, header) in looked_at(headers, masks) {
        if !header.matched.is_empty() {
            matched = matched.or(header.matched);
            counted.address(parsed, header.matched);
            trial |= would_stop(header.matched, masks);
        }
        stopped = stopped.or_else(|| blocked(header.matched, masks));
        if header.lists & allowing != 0 {
            let allowed = is_allowed(header.matched, masks);
            one_allowed |= allowed;
            all_allowed &= allowed;
        }
    }
    if !matched.is_empty() {
        counted.frame(arrival, matched);
    }
    if let Some(reason) = stopped {
        return Verdict::Drop(reason);
    }
    counted.trial(trial);
    match headers.fault {
        Some(fault) if masks.malformed_drop && masks.inner != 0 => {
            Verdict::Drop(DropReason::Malformed(fault))
        }
        _ if masks.default_drop && !(one_allowed && all_allowed) => {
            Verdict::Drop(DropReason::NotAllowed)
        }
        _ => Verdict::Forward(to),
    }
}

/// Which address stops a frame, if one does.
#[inline]
pub(crate) fn blocked(matched: Matched, masks: &PolicyMasks) -> Option<DropReason> {
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
    let allowed = is_allowed(matched, masks);
    (masks.default_drop && !allowed).then_some(DropReason::NotAllowed)
}

#[inline]
pub(crate) fn is_allowed(matched: Matched, masks: &PolicyMasks) -> bool {
    matched.src.0 & masks.allow.src | matched.dst.0 & masks.allow.dst != 0
}

/// Whether the frame is known to carry something other than IP. A frame that ends before it says
/// what it carries, or hides it behind too many tags, is malformed instead. An ARP message stays
/// ARP, however short.
#[inline]
fn is_non_ip(parsed: &Parsed) -> bool {
    let sound = parsed.fault.is_none() || parsed.ether_type == ether_type::ARP;
    parsed.family == Family::None && sound
}
