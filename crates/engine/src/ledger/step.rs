//! One step of a frame's way: two columns at one place, and what stands between them.

use super::{Cause, Column};

/// A named part of the difference between two columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub cause: Cause,
    /// The queue, where the one who counted tells.
    pub queue: Option<u32>,
    /// Whether the frames are in the later column and not in the earlier one.
    pub adds: bool,
    /// What was counted for certain.
    pub least: u64,
    /// What it can be at most: more than `least` where a counter counts others' frames too.
    pub most: u64,
    /// The frames that it stands for, from `least` to `most`.
    pub frames: u64,
}

/// Two columns at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A port, or what does with frames.
    pub place: String,
    /// The earlier column.
    pub from: Column,
    /// The later one.
    pub to: Column,
    /// Frames in the earlier column.
    pub before: u64,
    /// Frames in the later one.
    pub after: u64,
    /// What is between them, those with no frames left out.
    pub differences: Vec<Difference>,
    /// What no name stands for: frames that are missing, or negative those that are too many.
    pub unexplained: i128,
}

impl Step {
    /// From so many frames in one column to so many in the next.
    #[must_use]
    pub fn new(place: &str, from: (Column, u64), to: (Column, u64)) -> Self {
        let step = Self {
            place: place.to_owned(),
            from: from.0,
            to: to.0,
            before: from.1,
            after: to.1,
            differences: Vec::new(),
            unexplained: 0,
        };
        step.closed()
    }

    /// Frames of the earlier column that are not in the later one.
    #[must_use]
    pub fn lost(self, cause: impl Into<Cause>, queue: Option<u32>, frames: u64) -> Self {
        self.lost_up_to(cause, queue, frames, frames)
    }

    /// The same, of which only bounds are known. Where several such could stand for a frame, the
    /// first that was named does.
    #[must_use]
    pub fn lost_up_to(
        self,
        cause: impl Into<Cause>,
        queue: Option<u32>,
        least: u64,
        most: u64,
    ) -> Self {
        self.with(cause.into(), queue, false, least, most)
    }

    /// Frames of the later column that are not in the earlier one.
    #[must_use]
    pub fn gained(self, cause: impl Into<Cause>, queue: Option<u32>, frames: u64) -> Self {
        self.gained_up_to(cause, queue, frames, frames)
    }

    /// The same, of which only bounds are known.
    #[must_use]
    pub fn gained_up_to(
        self,
        cause: impl Into<Cause>,
        queue: Option<u32>,
        least: u64,
        most: u64,
    ) -> Self {
        self.with(cause.into(), queue, true, least, most)
    }

    fn with(mut self, cause: Cause, queue: Option<u32>, adds: bool, least: u64, most: u64) -> Self {
        let most = most.max(least);
        if most == 0 {
            return self;
        }
        self.differences.push(Difference {
            cause,
            queue,
            adds,
            least,
            most,
            frames: least,
        });
        self.closed()
    }

    /// Lets what is known only by its bounds stand for what the rest does not.
    fn closed(mut self) -> Self {
        self.differences
            .iter_mut()
            .for_each(|part| part.frames = part.least);
        let mut gap = i128::from(self.before) - i128::from(self.after);
        for part in &self.differences {
            gap -= signed(part.adds, part.least);
        }
        for part in &mut self.differences {
            // Frames are missing, or there are too many.
            if part.adds == (gap < 0) {
                let room = i128::from(part.most - part.least);
                let taken = gap.abs().min(room);
                part.frames += taken as u64;
                gap -= if part.adds { -taken } else { taken };
            }
        }
        self.unexplained = gap;
        self
    }

    /// The parts that stand for any frames.
    pub fn named(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|part| part.frames != 0)
    }
}

fn signed(adds: bool, frames: u64) -> i128 {
    let frames = i128::from(frames);
    if adds { -frames } else { frames }
}
