//! What a worker sends, and when: the frames that are due by its part of the rate, and what became
//! of its schedule.

use std::time::Duration;

use frame::{Burst, Frame, FramePool, Nanos};
use traffic::{Pacer, PacingError, Rate};

use super::feed::Feed;
use super::worker::Span;
use crate::clock::since_1970;
use crate::counters::{Count, Counters};

/// How late the end of a short run may be at most, nanoseconds: naps end late by less.
const LATE_END_NANOS: u64 = 1_000_000;
/// The same of a capture, whose frames may be due all at once, faster than any port takes them.
const LAG_END_NANOS: u64 = 50_000_000;

/// What a worker sends, and when.
pub(super) struct Sender {
    /// Which of the worker's ports it sends by.
    pub(super) place: usize,
    pub(super) feed: Feed,
    /// This worker's part of the rate.
    pub(super) rate: Rate,
    pub(super) burst_max: usize,
    /// Of what is made, bytes without FCS.
    pub(super) frame_bytes_mean: f64,
    pub(super) pacer: Pacer,
    /// Frames that it is to make, and those that it may still make.
    pub(super) asked: u64,
    pub(super) quota: u64,
    /// Frames that it made.
    pub(super) made: u64,
    /// Where there is a rate, for how long frames are due, and when that is over.
    pub(super) time_limit: Option<Duration>,
    pub(super) ends: Option<Nanos>,
    /// Frames that the port took.
    pub(super) sent: u64,
    /// The longest frame that the port which takes in has room for, where frames may be longer,
    /// and how many longer ones were made.
    pub(super) carried_max: Option<usize>,
    pub(super) longer: u64,
    /// Whether the port writes frames down with their times, and what the clock of those, which
    /// begins in 1970, is ahead of the kernel's monotonic one, nanoseconds.
    pub(super) records: bool,
    pub(super) since_1970: u64,
    /// When it last looked whether the port takes more.
    pub(super) looked: Nanos,
    /// When the port last took a frame.
    pub(super) last: Nanos,
    pub(super) stamps: Span,
}

impl Sender {
    /// The port refused frames that it had taken.
    pub(super) fn take_back(&mut self, refused: u64, counters: &mut Counters) {
        let refused = refused.min(counters.get(Count::Sent));
        counters.take_back(Count::Sent, refused);
        // A port does not say which frames: as many mean ones, and of none that was sent all.
        let bytes = match counters.get(Count::Sent) {
            0 => u64::MAX,
            _ => (refused as f64 * self.frame_bytes_mean) as u64,
        };
        counters.take_back(Count::TxBytes, bytes.min(counters.get(Count::TxBytes)));
        self.sent = self.sent.saturating_sub(refused);
    }

    pub(super) fn restart(&mut self, now: Nanos) {
        self.pacer = Pacer::new(self.rate, self.burst_max, now);
        self.pacer.set_frame_bytes(self.frame_bytes_mean);
        self.feed.restart(now);
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.ends = self.time_limit.map(|time| now.after(nanos(time)));
        (self.looked, self.last) = (now, now);
        self.since_1970 = since_1970().saturating_sub(now.0);
    }

    /// How well frames kept to their times, where they have any.
    pub(super) fn pacing(&self) -> Option<PacingError> {
        let paced = self.rate != Rate::Unlimited;
        self.feed
            .pacing()
            .or_else(|| paced.then(|| self.pacer.error()))
    }

    /// When there is something to make again.
    pub(super) fn next_due(&self) -> Nanos {
        self.feed.next_due().unwrap_or(self.pacer.next_due())
    }

    /// How long the schedule of what was sent takes, the distance to the next frame included, and
    /// that of frames that were due and never made; `None` where there is no rate, or it was not
    /// kept to.
    pub(super) fn schedule_nanos(&self, began: Nanos) -> Option<u64> {
        let kept = self.rate != Rate::Unlimited && self.pacer.error().lost_ns == 0;
        let ends = self.ends.filter(|_| self.unmade() != 0);
        let over = self
            .pacer
            .next_due()
            .max(self.last)
            .max(ends.unwrap_or(self.last));
        kept.then(|| over.since(began))
    }

    /// Frames that had not left when they were due, where that is more than a run of its length may
    /// have. `mean`: bytes of a frame that was sent.
    pub(super) fn short(&self, began: Nanos, mean: f64) -> Option<Short> {
        let per_second = self.rate.frames_per_second(mean)?;
        let put_off = frames_within(self.pacer.error().lost_ns, per_second);
        let late = self.pacer.late(self.last);
        let scheduled = self.last.since(began).saturating_sub(late);
        let late = if late > late_max(scheduled) { late } else { 0 };
        let late = (late as f64 / 1e9 * per_second).ceil() as u64;
        let unmade = self.unmade();
        let rest = self.asked - self.made;
        if rest == 0 {
            return Some(Short::sent_late(put_off + late, self.made));
        }
        // All that was due within its time was made.
        if self.ends.is_some() && unmade == 0 {
            let short = Short::sent_late(late, self.made);
            let behind = short.behind + put_off.min(rest);
            return Some(Short { behind, ..short });
        }
        let never = put_off + if unmade == 0 { late } else { unmade };
        Some(Short {
            behind: never.min(rest),
            late: 0,
        })
    }

