//! The queue of a capture port: one reader, one writer, or both.

use frame::{Burst, FramePool, PortId, QueueId};

use super::CaptureWriter;
use super::input::{Filled, Input};
use crate::{PortError, PortQueue, PortStatistics, RxState};

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
            // The frame first: a record that was read must have a place.
            let Some(mut frame) = pool.alloc() else {
                return RxState::Open;
            };
            let filled = input.fill(&mut frame);
            if filled != Filled::Frame {
                pool.free(frame);
                match filled {
                    Filled::Waiting => return RxState::Open,
                    Filled::Ended if !input.again() => break,
                    Filled::Ended if left < most => return RxState::Open,
                    _ => continue,
                }
            }
            let meta = frame.meta_mut();
            (meta.port, meta.queue) = (self.port, self.queue);
            self.statistics.rx_bytes += frame.len() as u64;
            self.statistics.rx_frames += 1;
            if let Err(frame) = burst.push(frame) {
                pool.free(frame); // `left` never exceeds the room, so this cannot be
            }
            self.round = input.rounds();
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
            warnings.extend(input.finish()?);
        }
        Ok(warnings)
    }
}

/// What a capture says of a frame. One without a receive time gets that of the run's start; the
/// times of captured frames (those with an original length) stay, also when they are 0.
#[inline]
pub(crate) fn time_and_len(frame: &frame::Frame, start_time_ns: u64) -> (u64, u32) {
    let len = frame.len() as u32;
    match frame.meta() {
        Some(meta) if meta.original_len != 0 => (meta.time_ns, meta.original_len),
        Some(meta) if meta.time_ns != 0 && !meta.by_nic => (meta.time_ns, len),
        _ => (start_time_ns, len),
    }
}
