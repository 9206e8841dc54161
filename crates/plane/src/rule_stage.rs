//! Rules on a burst: tried behind the sets and in front of flows and nodes, on what the sets let
//! pass. They only ever make a drop of it, and look at the outermost IP header.

mod key;
mod reject;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use frame::{BURST_MAX, Burst, Nanos, PortId};
use table::ListMask;
use wire::Fragment;

use crate::ruleset::Matched;
use crate::{Classifier, DropReason, RuleTable, Stateful, Verdict, Verdicts, original_len};
use key::key;
use reject::Rejected;

/// All lists on both sides.
const ANY: Matched = Matched {
    src: ListMask(u32::MAX),
    dst: ListMask(u32::MAX),
};

/// The rules of one worker.
#[derive(Debug)]
pub(crate) struct RuleStage {
    table: Arc<RuleTable>,
    /// Where it counts.
    column: usize,
    /// The lists that the addresses of each frame are in.
    matched: [Matched; BURST_MAX],
    rejected: Rejected,
}

/// What the stage knows of the burst.
pub(crate) struct Seen<'a> {
    pub(crate) burst: &'a Burst,
    pub(crate) from: PortId,
    pub(crate) classifier: &'a Classifier,
    pub(crate) flows: Option<&'a Stateful>,
    /// Later fragments get the verdict of the first one of their packet.
    pub(crate) follows_fragments: bool,
}

impl RuleStage {
    /// Follows the version in force: another table begins with counters of its own.
    pub(crate) fn follow(stage: &mut Option<Box<Self>>, table: &Arc<RuleTable>) {
        let current = stage.as_ref();
        if !current.is_some_and(|stage| Arc::ptr_eq(&stage.table, table)) {
            // What may be said in a second is not more with other rules.
            let rejected = stage.take().map(|stage| stage.rejected);
            *stage = Some(Box::new(Self {
                rejected: rejected.unwrap_or_else(Rejected::new),
                column: table.counts().take_column(),
                table: Arc::clone(table),
                matched: [Matched::default(); BURST_MAX],
            }));
        }
    }

    /// Drops what the rules drop, of what may pass so far.
    pub(crate) fn judge(&mut self, seen: &Seen<'_>, verdicts: &mut Verdicts) {
        self.gather(seen.classifier);
        self.rejected.begin();
        let frames = seen.burst.frames().iter().zip(seen.classifier.parsed());
        for (place, (frame, parsed)) in frames.enumerate() {
            let passes = matches!(verdicts.as_slice().get(place), Some(Verdict::Forward(_)));
            let follows = seen.follows_fragments && parsed.fragment == Fragment::Later;
            if !passes || !parsed.is_ip() || follows {
                continue;
            }
            let mut key = key(frame.bytes(), parsed, seen.from, self.matched[place]);
            if self.table.asks_state() {
                let flows = seen.flows;
                key.flow_state = flows.and_then(|flows| flows.state_of(frame.bytes(), parsed));
            }
            let (bytes, column) = (original_len(frame) as u64, self.column);
            let counts = self.table.counts();
            let mut last = 0;
            let passes = self.table.passes(&key, |rule| {
                counts.add(column, rule, bytes);
                last = rule;
            });
            if !passes {
                verdicts.set(place, Verdict::Drop(DropReason::Rule));
                if let Some(with) = self.table.rejection(last) {
                    self.rejected.add(place, with, parsed);
                }
            }
        }
    }

    /// Whether senders are to be told something of this burst.
    pub(crate) fn has_rejected(&self) -> bool {
        !self.rejected.is_empty()
    }

    /// Makes answers of frames that rules rejected.
    pub(crate) fn answer(
        &mut self,
        burst: (&mut Burst, PortId),
        verdicts: &mut Verdicts,
        now: Nanos,
    ) {
        self.rejected.answer(burst, verdicts, now);
    }

    /// The lists that the addresses of each frame's outermost header are in.
    fn gather(&mut self, classifier: &Classifier) {
        let matched = &mut self.matched;
        matched[..classifier.parsed().len()].fill(Matched::default());
        classifier.each_match(ANY, |place, _, lists| matched[place] = lists);
        classifier.each_tunnelled(|place, headers| {
            if let Some((_, lists)) = headers.iter().next() {
                matched[place] = lists;
            }
        });
    }
}
