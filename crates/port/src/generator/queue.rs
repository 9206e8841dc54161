//! A queue of a generator: makes frames, and swallows what it is sent.

use frame::{Burst, Frame, FramePool};

use super::Sizes;
use super::draws::Draws;
use super::flow::{Draw, FlowMaker};
use super::steering::Steering;
use super::template::Template;
use crate::null::swallow;
use crate::random::Random;
use crate::{PortError, PortQueue, PortStatistics, RxState};

pub(super) struct GenQueue {
    pub(super) draws: Draws,
    pub(super) flows: FlowMaker,
    pub(super) template: Template,
    /// None where there is one queue only.
    pub(super) steering: Option<Box<Steering>>,
    pub(super) sizes: Sizes,
    pub(super) sizes_random: Random,
    /// Whether frames differ in family or size.
    pub(super) mixed: bool,
    /// Frames still to come.
    pub(super) left: u64,
    pub(super) statistics: PortStatistics,
    /// Frames that did not fit their chunk, and the longest.
    pub(super) oversized: (u64, usize),
    pub(super) warnings: Vec<String>,
}

impl GenQueue {
    /// Fills empty frames; returns how many did not take theirs.
    #[inline(always)]
    fn fill(&mut self, frames: &mut [Frame]) -> u64 {
        if self.template.link_is::<14>() {
            self.fill_linked::<14>(frames)
        } else if self.template.link_is::<18>() {
            self.fill_linked::<18>(frames)
        } else {
            self.fill_linked::<22>(frames)
        }
    }

    #[inline(always)]
    fn fill_linked<const LINK: usize>(&mut self, mut frames: &mut [Frame]) -> u64 {
        let mut unmade = 0;
        while !frames.is_empty() {
            let draws = self
                .draws
                .take(frames.len(), &self.flows, self.steering.as_deref());
            let Some((now, later)) = frames.split_at_mut_checked(draws.len()) else {
                break;
            };
            if self.mixed {
                let mixed = Mixed {
                    template: &self.template,
                    flows: &self.flows,
                    steering: self.steering.as_deref(),
                    sizes: self.sizes,
                };
                for (frame, draw) in now.iter_mut().zip(draws) {
                    unmade += u64::from(!mixed.make::<LINK>(*draw, frame, &mut self.sizes_random));
                }
            } else {
                let len = usize::from(self.sizes.frame_bytes_max());
                for (frame, draw) in now.iter_mut().zip(draws) {
                    unmade += u64::from(!make_v4::<LINK>(&self.template, *draw, frame, len));
                }
            }
            frames = later;
        }
        unmade
    }

    /// Takes out the frames of a burst that were not made, which have no bytes.
    #[cold]
    fn discard_unmade(&mut self, burst: &mut Burst, from: usize, pool: &mut FramePool) {
        let mut index = from;
        while index < burst.len() {
            if burst.frames()[index].len() > 0 {
                index += 1;
            } else if let Some(frame) = burst.swap_remove(index) {
                pool.free(frame);
            }
        }
    }
}

/// Makes an IPv4 frame; `false` if its chunk is too small.
#[inline(always)]
fn make_v4<const LINK: usize>(
    template: &Template,
    draw: Draw,
    frame: &mut Frame,
    len: usize,
) -> bool {
    if frame.set_len(len).is_err() {
        return false;
    }
    template.write_v4::<LINK>(frame.bytes_mut(), draw.v4());
    true
}

/// What frames are made from where they differ in family or size.
struct Mixed<'a> {
    template: &'a Template,
    flows: &'a FlowMaker,
    steering: Option<&'a Steering>,
    sizes: Sizes,
}

impl Mixed<'_> {
    /// Makes the frame of one draw; `false` if its chunk is too small.
    fn make<const LINK: usize>(&self, draw: Draw, frame: &mut Frame, random: &mut Random) -> bool {
        let len = self.sizes.draw(random);
        if !self.flows.is_v6(draw) {
            return make_v4::<LINK>(self.template, draw, frame, len.into());
        }
        let mut flow = self.flows.flow_v6(draw);
        if let Some(steering) = self.steering {
            steering.steer_v6(&mut flow);
        }
        let len = len.max(self.template.frame_bytes_min_v6());
        if frame.set_len(len.into()).is_err() {
            return false;
        }
        self.template.write_v6(frame.bytes_mut(), flow);
        true
    }
}

impl PortQueue for GenQueue {
    #[inline]
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let before = burst.len();
        let want = max
            .min(burst.room())
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let allocated = pool.alloc_burst(burst, want) as u64;
        let unmade = self.fill(&mut burst.frames_mut()[before..]);
        if unmade > 0 {
            self.oversized = (self.oversized.0 + unmade, pool.frame_bytes_max());
            self.discard_unmade(burst, before, pool);
        }
        let made = &burst.frames()[before..];
        self.left -= allocated;
        self.statistics.rx_frames += made.len() as u64;
        self.statistics.rx_bytes += made.iter().map(|frame| frame.len() as u64).sum::<u64>();
        self.statistics.missed += unmade;
        if self.left == 0 {
            RxState::Ended
        } else {
            RxState::Open
        }
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        swallow(&mut self.statistics, burst, pool);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        let mut warnings = std::mem::take(&mut self.warnings);
        if let (count @ 1.., room) = self.oversized {
            warnings.push(format!(
                "{count} generated frames were left out, for they are longer than the {room} bytes \
                 a chunk has room for; ask for a larger stride or a smaller size="
            ));
        }
        Ok(warnings)
    }
}
