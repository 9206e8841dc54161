//! The answers of a daemon, and the rates between them.

use std::collections::VecDeque;

use daemon::rpc::answers::{DropFacts, HitAddress, Hits, PortFacts, SetHits, Status, WorkerFacts};

/// How far back the sparklines reach at most, seconds.
pub(super) const REACH_SECONDS: usize = 300;

/// All that one moment of the sparklines shows, a second each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moment {
    /// Received frames.
    pub(super) received: f64,
    /// Dropped frames.
    pub(super) dropped: f64,
    /// Frames that hit a set on either side.
    pub(super) hits: f64,
}

/// The last two answers and what the ones before came to.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    before: Option<Status>,
    now: Option<Status>,
    /// The addresses hit most.
    hits: Option<Hits>,
    /// One a second of the daemon's time, the last one newest.
    moments: VecDeque<Moment>,
    /// The daemon's second that the newest belongs to.
    second: u64,
}

/// A count and what it grew by in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figure {
    pub(super) total: u64,
    pub(super) rate: f64,
}

impl History {
    /// Takes the next answer. A daemon that started again begins a new history.
    pub(super) fn take(&mut self, status: Status) {
        let restarted = self
            .now
            .as_ref()
            .is_some_and(|now| status.seconds < now.seconds);
        if restarted {
            *self = Self::default();
        }
        self.before = self.now.replace(status);
        if let Some(moment) = self.moment() {
            self.remember(moment);
        }
    }

    /// Takes the addresses hit most.
    pub(super) fn take_hits(&mut self, hits: Hits) {
        self.hits = Some(hits);
    }

    /// The addresses hit most, most first.
    pub(super) fn talkers(&self) -> &[HitAddress] {
        self.hits.as_ref().map_or(&[], |hits| &hits.top)
    }

    pub(super) fn now(&self) -> Option<&Status> {
        self.now.as_ref()
    }

    /// The mean of each piece of `REACH_SECONDS` in `columns` of them, oldest first; seconds
    /// before the first answer are left out.
    pub(super) fn line(&self, columns: usize, of: fn(&Moment) -> f64) -> Vec<f64> {
        let width = Self::seconds_a_column(columns) as u64;
        let first = (self.second + 1).saturating_sub(self.moments.len() as u64);
        let mut line: Vec<(u64, f64, u32)> = Vec::new();
        for (second, moment) in (first..).zip(&self.moments) {
            // By the daemon's clock, so that a column keeps its seconds while it moves left.
            let column = second / width;
            match line.last_mut() {
                Some(last) if last.0 == column => {
                    last.1 += of(moment);
                    last.2 += 1;
                }
                _ => line.push((column, of(moment), 1)),
            }
        }
        let skipped = line.len().saturating_sub(columns);
        let means = line[skipped..].iter();
        means
            .map(|&(_, sum, count)| sum / f64::from(count))
            .collect()
    }

    /// How many seconds one of `columns` stands for.
    pub(super) fn seconds_a_column(columns: usize) -> usize {
        REACH_SECONDS.div_ceil(columns.max(1))
    }

    /// A count of the whole, then and now.
    pub(super) fn figure(&self, count: impl Fn(&Status) -> u64) -> Figure {
        let (Some(now), before) = (&self.now, &self.before) else {
            return Figure::default();
        };
        let total = count(now);
        let rate = before.as_ref().map_or(0.0, |before| {
            let seconds = now.seconds - before.seconds;
            if seconds > 0.0 {
                total.saturating_sub(count(before)) as f64 / seconds
            } else {
                0.0
            }
        });
        Figure { total, rate }
    }

    pub(super) fn port(&self, name: &str, count: fn(&PortFacts) -> u64) -> Figure {
        self.figure(|status| {
            let port = status.ports.iter().find(|port| port.port == name);
            port.map_or(0, count)
        })
    }

    pub(super) fn worker(&self, number: u32, count: fn(&WorkerFacts) -> u64) -> Figure {
        self.figure(|status| {
            let worker = status.workers.iter().find(|one| one.worker == number);
            worker.map_or(0, count)
        })
    }

    pub(super) fn drops(&self, reason: &str) -> Figure {
        self.figure(|status| {
            let found = status.drops.iter().find(|one| one.reason == reason);
            found.map_or(0, |one: &DropFacts| one.frames)
        })
    }

    pub(super) fn hits(&self, set: &str, count: fn(&SetHits) -> u64) -> Figure {
        self.figure(|status| {
            let found = status.sets.iter().find(|one| one.set == set);
            found.map_or(0, count)
        })
    }

    fn moment(&self) -> Option<Moment> {
        self.before.as_ref()?;
        let received = |status: &Status| {
            status
                .workers
                .iter()
                .map(|worker| worker.frames)
                .sum::<u64>()
        };
        let dropped = |status: &Status| status.drops.iter().map(|one| one.frames).sum::<u64>();
        let hits = |status: &Status| {
            let sides = status.sets.iter().map(|set| set.source + set.destination);
            sides.sum::<u64>()
        };
        Some(Moment {
            received: self.figure(received).rate,
            dropped: self.figure(dropped).rate,
            hits: self.figure(hits).rate,
        })
    }

    /// Every second since the last answer gets this moment, however long that is ago.
    fn remember(&mut self, moment: Moment) {
        let second = self.now.as_ref().map_or(0.0, |now| now.seconds) as u64;
        let passed = second.saturating_sub(self.second).max(1);
        let passed = if self.moments.is_empty() { 1 } else { passed };
        for _ in 0..passed.min(REACH_SECONDS as u64) {
            self.moments.push_back(moment);
        }
        self.second = second;
        let superfluous = self.moments.len().saturating_sub(REACH_SECONDS);
        self.moments.drain(..superfluous);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64, frames: u64) -> Status {
        Status {
            seconds,
            workers: vec![WorkerFacts {
                frames,
                ..WorkerFacts::default()
            }],
            ..Status::default()
        }
    }

    fn received(history: &History) -> f64 {
        history.worker(0, |worker| worker.frames).rate
    }

    #[test]
    fn rates_are_of_the_daemons_seconds() {
        let mut history = History::default();
        history.take(at(10.0, 1_000));
        assert_eq!(received(&history), 0.0);
        history.take(at(12.0, 5_000));
        assert_eq!(received(&history), 2_000.0);
    }

    #[test]
    fn a_daemon_that_started_again_begins_anew() {
        let mut history = History::default();
        history.take(at(10.0, 1_000));
        history.take(at(11.0, 2_000));
        history.take(at(0.5, 10));
        assert_eq!(received(&history), 0.0);
        assert!(history.line(60, |moment| moment.received).is_empty());
    }

    #[test]
    fn columns_keep_their_seconds() {
        let mut history = History::default();
        for second in 0..=20_u64 {
            history.take(at(second as f64, second * second));
        }
        assert_eq!(History::seconds_a_column(60), 5);
        let line = history.line(60, |moment| moment.received);
        // The seconds 1 to 20 have the rates 1, 3, 5, ...: their means by fives.
        assert_eq!(line, [4.0, 13.0, 23.0, 33.0, 39.0]);
        let last_two = history.line(2, |moment| moment.received);
        assert_eq!(last_two.len(), 1);
    }

    #[test]
    fn a_gap_is_filled_and_old_seconds_go() {
        let mut history = History::default();
        history.take(at(0.0, 0));
        history.take(at(1.0, 10));
        history.take(at(11.0, 110));
        assert_eq!(history.moments.len(), 11);
        history.take(at(1e6, 110));
        assert_eq!(history.moments.len(), REACH_SECONDS);
    }
}