    /// What a replay that keeps the pace of its capture is late by at its end, nanoseconds, where
    /// that is more than a run of its length may be.
    pub(super) fn lag_nanos(&self, began: Nanos) -> Option<u64> {
        let lost = self.feed.pacing()?.lost_ns;
        let scheduled = self.last.since(began).saturating_sub(lost);
        (lost > (scheduled / 200).max(LAG_END_NANOS)).then_some(lost)
    }

    /// Frames that were due before the end of its time and that nobody made.
    fn unmade(&self) -> u64 {
        let Some(ends) = self.ends.filter(|_| self.quota != 0) else {
            return 0;
        };
        let last = Nanos(ends.0.saturating_sub(1));
        let due = self.pacer.error().frames + self.pacer.left(last);
        due.saturating_sub(self.made).min(self.quota)
    }

    /// Gives frames that were made the times at which they were due; where there is no rate, all
    /// that of now.
    fn date(&self, staged: &mut Burst, now: Nanos) {
        let Feed::Made(_) = self.feed else {
            // Records of a capture keep theirs.
            return;
        };
        let mut schedule = self.pacer.clone();
        for frame in staged.frames_mut() {
            let due = match self.rate {
                Rate::Unlimited => now,
                _ => schedule.due_at(),
            };
            schedule.sent(1, frame.len() as u64);
            frame.meta_mut().time_ns = self.since_1970.saturating_add(due.0);
        }
    }

    /// Makes what is due, at most a burst. A frame that is due when the time is over is none of it,
    /// and one that was due before is, late as it may be.
    pub(super) fn make(
        &mut self,
        staged: &mut Burst,
        pool: &mut FramePool,
        now: Nanos,
        counters: &mut Counters,
    ) {
        let most = usize::try_from(self.quota).unwrap_or(usize::MAX);
        let last = self
            .ends
            .map_or(now, |ends| now.min(Nanos(ends.0.saturating_sub(1))));
        let due = self.pacer.due(last).min(most);
        if due == 0 && last != now {
            self.quota = 0;
        }
        if due != 0 {
            let made = self.feed.fill(staged, pool, due, now, counters);
            self.quota -= made as u64;
            self.made += made as u64;
            if self.records {
                self.date(staged, now);
            }
            if let Some(most) = self.carried_max {
                let longer = |frame: &&Frame| frame.len() > most;
                self.longer += staged.frames().iter().filter(longer).count() as u64;
            }
        }
    }
}

/// Frames by which a sender missed its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Short {
    /// Those that had not left when they were due.
    pub(super) behind: u64,
    /// Of those, such as left later.
    pub(super) late: u64,
}

impl Short {
    /// Of `made` frames that all left, in a time in which so many `more` were due: those that had
    /// not left in the time that they should have taken.
    fn sent_late(more: u64, made: u64) -> Self {
        let (more, made) = (u128::from(more), u128::from(made));
        let all = (more + made).max(1);
        let late = ((more * made + all / 2) / all) as u64;
        Self { behind: late, late }
    }
}

pub(super) fn bytes_of(frames: &[Frame]) -> u64 {
    frames.iter().map(|frame| frame.len() as u64).sum()
}

/// How late a run of such a schedule may end and still have kept to its rate, beyond the distance
/// of a frame: 0.5 % of its time; in a short run a millisecond, but no more than a tenth of it.
fn late_max(scheduled_nanos: u64) -> u64 {
    (scheduled_nanos / 200).max(LATE_END_NANOS.min(scheduled_nanos / 10))
}

fn frames_within(nanos: u64, per_second: f64) -> u64 {
    (nanos as f64 / 1e9 * per_second).round() as u64
}

/// The errors of all senders in one: means by their frames, the worst of the rest.
pub(super) fn together(errors: impl Iterator<Item = PacingError>) -> Option<PacingError> {
    errors.reduce(|sum, one| {
        let frames = sum.frames + one.frames;
        let late = sum.late_mean_ns * sum.frames as f64 + one.late_mean_ns * one.frames as f64;
        PacingError {
            frames,
            late_mean_ns: late / frames.max(1) as f64,
            late_max_ns: sum.late_max_ns.max(one.late_max_ns),
            lost_ns: sum.lost_ns.max(one.lost_ns),
            lost_times: sum.lost_times + one.lost_times,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_frames_that_all_left_no_more_can_be_late_than_there_are() {
        // Frames that were made, and how many more were due in the time that they took; late.
        for (made, more, late) in [
            (0, 0, 0),
            (1_000, 0, 0),
            (1_000, 5, 5),
            (1_000, 1_000, 500),
            (1_000, 99_000, 990),
            (1_000, u64::MAX, 1_000),
            (u64::MAX, u64::MAX, u64::MAX / 2 + 1),
        ] {
            let short = Short::sent_late(more, made);
            assert_eq!(short, Short { behind: late, late }, "{made} {more}");
        }
    }
}
