//! What a policy does to frames for one of their addresses alone: what people ask of an address.

use frame::PortId;
use table::ListMask;

use crate::bridge::{blocked, is_allowed};
use crate::hits::would_stop;
use crate::ruleset::{Matched, PolicyMasks};
use crate::{DropReason, Policy, Side};

/// What becomes of sound frames that carry no other packets and that have an address on one side.
///
/// The other address of a frame, and a bridge that is stateful, may still have it dropped; under a
/// default of drop the other address may let it pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressVerdict {
    /// Why they are dropped; `None` where they pass.
    pub drop: Option<DropReason>,
    /// Of the lists that hold the address, those that block on this side and port.
    pub block: u32,
    /// Those that allow.
    pub allow: u32,
    /// Those that count.
    pub count: u32,
    /// Whether frames count as those that a count set would have dropped.
    pub would_drop: bool,
}

impl AddressVerdict {
    /// The verdict of all rules together on an address that these lists hold, where frames that
    /// came in by `from` have it on this side.
    #[must_use]
    pub fn of(policy: &Policy, lists: u32, (side, from): (Side, PortId)) -> Self {
        let masks = PolicyMasks::of(policy, from);
        let one_sided = match side {
            Side::Src => Matched {
                src: ListMask(lists),
                dst: ListMask(0),
            },
            Side::Dst => Matched {
                src: ListMask(0),
                dst: ListMask(lists),
            },
        };
        let matched = one_sided.within(masks.any, u32::MAX);
        let held = (matched.src | matched.dst).0;
        let not_allowed = masks.default_drop && !is_allowed(matched, &masks);
        let drop = blocked(matched, &masks);
        Self {
            drop: drop.or(not_allowed.then_some(DropReason::NotAllowed)),
            block: held & masks.block.of(side),
            allow: held & masks.allow.of(side),
            count: held & masks.count.of(side),
            would_drop: drop.is_none() && would_stop(matched, &masks) != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Otherwise, Ports, SetRule, Sides};

    /// Four sets: 0 blocks, 1 counts, 2 allows, all on both sides; 3 blocks sources of port 1.
    fn policy(default: Otherwise) -> Policy {
        let rule = |name, action| SetRule::new(name, action, Sides::BOTH);
        let one_port = SetRule {
            ports: Ports::NONE.with(PortId(1)),
            ..SetRule::new("one-port", Action::Block, Sides::SRC)
        };
        let rules = vec![
            rule("bad", Action::Block),
            rule("trial", Action::Count),
            rule("office", Action::Allow),
            one_port,
        ];
        let mut policy = Policy::new(rules).expect("few rules");
        policy.default = default;
        policy
    }

    #[test]
    fn what_all_sets_together_say() {
        use DropReason::{BlockedDst, BlockedSrc, NotAllowed};
        use Otherwise::{Drop, Forward};
        let (src, dst) = (Side::Src, Side::Dst);
        for (default, lists, side, port, drop, would_drop) in [
            (Forward, 0b0000, src, 0, None, false),
            (Forward, 0b0001, src, 0, Some(BlockedSrc), false),
            (Forward, 0b0001, dst, 0, Some(BlockedDst), false),
            (Forward, 0b0010, src, 0, None, true),
            (Forward, 0b0011, dst, 0, Some(BlockedDst), false),
            (Forward, 0b0101, src, 0, None, false),
            (Forward, 0b0111, src, 0, None, false),
            (Forward, 0b0110, dst, 0, None, false),
            (Forward, 0b1000, src, 0, None, false),
            (Forward, 0b1000, src, 1, Some(BlockedSrc), false),
            (Forward, 0b1000, dst, 1, None, false),
            (Forward, 0b1010, src, 1, Some(BlockedSrc), false),
            (Forward, 0b1010, src, 0, None, true),
            (Drop, 0b0000, src, 0, Some(NotAllowed), false),
            (Drop, 0b0010, src, 0, Some(NotAllowed), true),
            (Drop, 0b0001, dst, 0, Some(BlockedDst), false),
            (Drop, 0b0100, dst, 0, None, false),
            (Drop, 0b0101, dst, 0, None, false),
        ] {
            let at = (side, PortId(port));
            let verdict = AddressVerdict::of(&policy(default), lists, at);
            let found = (verdict.drop, verdict.would_drop);
            assert_eq!(found, (drop, would_drop), "{default:?} {lists:04b} {at:?}");
            let known = verdict.block | verdict.allow | verdict.count;
            let elsewhere = if (side, port) == (src, 1) { 0 } else { 0b1000 };
            assert_eq!(known, lists & !elsewhere, "{lists:04b} {at:?}");
        }
    }
}
