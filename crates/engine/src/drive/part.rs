//! One sender's part of a trial: its share of the frames and of the rate, and what it makes.

use frame::Nanos;
use traffic::{Pacer, Rate, Source};

use super::Trial;
use super::feed::{Feed, Replay};
use super::open::Roles;
use super::sender::Sender;
use super::worker::Span;
use crate::EngineError;

/// One sender's part of a trial.
pub(super) struct Part<'a> {
    pub(super) trial: &'a Trial,
    pub(super) of: usize,
    pub(super) nth: usize,
    pub(super) burst: usize,
    pub(super) carried_max: Option<usize>,
    /// Whether the port that sends writes frames down with their times.
    pub(super) records: bool,
}

impl Part<'_> {
    pub(super) fn feed(&self, roles: Roles) -> Result<Feed, EngineError> {
        if let Some((place, speed)) = roles.replay {
            return Ok(Feed::Replayed(Box::new(Replay::new(place, speed))));
        }
        let source =
            Source::new(&self.trial.recipe, self.nth, self.of).map_err(EngineError::Recipe)?;
        Ok(Feed::Made(Box::new(source)))
    }

    pub(super) fn sender(&self, place: usize, feed: Feed) -> Sender {
        let (of, nth) = (self.of, self.nth);
        let share = Share { of, nth };
        let paced = self.trial.rate != Rate::Unlimited;
        let rate = share.rate(self.trial.rate);
        let quota = share.quota(self.trial);
        Sender {
            place,
            time_limit: self.trial.duration.filter(|_| paced),
            frame_bytes_mean: self.trial.recipe.sizes.frame_bytes_mean(),
            feed,
            rate,
            burst_max: self.burst,
            pacer: Pacer::new(rate, self.burst, Nanos::ZERO),
            asked: quota,
            quota,
            made: 0,
            ends: None,
            sent: 0,
            carried_max: self.carried_max,
            longer: 0,
            records: self.records,
            since_1970: 0,
            looked: Nanos::ZERO,
            last: Nanos::ZERO,
            stamps: Span::default(),
        }
    }
}

/// One of several senders.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) of: usize,
    pub(super) nth: usize,
}

impl Share {
    /// Of a whole, even parts, the rest to the first ones.
    pub(super) const fn part(self, whole: u64) -> u64 {
        let (of, nth) = (self.of as u64, self.nth as u64);
        whole / of + (nth < whole % of) as u64
    }

    /// Of a whole, the parts of all senders before this one.
    const fn parts_before(self, whole: u64) -> u64 {
        let (of, nth) = (self.of as u64, self.nth as u64);
        let rest = if nth < whole % of { nth } else { whole % of };
        whole / of * nth + rest
    }

    fn rate(self, rate: Rate) -> Rate {
        let units = rate.units();
        units.map_or(Rate::Unlimited, |units| rate.with_units(self.part(units)))
    }

    /// How many frames to send: of those asked for, or of those that the rate has in the time, as
    /// many as the sender's part of the rate.
    fn quota(self, trial: &Trial) -> u64 {
        let due = trial
            .duration
            .and_then(|time| trial.rate.frames_within(time));
        let frames = trial.count.into_iter().chain(due).min();
        match (frames, trial.rate.units()) {
            (None, _) => u64::MAX,
            (Some(frames), None) => self.part(frames),
            (Some(frames), Some(units)) => {
                let before = self.parts_before(units);
                // Whatever has to be rounded: the parts are all frames together.
                let until = |part: u64| {
                    let frames = u128::from(frames) * u128::from(part);
                    frames.div_ceil(units.into()) as u64
                };
                until(before + self.part(units)) - until(before)
            }
        }
    }
}
