//! The queue of a capture port: one reader, one writer, or both.

use std::ops::ControlFlow;

use frame::{Burst, FrameMeta, FramePool, PortId, QueueId};
use wire::TunnelPorts;

use super::{CaptureReader, CaptureWriter, Loops, Step};
use crate::{PortError, PortQueue, PortStatistics, RxState};

/// A capture that is read, perhaps several times.
pub(super) struct Input {
    /// Taken only while it is rewound; gone when that failed.
    reader: Option<CaptureReader>,
    loops: Loops,
    failure: Option<PortError>,
    warnings: Vec<String>,
    missed: u64,
    ended: bool,
    /// How often it was begun again.
    rounds: u64,
    /// Whether frames that were cut within their addresses are counted.
    looks_up: bool,
    times: Times,
}

/// The times of a capture that is read again: a round begins where the one before had come to.
#[derive(Default)]
struct Times {
    /// The first time of the capture.
    first_ns: Option<u64>,
    latest_ns: u64,
    /// What is added to the times of this round.
    ahead_ns: u64,
}

impl Times {
    /// The time of a record of this round. One without a time has none in any round.
    #[inline]
    fn of(&mut self, time_ns: u64) -> u64 {
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        if time_ns == 0 && first_ns != 0 {
            return 0;
        }
        let time_ns = time_ns.saturating_add(self.ahead_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
        time_ns
    }

    fn again(&mut self) {
        self.ahead_ns = self.latest_ns.saturating_sub(self.first_ns.unwrap_or(0));
    }
}

impl Input {
    pub(super) fn new(reader: CaptureReader, loops: Loops, looks_up: bool) -> Self {
        let (failure, warnings) = (None, Vec::new());
        Self {
            reader: Some(reader),
            loops,
            failure,
            warnings,
            missed: 0,
            ended: false,
            rounds: 0,
            looks_up,
            times: Times::default(),
        }
    }

    /// Begins the capture again if it should be; whether it did.
    fn again(&mut self) -> bool {
        let more = match &mut self.loops {
            Loops::Forever => true,
            Loops::Times(times) => {
                *times = times.saturating_sub(1);
                *times > 0
            }
        };
        let Some(reader) = self.reader.take() else {
            return false;
        };
        self.failure = reader.failure();
        self.missed = reader.missed();
        // A capture without frames would be read for ever without giving one.
        if !more || self.failure.is_some() || reader.frames() == 0 {
            self.warnings = reader.warnings();
            self.warnings.extend(reader.emptiness());
            return false;
        }
        match reader.rewound() {
            Ok(reader) => {
                (self.reader, self.rounds) = (Some(reader), self.rounds + 1);
                self.times.again();
            }
            Err(error) => self.failure = Some(error),
        }
        self.reader.is_some()
    }

