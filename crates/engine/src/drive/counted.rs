//! What all workers of a trial counted, in one.

use std::ops::Range;

use plane::DropReason;
use traffic::{ClockSteps, Controls, Sink, SinkLimits, SinkReport};

use super::open::Drive;
use super::report::StreamSent;
use super::sender::{Sender, Short};
use super::worker::{Driver, Span, Taker};
use crate::counters::{Count, Counters};

impl Drive {
    /// Bytes of the frames that left: which of them a port refused, it alone knows.
    pub(super) fn sent_bytes(&self, sum: &Counters) -> u64 {
        let staged = sum.get(Count::TxBytes);
        let place = self.roles.tx;
        let Some(place) = place.filter(|_| sum.dropped(DropReason::TxRefused) != 0) else {
            return staged;
        };
        let answered: u64 = takers_of(&self.workers)
            .filter(|taker| taker.place == place)
            .map(|taker| taker.answering.bytes)
            .sum();
        let passed = self.passed().swap_remove(place);
        let left = passed.since(&self.before[place]).tx_bytes;
        left.saturating_sub(answered).min(staged)
    }
}

pub(super) fn senders_of(workers: &[Driver]) -> impl Iterator<Item = &Sender> {
    workers.iter().filter_map(|own| own.sender.as_ref())
}

/// Frames by which workers sent less than their rates have.
pub(super) fn short(workers: &[Driver]) -> Short {
    let parts = workers.iter().filter_map(short_of);
    parts.fold(Short::default(), |sum, part| Short {
        behind: sum.behind + part.behind,
        late: sum.late + part.late,
    })
}

fn short_of(worker: &Driver) -> Option<Short> {
    let sender = worker.sender.as_ref()?;
    let bytes = worker.counters.get(Count::TxBytes) as f64;
    let mean = match worker.counters.get(Count::Sent) {
        0 => sender.frame_bytes_mean,
        sent => bytes / sent as f64,
    };
    sender.short(worker.began, mean)
}

/// What a worker is late by that replays a capture.
pub(super) fn lag_nanos(worker: &Driver) -> Option<u64> {
    worker.sender.as_ref()?.lag_nanos(worker.began)
}

/// What was sent of each stream: one a sender, in their order.
pub(super) fn sent_streams(senders: &[&Sender], streams: &Range<u32>) -> Vec<StreamSent> {
    let sent = senders.iter().zip(streams.clone());
    sent.map(|(sender, stream)| StreamSent {
        stream: stream as u16,
        sent: sender.sent,
    })
    .collect()
}

/// What all workers took in at one port.
pub(super) fn taken_in(workers: &[Driver], place: usize) -> Option<SinkReport> {
    let mut sinks = takers_of(workers).filter(|taker| taker.place == place);
    let first = sinks.next()?;
    let mut sum = Sink::new(SinkLimits::default());
    sum.merge(&first.sink);
    sinks.for_each(|taker| sum.merge(&taker.sink));
    Some(sum.report())
}

/// What came to all workers at one port about the link.
pub(super) fn controls_at(workers: &[Driver], place: usize) -> Controls {
    let mut sum = Controls::default();
    takers_of(workers)
        .filter(|taker| taker.place == place)
        .for_each(|taker| sum.merge(&taker.answering.controls));
    sum
}

pub(super) fn takers_of(workers: &[Driver]) -> impl Iterator<Item = &Taker> {
    workers.iter().flat_map(|worker| &worker.takers)
}

pub(super) fn rx_span(workers: &[Driver]) -> Span {
    let mut sum = Span::default();
    takers_of(workers).for_each(|taker| sum.merge(taker.stamps));
    sum
}

/// A capture has one queue, which one sender reads.
pub(super) fn clock_steps(senders: &[&Sender]) -> ClockSteps {
    let mut steps = senders.iter().map(|sender| sender.feed.clock_steps());
    let read = steps.find(|steps| *steps != ClockSteps::default());
    read.unwrap_or_default()
}
