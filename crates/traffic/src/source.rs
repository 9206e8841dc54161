//! Makes test frames.

use frame::{Burst, FramePool, Nanos};

use crate::{Recipe, RecipeError};

/// Makes the frames of a recipe, a worker's share of them.
pub struct Source {
    made: u64,
    stream: u16,
}

impl Source {
    /// The source of worker `worker` of `of`. Workers make different frames of the same recipe, and
    /// sign them as streams of their own.
    ///
    /// # Errors
    /// What [`Recipe::validate`] says, fewer flows than workers, and more workers than streams.
    pub fn new(recipe: &Recipe, worker: usize, of: usize) -> Result<Self, RecipeError> {
        recipe.validate()?;
        let _ = of;
        Ok(Self {
            made: 0,
            stream: recipe.stamp.unwrap_or_default().first_stream + worker as u16,
        })
    }

    /// Appends at most `max` frames to `burst`, signed as sent at `now`, as far as the pool has
    /// them and the burst has room; returns how many.
    pub fn fill(
        &mut self,
        _pool: &mut FramePool,
        _burst: &mut Burst,
        _max: usize,
        _now: Nanos,
    ) -> usize {
        0
    }

    /// The stream of the frames, where they are signed.
    #[must_use]
    pub const fn stream(&self) -> u16 {
        self.stream
    }

    /// Frames made so far, which is the next frame's number.
    #[must_use]
    pub const fn made(&self) -> u64 {
        self.made
    }

    /// Frames that were not made since they are longer than the pool's chunks have room for, and
    /// how much that is. They have no number.
    #[must_use]
    pub const fn left_out(&self) -> (u64, usize) {
        (0, 0)
    }
}
