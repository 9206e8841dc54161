//! What arrived, and what is concluded from it.
//!
//! A frame whose check agrees is *sound* and counts in its stream. One whose check does not agree
//! is either a test frame that was *corrupted* or a *foreign* one. It is taken for corrupted if two
//! of three things are as they would be in a test frame of now: its stream is one that is known,
//! its number is near the stream's highest, its time of sending is within four seconds of that of
//! the last sound frame, both measured at arrival. One corrupted place spoils one of them. Of
//! foreign frames with random bytes one in 2^30 for each known stream is taken for corrupted; a
//! test frame of which the end is missing, or more than one of the three, is taken for foreign. So
//! is an ICMP error, which may quote a test frame.
//!
//! Order is that of a flow: frames of different flows may take different ways, over several queues
//! or links, and have none among each other. Each receiving worker has its own sink, and reordering
//! is what each saw for itself. A number that came to two workers is found when their sinks are
//! joined, as far as both recorded what they saw ([`SinkLimits::record`]).

#[cfg(test)]
mod oracle;
mod order;
mod record;
mod report;
mod run;
mod stream;
#[cfg(test)]
mod tests;
mod window;

use frame::{Frame, FrameMeta, Nanos};
use wire::IcmpError;

use self::order::Order;
use self::record::{Joined, Record};
pub use self::report::{SinkReport, StreamReport};
use self::run::Run;
use self::stream::Stream;
pub(crate) use self::window::{Arrival, Window};
use crate::signature::{Reading, Sound, read};
use crate::{Histogram, Signature};

/// Most streams, by memory: 209 MB at the default window.
const STREAMS_MAX: usize = 1 << 12;
/// Most numbers a window has.
const WINDOW_MAX: usize = 1 << 24;
/// Most blocks of a record: 1 GiB.
const RECORD_MAX: usize = 1 << 17;
/// Streams a corrupted frame may name before any is known: senders count them from 0.
const FIRST_STREAMS: u16 = 256;
/// How far from the highest number of its stream that of a corrupted frame may be.
const NEAR_NUMBERS: u64 = 1 << 20;
/// How far from that of the last sound frame the age of a corrupted one may be: 4.3 s in ns.
const NEAR_NANOS: u64 = 1 << 32;

/// How much a sink remembers, which bounds its memory whatever arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkLimits {
    /// Streams kept apart, 1 to 4,096; each takes 51 KB at the default window. Frames of further
    /// streams are counted together.
    pub streams: usize,
    /// Numbers of a stream below its highest of which it is known whether they arrived: a power of
    /// two from 64 to 2^24.
    pub window: usize,
    /// Where several workers take in: how much of what came is recorded, to be compared with
    /// theirs, in blocks of 65,536 numbers, 8 KiB each, up to 131,072. Nothing is by default.
    /// Frames beyond it are counted ([`StreamReport::uncompared`]).
    pub record: usize,
}

impl SinkLimits {
    /// For one of several workers: numbers up to 536,870,912 in one stream, 64 MiB when all are
    /// used.
    #[must_use]
    pub fn of_several() -> Self {
        Self {
            record: 1 << 13,
            ..Self::default()
        }
    }
}

impl Default for SinkLimits {
    /// 64 streams, 65,536 numbers, no record.
    fn default() -> Self {
        Self {
            streams: 64,
            window: 1 << 16,
            record: 0,
        }
    }
}

/// Takes in test frames. One a worker; [`Sink::merge`] joins them at the end.
pub struct Sink {
    limits: SinkLimits,
    streams: Vec<Stream>,
    order: Order,
    /// What came, to be compared with what came to others.
    record: Option<Record>,
    /// What came to all that were joined.
    joined: Joined,
    /// For each number of a stream its place in `streams`, plus one.
    places: Box<[u16]>,
    /// What was not counted in a stream.
    frames: u64,
    bytes: u64,
    beyond_streams: u64,
    corrupted: u64,
    foreign: u64,
    /// Frames of which a capture kept too little to tell.
    cut: u64,
    /// Frames whose arrival their interface's own clock told.
    stamped: u64,
    /// Arrivals are by another clock than the times in frames, so no latency is known.
    untimed: bool,
    /// Age of the last sound frame.
    age: i64,
    /// The highest number of any stream.
    highest: u64,
}

