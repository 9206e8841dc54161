//! What there is to say of packets in fragments that a bridge follows.

use plane::Pipeline;
use table::fragments::FragmentCounts;

use crate::counters::{Count, Words};
use crate::reassembly::Reassembly;

/// Packets in fragments, those of all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentReport {
    /// Frames held now: they wait for others, or to go on.
    pub held: u64,
    /// Packets that are known.
    pub known: u64,
    /// Packets that began.
    pub begun: u64,
    /// Of those, packets of which all fragments came.
    pub complete: u64,
    /// Of those, given up when their time was over.
    pub timed_out: u64,
    /// Of those, given up for want of room.
    pub evicted: u64,
    /// Of those, found bad.
    pub flawed: u64,
    /// Of the bad ones, those whose identification another packet had.
    pub reused: u64,
    /// Fragments that came again.
    pub duplicates: u64,
    /// Fragments that had to wait.
    pub waited: u64,
    /// The most that waited at a time, at each worker.
    pub waited_most: u64,
}

/// Counts what one worker's table says now.
pub(crate) fn count(pipeline: &mut Pipeline, reassembly: Option<&Reassembly>, words: &mut Words) {
    let reassembled = reassembly.map(Reassembly::counts);
    let gathered = pipeline.gatherer().map(|own| (*own.counts(), own.len()));
    let counted = reassembled.or(gathered).or_else(|| alone(pipeline));
    let Some((counts, known)) = counted else {
        return;
    };
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
    for (count, value) in [
        (Count::Datagrams, known as u64),
        (Count::DatagramsBegun, begun),
        (Count::DatagramsComplete, complete),
        (Count::DatagramsTimedOut, timed_out),
        (Count::DatagramsEvicted, evicted),
        (Count::DatagramsFlawed, flawed),
        (Count::DatagramsReused, reused),
        (Count::FragmentsDuplicate, duplicates),
        (Count::FragmentsWaited, waited),
        (Count::FragmentsWaitedMost, held_max),
    ] {
        words.set(count, value);
    }
}

fn alone(pipeline: &mut Pipeline) -> Option<(FragmentCounts, usize)> {
    pipeline.fragments().map(|own| (*own.counts(), own.len()))
}

/// What all workers counted; none where no fragment is followed.
pub(crate) fn report(follows: bool, sum: &Words) -> Option<FragmentReport> {
    follows.then(|| FragmentReport {
        held: sum.get(Count::Held),
        known: sum.get(Count::Datagrams),
        begun: sum.get(Count::DatagramsBegun),
        complete: sum.get(Count::DatagramsComplete),
        timed_out: sum.get(Count::DatagramsTimedOut),
        evicted: sum.get(Count::DatagramsEvicted),
        flawed: sum.get(Count::DatagramsFlawed),
        reused: sum.get(Count::DatagramsReused),
        duplicates: sum.get(Count::FragmentsDuplicate),
        waited: sum.get(Count::FragmentsWaited),
        waited_most: sum.get(Count::FragmentsWaitedMost),
    })
}
