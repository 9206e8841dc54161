//! Makes test frames.

mod draws;
mod flow;
mod link;
mod make;
mod renewal;
mod samples;
mod segment;
mod shape;
mod steering;
mod template;
mod unicast;

use frame::{Burst, FramePool, Nanos};

use self::draws::Draws;
use self::flow::FlowMaker;
use self::make::Making;
use self::renewal::Renewal;
pub use self::steering::BUCKETS;
use self::steering::Steering;
use self::template::Template;
use crate::random::Random;
use crate::sizes::SizeDraws;
use crate::{Flows, Recipe, RecipeError, Share, Sizes};

/// The stream of random numbers that sizes come from, apart from those of the workers' draws.
const SIZES_STREAM: u64 = 1 << 32;

/// What the sources of all workers have in common: samples are laid out once.
pub struct Sources {
    recipe: Recipe,
    flows: FlowMaker,
    template: Template,
}

impl Sources {
    /// Prepares a recipe.
    ///
    /// # Errors
    /// What [`Recipe::validate`] says.
    pub fn new(recipe: &Recipe) -> Result<Self, RecipeError> {
        recipe.validate()?;
        Ok(Self {
            flows: FlowMaker::new(recipe),
            template: Template::new(recipe),
            recipe: recipe.clone(),
        })
    }

    /// Most workers: each has at least one flow and a stream of its own, and can be steered.
    #[must_use]
    pub fn workers_max(&self) -> usize {
        let flows = match self.recipe.flows {
            Flows::Endless => u32::MAX,
            Flows::Fixed(count) | Flows::Renewed { count, .. } => count,
        };
        let stamp = self.recipe.stamp;
        let streams = stamp.map_or(BUCKETS, |stamp| {
            usize::from(u16::MAX - stamp.first_stream) + 1
        });
        BUCKETS.min(flows as usize).min(streams)
    }

    /// Bytes in memory of the longest frame.
    #[must_use]
    pub fn frame_bytes_max(&self) -> usize {
        let asked = self.recipe.sizes.frame_bytes_max();
        let v4 = if self.recipe.ipv6 == Share::ALL {
            0
        } else {
            self.template.frame_bytes_min_v4()
        };
        let v6 = if self.recipe.ipv6 == Share::NONE {
            0
        } else {
            self.template.frame_bytes_min_v6()
        };
        asked.max(v4).max(v6)
    }

    /// The source of worker `worker` of `of`. Workers make different frames of the same recipe, and
    /// sign them as streams of their own. With `steered`, a worker makes only frames that RSS with
    /// the symmetric key would lead to it: of ports that are not random.
    ///
    /// # Errors
    /// A worker that is not there, and more workers than [`Self::workers_max`].
    pub fn source(&self, worker: usize, of: usize, steered: bool) -> Result<Source, RecipeError> {
        let most = self.workers_max();
        if worker >= of || of > most {
            return Err(RecipeError::new(format!(
                "{of} workers (this is number {worker}) are more than the {most} that these flows \
                 and streams can be shared out to; give fewer workers or more flows"
            )));
        }
        let (number, total) = (worker as u64, of as u64);
        let stamp = self.recipe.stamp;
        Ok(Source {
            draws: self.draws(number, total),
            flows: self.flows.clone(),
            template: self.template.clone(),
            steering: (steered && of > 1).then(|| Box::new(Steering::new(worker, of))),
            sizes: SizeDraws::new(&self.recipe.sizes),
            sizes_random: Random::new(self.recipe.seed, SIZES_STREAM | number),
            fixed_len: self.fixed_len(),
            stream: stamp.map(|stamp| stamp.first_stream + worker as u16),
            made: 0,
            left_out: (0, 0),
        })
    }

    /// The length of all frames in memory, if they are all IPv4, of one length and link header.
    fn fixed_len(&self) -> Option<usize> {
        match self.recipe.sizes {
            _ if self.recipe.ipv6 != Share::NONE || self.template.has_link_choices() => None,
            Sizes::Fixed(_) => Some(self.frame_bytes_max()),
            _ => None,
        }
    }