impl Sink {
    /// An empty sink. Limits out of range are taken as the nearest within.
    #[must_use]
    pub fn new(limits: SinkLimits) -> Self {
        let limits = SinkLimits {
            streams: limits.streams.clamp(1, STREAMS_MAX),
            window: limits.window.clamp(64, WINDOW_MAX).next_power_of_two(),
            record: limits.record.min(RECORD_MAX),
        };
        Self {
            limits,
            record: (limits.record > 0).then(|| Record::new(limits.record)),
            joined: Joined::default(),
            streams: Vec::new(),
            order: Order::new(),
            places: vec![0; 1 << 16].into_boxed_slice(),
            frames: 0,
            bytes: 0,
            beyond_streams: 0,
            corrupted: 0,
            foreign: 0,
            cut: 0,
            stamped: 0,
            untimed: false,
            age: 0,
            highest: 0,
        }
    }

    /// Takes note of a frame that arrived at `now`, which begins with its Ethernet header and is
    /// without FCS. Whether it is a test frame as it was sent.
    #[inline]
    pub fn take(&mut self, frame: &[u8], now: Nanos) -> bool {
        self.take_all([frame].into_iter(), now) == 1
    }

    /// Takes note of frames that arrived at `now`, in order; how many of them are test frames as
    /// they were sent. Cheaper than each by itself, and the same to every report.
    #[inline]
    pub fn take_burst(&mut self, frames: &[Frame], now: Nanos) -> usize {
        self.take_all(frames.iter().map(Frame::bytes), now)
    }

    /// As [`Sink::take_burst`], of an interface that stamps frames: what a frame's record says of
    /// the time it came by the interface's own clock is its arrival, and `now` where it says
    /// nothing.
    pub fn take_stamped(&mut self, frames: &[Frame], now: Nanos) -> usize {
        let mut sound = 0;
        for frame in frames {
            let told = frame.meta().and_then(FrameMeta::nic_time);
            self.stamped += u64::from(told.is_some());
            sound += self.take_all([frame.bytes()].into_iter(), told.unwrap_or(now));
        }
        sound
    }

    /// As [`Sink::take_burst`], of a capture: a frame arrived when its record says. That is by
    /// another clock than the time in the frame, so nothing is concluded from the two together; and
    /// of a frame that was cut, which has no signature, that it is cut.
    pub fn take_recorded(&mut self, frames: &[Frame]) -> usize {
        self.untimed = true;
        let mut all = 0;
        for frame in frames {
            let (time_ns, original_len) = match frame.meta() {
                Some(meta) => (meta.time_ns, meta.original_len as usize),
                None => (0, 0),
            };
            if original_len > frame.len() && !matches!(read(frame.bytes()), Reading::Sound(_)) {
                self.cut += 1;
                self.frames += 1;
                self.bytes += frame.len() as u64;
                continue;
            }
            all += self.take_all([frame.bytes()].into_iter(), Nanos(time_ns));
        }
        all
    }

