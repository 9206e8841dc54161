//! What there is to say of packets in fragments that a bridge follows.

use plane::Bridge;
use table::fragments::FragmentCounts;

use crate::counters::{Count, Counters};
use crate::reassembly::Reassembly;

/// Packets in fragments, those of all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentReport {
    /// Frames held now: they wait for others, or to go on.
    pub held: u64,
    /// Packets that are known.
    pub known: u64,
    /// Since the start; the most that waited at a time are those of each worker, added up.
    pub counts: FragmentCounts,
}

/// Where a worker shows each count.
fn shown(counts: &mut FragmentCounts) -> [(Count, &mut u64); 9] {
    let FragmentCounts {
        begun,
        complete,
        timed_out,
        evicted,
        flawed,
        reused,
        duplicates,
        waited,
        held_max,
    } = counts;
    [
        (Count::DatagramsBegun, begun),
        (Count::DatagramsComplete, complete),
        (Count::DatagramsTimedOut, timed_out),
        (Count::DatagramsEvicted, evicted),
        (Count::DatagramsFlawed, flawed),
        (Count::DatagramsReused, reused),
        (Count::FragmentsDuplicate, duplicates),
        (Count::FragmentsWaited, waited),
        (Count::FragmentsWaitedMost, held_max),
    ]
}

/// Counts what one worker's table says now.
pub(crate) fn count(bridge: &mut Bridge, reassembly: Option<&Reassembly>, counters: &mut Counters) {
    let reassembled = reassembly.map(Reassembly::counts);
    let gathered = bridge.gatherer().map(|own| (*own.counts(), own.len()));
    let counted = reassembled.or(gathered).or_else(|| alone(bridge));
    let Some((mut counts, known)) = counted else {
        return;
    };
    counters.set(Count::Datagrams, known as u64);
    for (count, value) in shown(&mut counts) {
        counters.set(count, *value);
    }
}

fn alone(bridge: &mut Bridge) -> Option<(FragmentCounts, usize)> {
    bridge.fragments().map(|own| (*own.counts(), own.len()))
}

/// What all workers counted; none where no fragment is followed.
pub(crate) fn report(follows: bool, sum: &Counters) -> Option<FragmentReport> {
    follows.then(|| {
        let mut counts = FragmentCounts::default();
        for (count, value) in shown(&mut counts) {
            *value = sum.get(count);
        }
        FragmentReport {
            held: sum.get(Count::Held),
            known: sum.get(Count::Datagrams),
            counts,
        }
    })
}
