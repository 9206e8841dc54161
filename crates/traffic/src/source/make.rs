//! From draws to frames.

use frame::{Frame, Nanos};
use wire::protocol;

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
    /// Where all frames are IPv4 of one length and one link header.
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
    fn fill_linked<const LINK: usize>(&mut self, draws: &mut Draws, frames: &mut [Frame]) -> usize {
        match self.template.protocol() {
            protocol::TCP => self.fill_of::<LINK, { protocol::TCP }>(draws, frames),
            protocol::ICMP => self.fill_of::<LINK, { protocol::ICMP }>(draws, frames),
            _ => self.fill_of::<LINK, { protocol::UDP }>(draws, frames),
        }
    }

    fn fill_of<const LINK: usize, const PROTOCOL: u8>(
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
                (Some(len), None) => self.make_plain::<LINK, PROTOCOL>(draws, now, len),
                (Some(len), Some(stream)) => {
                    self.make_signed::<LINK, PROTOCOL>(draws, now, len, stream)
                }
                (None, None) => self.make_mixed::<LINK, PROTOCOL, false>(draws, now),
                (None, Some(_)) => self.make_mixed::<LINK, PROTOCOL, true>(draws, now),
            };
            frames = later;
        }
        unmade
    }

    /// Unsigned IPv4 frames of one length and link header.
    #[inline(always)]
    fn make_plain<const LINK: usize, const PROTOCOL: u8>(
        &mut self,
        draws: &[Draw],
        frames: &mut [Frame],
        len: usize,
    ) -> usize {
        let mut unmade = 0;
        for (frame, draw) in frames.iter_mut().zip(draws) {
            let made = with_len(frame, len).map(|bytes| {
                let template = self.template;
                template.write_v4::<LINK, PROTOCOL>(bytes, draw.v4(), None, None);
            });
            unmade += usize::from(made.is_none());
        }
        unmade
    }

    /// Signed IPv4 frames of one length and link header.
    #[inline(always)]
    fn make_signed<const LINK: usize, const PROTOCOL: u8>(
        &mut self,
        draws: &[Draw],
        frames: &mut [Frame],
        len: usize,
        stream: u16,
    ) -> usize {
        let before = self.sequence;
        for (frame, draw) in frames.iter_mut().zip(draws) {
            let Some(bytes) = with_len(frame, len) else {
                continue;
            };
            let signature = self.signature(stream);
            let template = self.template;
            template.write_v4::<LINK, PROTOCOL>(bytes, draw.v4(), None, Some(&signature));
            self.sequence += 1;
        }
        draws.len() - (self.sequence - before) as usize
    }

    /// Frames that differ in family, length or link header.
    fn make_mixed<const LINK: usize, const PROTOCOL: u8, const SIGNED: bool>(
        &mut self,
        draws: &[Draw],
        frames: &mut [Frame],
    ) -> usize {
        let before = self.sequence;
        for (frame, draw) in frames.iter_mut().zip(draws) {
            let signature = SIGNED.then(|| self.signature(self.stream.unwrap_or(0)));
            let made = self.make::<LINK, PROTOCOL>(*draw, frame, signature.as_ref());
            self.sequence += u64::from(made.is_some());
        }
        draws.len() - (self.sequence - before) as usize
    }

    #[inline(always)]
    const fn signature(&self, stream: u16) -> Signature {
        Signature {
            stream,
            sequence: self.sequence,
            sent: self.now,
        }
    }

    /// Makes the frame of one draw; `None` if its chunk is too small.
    #[inline(always)]
    fn make<const LINK: usize, const PROTOCOL: u8>(
        &mut self,
        draw: Draw,
        frame: &mut Frame,
        signature: Option<&Signature>,
    ) -> Option<()> {
        let (template, link) = (self.template, draw.link());
        let len = self.sizes.draw(self.sizes_random);
        if !self.flows.is_v6(draw) {
            let bytes = set_len(frame, len.max(template.frame_bytes_min_v4()))?;
            template.write_v4::<LINK, PROTOCOL>(bytes, draw.v4(), Some(link), signature);
            return Some(());
        }
        let mut flow = self.flows.flow_v6(draw);
        if let Some(steering) = self.steering {
            steering.steer_v6(&mut flow);
        }
        let bytes = set_len(frame, len.max(template.frame_bytes_min_v6()))?;
        template.write_v6::<LINK, PROTOCOL>(bytes, flow, link, signature);
        Some(())
    }
}

/// The bytes of a frame that most often has the length already.
#[inline(always)]
fn with_len(frame: &mut Frame, len: usize) -> Option<&mut [u8]> {
    if frame.len() == len {
        Some(frame.bytes_mut())
    } else {
        set_len(frame, len)
    }
}

/// The bytes of a frame of a length; `None` if its chunk is too small.
#[inline(always)]
fn set_len(frame: &mut Frame, len: usize) -> Option<&mut [u8]> {
    frame.set_len(len).ok()?;
    Some(frame.bytes_mut())
}