    #[inline(always)]
    fn take_all<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>, now: Nanos) -> usize {
        let (mut sound, mut count, mut bytes) = (0, 0, 0);
        let mut run = None::<Run>;
        for frame in frames {
            count += 1;
            bytes += frame.len();
            match read(frame) {
                Reading::Sound(Sound { signature, flow }) => {
                    sound += 1;
                    let Signature {
                        stream, sequence, ..
                    } = signature;
                    let overtaken = self.order.take(stream, flow, sequence);
                    let follows = overtaken.is_none()
                        && run
                            .as_mut()
                            .is_some_and(|run| run.extend(&signature, frame.len()));
                    if !follows {
                        let next = Run::of(signature, frame.len(), overtaken);
                        self.take_run(run.replace(next), now);
                    }
                }
                Reading::Unsound(candidates) => {
                    // Judged by the frames before it.
                    self.take_run(run.take(), now);
                    self.take_unsound(frame, candidates, now);
                }
            }
        }
        self.take_run(run, now);
        self.frames += count;
        self.bytes += bytes as u64;
        sound
    }

    #[inline]
    fn take_run(&mut self, run: Option<Run>, now: Nanos) {
        let Some(run) = run else { return };
        self.age = run.first().age(now);
        self.highest = self.highest.max(run.last());
        let number = run.first().stream;
        let place = self.place(number).or_else(|| self.open(number));
        match place.and_then(|place| self.streams.get_mut(place)) {
            Some(stream) => stream.take(&run, (!self.untimed).then_some(now), self.record.as_mut()),
            None => self.beyond_streams += run.count(),
        }
    }

    #[cold]
    fn take_unsound(&mut self, frame: &[u8], candidates: [Option<Signature>; 2], now: Nanos) {
        let ours = |signature: &Signature| {
            // An error that quotes a whole test frame ends as that one does.
            self.is_plausible(signature, now) && IcmpError::read(frame).is_none()
        };
        let Some(signature) = candidates.into_iter().flatten().find(ours) else {
            self.foreign += 1;
            return;
        };
        self.corrupted += 1;
        if let Some(place) = self.place(signature.stream)
            && let Some(stream) = self.streams.get_mut(place)
        {
            stream.corrupted += 1;
        }
    }

    /// Whether what stands where a signature would is that of a corrupted test frame.
    fn is_plausible(&self, signature: &Signature, now: Nanos) -> bool {
        let stream = self
            .place(signature.stream)
            .and_then(|place| self.streams.get(place));
        let is_known = if self.streams.is_empty() {
            signature.stream < FIRST_STREAMS
        } else {
            stream.is_some()
        };
        let is_near = match stream.and_then(Stream::highest) {
            Some(highest) => highest.abs_diff(signature.sequence) <= NEAR_NUMBERS,
            None => signature.sequence <= self.highest + NEAR_NUMBERS,
        };
        let is_of_now = signature.age(now).abs_diff(self.age) < NEAR_NANOS;
        u8::from(is_known) + u8::from(is_near) + u8::from(is_of_now) >= 2
    }

    /// Where a stream is among those known.
    #[inline]
    fn place(&self, stream: u16) -> Option<usize> {
        let place = self.places.get(usize::from(stream)).copied();
        usize::from(place.unwrap_or(0)).checked_sub(1)
    }

    /// Makes a place for a stream, if there may be one more.
    #[cold]
    fn open(&mut self, stream: u16) -> Option<usize> {
        if self.streams.len() >= self.limits.streams {
            return None;
        }
        self.streams.push(Stream::new(stream, self.limits.window));
        if let Some(place) = self.places.get_mut(usize::from(stream)) {
            *place = self.streams.len() as u16;
        }
        self.streams.len().checked_sub(1)
    }

    /// Joins what another worker's sink saw, at the end: sums, and of a stream that both saw the
    /// span of its numbers and the numbers that came to both. Order is what each saw for itself,
    /// and the latency of a number that came to both counts twice. Nothing more is to be taken
    /// then.
    pub fn merge(&mut self, other: &Self) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.beyond_streams += other.beyond_streams;
        self.corrupted += other.corrupted;
        self.foreign += other.foreign;
        self.cut += other.cut;
        self.stamped += other.stamped;
        self.highest = self.highest.max(other.highest);
        for theirs in &other.streams {
            let place = self.place(theirs.number());
            let place = place.or_else(|| self.open(theirs.number()));
            match place.and_then(|place| self.streams.get_mut(place)) {
                Some(stream) => stream.merge(theirs),
                None => self.beyond_streams += theirs.received(),
            }
        }
        if let Some(own) = self.record.take() {
            self.joined.add(&own);
        }
        let twice = other.record.as_ref().map(|theirs| self.joined.add(theirs));
        for (stream, numbers) in twice.unwrap_or_default() {
            let place = self.place(stream);
            if let Some(stream) = place.and_then(|place| self.streams.get_mut(place)) {
                stream.came_to_others(numbers);
            }
        }
    }

    /// What is known so far.
    #[must_use]
    pub fn report(&self) -> SinkReport {
        let mut streams: Vec<_> = self.streams.iter().map(Stream::report).collect();
        streams.sort_by_key(|stream| stream.stream);
        SinkReport {
            frames: self.frames,
            bytes: self.bytes,
            streams,
            beyond_streams: self.beyond_streams,
            corrupted: self.corrupted,
            foreign: self.foreign,
            cut: self.cut,
            stamped: self.stamped,
            latency: self.latency().report(),
        }
    }

    /// The latencies of all streams.
    #[must_use]
    pub fn latency(&self) -> Histogram {
        let mut all = Histogram::new();
        self.streams
            .iter()
            .for_each(|stream| all.merge(stream.latency()));
        all
    }
}