    fn missed(&self) -> u64 {
        self.reader
            .as_ref()
            .map_or(self.missed, CaptureReader::missed)
    }
}

/// After so many turns of the worker without a frame, what has gathered is written out: whoever
/// looks at the file while the source pauses sees all of it. Fewer would cost a busy worker, which
/// takes several turns a burst, a system call each time.
const QUIET_TURNS: u32 = 64;

/// The one queue of a capture port.
pub(super) struct PcapQueue {
    port: PortId,
    queue: QueueId,
    input: Option<Input>,
    /// The writer, and whether its reader may be waiting for each burst.
    writer: Option<(CaptureWriter, bool)>,
    start_time_ns: u64,
    statistics: PortStatistics,
    /// The round of the input that the last frame was of.
    round: u64,
    /// Turns of the worker since a frame was sent.
    quiet_turns: u32,
}

impl PcapQueue {
    pub(super) fn new(
        port: PortId,
        queue: QueueId,
        input: Option<Input>,
        writer: Option<(CaptureWriter, bool)>,
        start_time_ns: u64,
    ) -> Self {
        let statistics = PortStatistics::default();
        Self {
            port,
            queue,
            input,
            writer,
            start_time_ns,
            statistics,
            round: 0,
            quiet_turns: 0,
        }
    }
}

impl PortQueue for PcapQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let Some(input) = &mut self.input else {
            return RxState::Ended;
        };
        if input.ended {
            return RxState::Ended;
        }
        let most = max.min(burst.room());
        let mut left = most;
        while left > 0 {
            let Some(reader) = &mut input.reader else {
                break;
            };
            // The frame first: a record that was read must have a place.
            let Some(mut frame) = pool.alloc() else {
                return RxState::Open;
            };
            let capacity = frame.capacity();
            let step = reader.next();
            let Step::Record(record) = step else {
                let (left_out, ended) = (matches!(step, Step::LeftOut(_)), step == Step::Ended);
                pool.free(frame);
                if left_out {
                    continue;
                }
                if !ended {
                    return RxState::Open;
                }
                if !input.again() {
                    break;
                }
                if left < most {
                    return RxState::Open;
                }
                continue;
            };
            let len = record.bytes.len();
            if frame.copy_from(record.bytes).is_err() {
                reader.oversized(len, capacity);
                pool.free(frame);
                continue;
            }
            let (time_ns, original_len) = (input.times.of(record.time_ns), record.original_len);
            if input.looks_up && addresses_cut(frame.bytes(), original_len) {
                reader.addresses_cut();
            }
            *frame.meta_mut() = FrameMeta {
                time_ns,
                original_len,
                port: self.port,
                queue: self.queue,
                ..FrameMeta::default()
            };
            self.statistics.rx_frames += 1;
            self.statistics.rx_bytes += len as u64;
            if let Err(frame) = burst.push(frame) {
                pool.free(frame); // `left` never exceeds the room, so this cannot be
            }
            self.round = input.rounds;
            left -= 1;
        }
        input.ended = left > 0;
        if input.ended {
            RxState::Ended
        } else {
            RxState::Open
        }
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let Some((writer, live)) = &mut self.writer else {
            return;
        };
        self.quiet_turns = 0;
        let mut taken = 0;
        for frame in burst.frames() {
            let (time_ns, original_len) = time_and_len(frame, self.start_time_ns);
            if !writer.write(time_ns, original_len, frame.bytes()) {
                break;
            }
            taken += 1;
            self.statistics.tx_frames += 1;
            self.statistics.tx_bytes += frame.len() as u64;
        }
        if taken == burst.len() {
            pool.free_burst(burst);
        } else {
            burst.drain_front(taken).for_each(|frame| pool.free(frame));
        }
        if *live && taken > 0 {
            writer.flush();
        }
    }

    fn reclaim(&mut self, _: &mut FramePool) {
        self.quiet_turns = self.quiet_turns.saturating_add(1);
        if self.quiet_turns == QUIET_TURNS
            && let Some((writer, _)) = &mut self.writer
        {
            writer.flush();
        }
    }

    fn rounds(&self) -> u64 {
        self.round
    }

    fn statistics(&self) -> PortStatistics {
        let missed = self.input.as_ref().map_or(0, Input::missed);
        PortStatistics {
            missed,
            ..self.statistics
        }
    }

    fn failed(&self) -> bool {
        self.writer
            .as_ref()
            .is_some_and(|(writer, _)| writer.failed())
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        let written = self
            .writer
            .as_mut()
            .map_or(Ok(Vec::new()), |(writer, _)| writer.finish());
        let mut warnings = written?;
        if let Some(input) = &mut self.input {
            if let Some(failure) = input.failure.take() {
                return Err(failure);
            }
            match &input.reader {
                Some(reader) => warnings.extend(reader.warnings()),
                None => warnings.append(&mut input.warnings),
            }
        }
        Ok(warnings)
    }
}

/// Whether a frame was cut before the end of the addresses of its packet, or of one inside that.
fn addresses_cut(bytes: &[u8], original_len: u32) -> bool {
    if bytes.len() >= original_len as usize {
        return false;
    }
    let outer = wire::parse(bytes, original_len as usize);
    let mut cut = outer.addresses_cut();
    TunnelPorts::default().each(bytes, &outer, |tunnel| {
        cut |= tunnel.inner.addresses_cut();
        ControlFlow::Continue(())
    });
    cut
}

/// What a capture says of a frame. One without a receive time gets that of the run's start; the
/// times of captured frames (those with an original length) stay, also when they are 0.
#[inline]
pub(crate) fn time_and_len(frame: &frame::Frame, start_time_ns: u64) -> (u64, u32) {
    let len = frame.len() as u32;
    match frame.meta() {
        Some(meta) if meta.original_len != 0 => (meta.time_ns, meta.original_len),
        Some(meta) if meta.time_ns != 0 && !meta.by_card => (meta.time_ns, len),
        _ => (start_time_ns, len),
    }
}