    fn draws(&self, worker: u64, of: u64) -> Draws {
        let seed = self.recipe.seed;
        match self.recipe.flows {
            Flows::Endless => Draws::random(seed, worker, &self.flows),
            Flows::Fixed(count) => {
                let (first, count) = part(count.into(), worker, of);
                Draws::flows(seed, worker, first, count, &self.flows)
            }
            Flows::Renewed { count, per_second } => {
                let (_, count) = part(count.into(), worker, of);
                let renewal = Renewal::new(count, per_second, worker, of);
                Draws::renewed(seed, worker, renewal, &self.flows)
            }
        }
    }
}

/// The part of `whole` that falls to `worker` of `of`: where it begins and how much it is.
///
/// ```
/// assert_eq!(traffic::part(10, 0, 3), (0, 4));
/// assert_eq!(traffic::part(10, 2, 3), (7, 3));
/// ```
#[must_use]
pub const fn part(whole: u64, worker: u64, of: u64) -> (u64, u64) {
    let (each, over) = (whole / of, whole % of);
    let (extra_before, extra) = if worker < over {
        (worker, 1)
    } else {
        (over, 0)
    };
    (each * worker + extra_before, each + extra)
}

/// Makes the frames of a recipe, a worker's share of them.
pub struct Source {
    draws: Draws,
    flows: FlowMaker,
    template: Template,
    /// None where frames go where they go.
    steering: Option<Box<Steering>>,
    sizes: SizeDraws,
    sizes_random: Random,
    /// Where all frames are IPv4 of one length and one link header.
    fixed_len: Option<usize>,
    /// None where frames are not signed.
    stream: Option<u16>,
    made: u64,
    /// Frames that did not fit their chunk, and how much room there was.
    left_out: (u64, usize),
}

impl Source {
    /// The source of worker `worker` of `of`, each on its own; [`Sources`] where there are samples
    /// to share.
    ///
    /// # Errors
    /// What [`Recipe::validate`] and [`Sources::source`] say.
    pub fn new(recipe: &Recipe, worker: usize, of: usize) -> Result<Self, RecipeError> {
        Sources::new(recipe)?.source(worker, of, false)
    }

    /// Appends at most `max` frames to `burst`, signed as sent at `now`, as far as the pool has
    /// them and the burst has room; returns how many.
    #[inline]
    pub fn fill(
        &mut self,
        pool: &mut FramePool,
        burst: &mut Burst,
        max: usize,
        now: Nanos,
    ) -> usize {
        let before = burst.len();
        let fits = |len: &usize| *len <= pool.frame_bytes_max();
        let allocated = match self.fixed_len.filter(fits) {
            Some(len) => pool.alloc_burst_of(burst, max, len),
            None => pool.alloc_burst(burst, max),
        };
        self.draws.renew(now);
        let mut making = Making {
            template: &self.template,
            flows: &self.flows,
            steering: self.steering.as_deref(),
            sizes: &self.sizes,
            sizes_random: &mut self.sizes_random,
            fixed_len: self.fixed_len,
            stream: self.stream,
            sequence: self.made,
            now,
        };
        let unmade = making.fill(&mut self.draws, &mut burst.frames_mut()[before..]);
        let made = allocated - unmade;
        self.made += made as u64;
        if unmade > 0 {
            self.left_out = (self.left_out.0 + unmade as u64, pool.frame_bytes_max());
            discard_unmade(burst, before, pool);
        }
        made
    }

    /// The stream of the frames, where they are signed.
    #[must_use]
    pub const fn stream(&self) -> Option<u16> {
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
        self.left_out
    }
}

/// Takes out the frames of a burst that were not made, which have no bytes, and keeps the order of
/// the others.
#[cold]
fn discard_unmade(burst: &mut Burst, from: usize, pool: &mut FramePool) {
    let mut made = Burst::new();
    for (index, frame) in burst.drain().enumerate() {
        if index >= from && frame.len() == 0 {
            pool.free(frame);
        } else if let Err(frame) = made.push(frame) {
            pool.free(frame); // cannot be: as many fit there as fitted here
        }
    }
    burst.append(&mut made);
}
