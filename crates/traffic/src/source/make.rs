//! From draws to frames.

use frame::{Frame, Nanos};

use super::draws::Draws;
use super::flow::{Draw, FlowMaker};
use super::steering::Steering;
use super::template::Template;
use crate::Signature;
use crate::random::Random;
use crate::sizes::SizeDraws;

/// What the frames of a burst are made from.
pub(super) struct Making<'a> {
    pub(super) template: &'a Template,
    pub(super) flows: &'a FlowMaker,
    pub(super) steering: Option<&'a Steering>,
    pub(super) sizes: &'a SizeDraws,
    pub(super) sizes_random: &'a mut Random,
    pub(super) fixed_len: Option<usize>,
    pub(super) stream: Option<u16>,
    /// Number of the next frame.
    pub(super) sequence: u64,
    pub(super) now: Nanos,
}

impl Making<'_> {
    /// Fills empty frames; returns how many did not take theirs.
    #[inline(always)]
    pub(super) fn fill(&mut self, draws: &mut Draws, frames: &mut [Frame]) -> usize {
        if self.template.link_is::<14>() {
            self.fill_linked::<14>(draws, frames)
        } else if self.template.link_is::<18>() {
            self.fill_linked::<18>(draws, frames)
        } else {
            self.fill_linked::<22>(draws, frames)
        }
    }

    #[inline(always)]
    fn fill_linked<const LINK: usize>(
        &mut self,
        draws: &mut Draws,
        mut frames: &mut [Frame],
    ) -> usize {
        let mut unmade = 0;
        while !frames.is_empty() {
            let draws = draws.take(frames.len(), self.flows, self.steering);
            let Some((now, later)) = frames.split_at_mut_checked(draws.len()) else {
                break;
            };
            unmade += match (self.fixed_len, self.stream) {
                (Some(len), None) => self.make_plain::<LINK>(draws, now, len),
                (Some(len), Some(stream)) => self.make_signed::<LINK>(draws, now, len, stream),
                (None, _) => self.make_mixed::<LINK>(draws, now),
            };
            frames = later;
        }
        unmade
    }

    /// Unsigned IPv4 frames of one length.
    #[inline(always)]
    fn make_plain<const LINK: usize>(
        &mut self,
        draws: &[Draw],
        frames: &mut [Frame],
        len: usize,
    ) -> usize {
        let mut unmade = 0;
        for (frame, draw) in frames.iter_mut().zip(draws) {
            unmade += usize::from(!make_v4::<LINK>(self.template, *draw, frame, len, None));
        }
        unmade
    }

    /// Signed IPv4 frames of one length.
    #[inline(always)]
    fn make_signed<const LINK: usize>(
        &mut self,
        draws: &[Draw],
        frames: &mut [Frame],
        len: usize,
        stream: u16,
    ) -> usize {
        let before = self.sequence;
        for (frame, draw) in frames.iter_mut().zip(draws) {
            let signature = Signature {
                stream,
                sequence: self.sequence,
                sent: self.now,
            };
            let made = make_v4::<LINK>(self.template, *draw, frame, len, Some(&signature));
            self.sequence += u64::from(made);
        }
        draws.len() - (self.sequence - before) as usize
    }

    /// Frames that differ in family or length.
    fn make_mixed<const LINK: usize>(&mut self, draws: &[Draw], frames: &mut [Frame]) -> usize {
        let before = self.sequence;
        for (frame, draw) in frames.iter_mut().zip(draws) {
            let signature = self.stream.map(|stream| Signature {
                stream,
                sequence: self.sequence,
                sent: self.now,
            });
            self.sequence += u64::from(self.make::<LINK>(*draw, frame, signature.as_ref()));
        }
        draws.len() - (self.sequence - before) as usize
    }

    /// Makes the frame of one draw; `false` if its chunk is too small.
    fn make<const LINK: usize>(
        &mut self,
        draw: Draw,
        frame: &mut Frame,
        signature: Option<&Signature>,
    ) -> bool {
        let len = self.sizes.draw(self.sizes_random);
        if !self.flows.is_v6(draw) {
            let len = len.max(self.template.frame_bytes_min_v4());
            return make_v4::<LINK>(self.template, draw, frame, len, signature);
        }
        let mut flow = self.flows.flow_v6(draw);
        if let Some(steering) = self.steering {
            steering.steer_v6(&mut flow);
        }
        let len = len.max(self.template.frame_bytes_min_v6());
        if frame.set_len(len).is_err() {
            return false;
        }
        let bytes = frame.bytes_mut();
        self.template.write_v6(bytes, flow, draw.link(), signature);
        true
    }
}

/// Makes an IPv4 frame; `false` if its chunk is too small.
#[inline(always)]
fn make_v4<const LINK: usize>(
    template: &Template,
    draw: Draw,
    frame: &mut Frame,
    len: usize,
    signature: Option<&Signature>,
) -> bool {
    if frame.set_len(len).is_err() {
        return false;
    }
    let bytes = frame.bytes_mut();
    template.write_v4::<LINK>(bytes, draw.v4(), draw.link(), signature);
    true
}
