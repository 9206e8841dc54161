//! From two random words to addresses and ports.
//!
//! A draw is 128 random bits: source and destination (32 bits each), the two ports, and 32 bits
//! that decide whether the frame is a hit and on which side. Where addresses come from samples, the
//! same random bits choose the sample. Everything about a frame but its size follows from its draw,
//! so a flow is a draw that is made again.

use std::sync::Arc;

use frame::prefetch;

use super::samples::Samples;
use super::shape::Shape;
use super::unicast;
use crate::random::{mix, scale};
use crate::{Recipe, Share};

/// The bits a frame is made from.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Draw {
    /// Source and destination.
    pub(super) addresses: u64,
    /// Hit in the upper half; ports in the lower.
    pub(super) rest: u64,
}

impl Draw {
    /// The IPv4 flow of a draw.
    #[inline(always)]
    pub(super) const fn v4(self) -> FlowV4 {
        let (src, dst) = ((self.addresses >> 32) as u32, self.addresses as u32);
        FlowV4 {
            src,
            dst,
            ports: self.rest as u32,
        }
    }

    /// What fields of the link layer are drawn from: steering and samples leave it alone.
    #[inline(always)]
    pub(super) const fn link(self) -> u64 {
        self.rest >> 32
    }
}

/// An IPv4 flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlowV4 {
    pub(super) src: u32,
    pub(super) dst: u32,
    /// Source port in the upper half.
    pub(super) ports: u32,
}

/// An IPv6 flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlowV6 {
    pub(super) src: u128,
    pub(super) dst: u128,
    /// Source port in the upper half.
    pub(super) ports: u32,
}

/// Which addresses of a frame come from samples: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sides {
    src: bool,
    dst: bool,
}

impl Sides {
    /// Of a miss.
    const NONE: Self = Self {
        src: false,
        dst: false,
    };

    /// Of a hit: source, destination or both, a third each. What decided the hit are the upper bits
    /// of a draw's last word; the remainder by three is even still.
    #[inline(always)]
    const fn of(draw: Draw) -> Self {
        let side = (draw.rest >> 32) % 3;
        Self {
            src: side != 1,
            dst: side != 0,
        }
    }

    /// The random bits that choose the samples of source and destination. A side without one gets
    /// the other's, which is read anyway: no branch that nobody could predict.
    #[inline(always)]
    const fn choices(self, draw: Draw) -> (u64, u64) {
        let (src, dst) = (draw.addresses >> 32, draw.addresses & 0xffff_ffff);
        (
            if self.src { src } else { dst },
            if self.dst { dst } else { src },
        )
    }
}

/// How draws become flows.
#[derive(Clone)]
pub(super) struct FlowMaker {
    hit: Share,
    ipv6: Share,
    samples_v4: Arc<Samples<u32>>,
    samples_v6: Arc<Samples<u128>>,
    /// None where addresses and ports are any.
    shape: Option<Arc<Shape>>,
}

impl FlowMaker {
    /// Flows of a recipe, its samples in large pages.
    pub(super) fn new(recipe: &Recipe) -> Self {
        let (hit, ipv6) = (recipe.hit, recipe.ipv6);
        let (v4, v6) = (&recipe.samples_v4, &recipe.samples_v6);
        let uses_v4 = hit != Share::NONE && ipv6 != Share::ALL;
        let uses_v6 = hit != Share::NONE && ipv6 != Share::NONE;
        let samples_v4 = if uses_v4 {
            Samples::huge_v4(v4)
        } else {
            Samples::Shared(v4.clone())
        };
        let samples_v6 = if uses_v6 {
            Samples::huge_v6(v6)
        } else {
            Samples::Shared(v6.clone())
        };
        Self {
            hit,
            ipv6,
            samples_v4: Arc::new(samples_v4),
            samples_v6: Arc::new(samples_v6),
            shape: Shape::of(recipe).map(Arc::new),
        }
    }

    /// Whether addresses and ports are any, as drawn.
    pub(super) const fn is_plain(&self) -> bool {
        self.shape.is_none()
    }

    pub(super) const fn hit(&self) -> Share {
        self.hit
    }

    /// Whether the frame of a draw is IPv6: by the bits that nothing changes later.
    #[inline(always)]
    pub(super) fn is_v6(&self, draw: Draw) -> bool {
        self.ipv6 != Share::NONE && self.ipv6.takes(mix(draw.link(), 0) >> 32)
    }

    /// Whether the frame of a draw is a hit.
    #[inline(always)]
    pub(super) const fn is_hit(&self, draw: Draw) -> bool {
        self.hit.takes(draw.rest >> 32)
    }

    /// Starts reading the samples that a hit will need.
    #[inline(always)]
    pub(super) fn prefetch(&self, draw: Draw) {
        let (src, dst) = Sides::of(draw).choices(draw);
        if self.is_v6(draw) {
            prefetch_sample(&self.samples_v6, src);
            prefetch_sample(&self.samples_v6, dst);
        } else {
            prefetch_sample(&self.samples_v4, src);
            prefetch_sample(&self.samples_v4, dst);
        }
    }

    /// The addresses of an IPv4 hit: its samples, and beside them what is random.
    #[inline(always)]
    pub(super) fn hit_v4(&self, draw: Draw) -> u64 {
        let random = unicast::v4_pair(draw.addresses);
        if self.samples_v4.is_empty() {
            return random;
        }
        let sides = Sides::of(draw);
        let (src, dst) = sides.choices(draw);
        let (src, dst) = (sample(&self.samples_v4, src), sample(&self.samples_v4, dst));
        let src = if sides.src {
            u64::from(src)
        } else {
            random >> 32
        };
        let dst = if sides.dst {
            u64::from(dst)
        } else {
            random & 0xffff_ffff
        };
        src << 32 | dst
    }

    /// Puts addresses and ports as the recipe has them in the place of random ones, and samples of
    /// a hit last.
    pub(super) fn shape_v4(&self, draw: &mut Draw) {
        let Some(shape) = &self.shape else { return };
        let random = *draw;
        if self.is_hit(random) {
            draw.addresses = self.hit_v4(random);
        }
        let sampled_sides = if self.is_hit(random) && !self.samples_v4.is_empty() {
            Sides::of(random)
        } else {
            Sides::NONE
        };
        let (shaped, sampled) = (shape.v4(random.v4()), draw.v4());
        let src = if sampled_sides.src {
            sampled.src
        } else {
            shaped.src
        };
        let dst = if sampled_sides.dst {
            sampled.dst
        } else {
            shaped.dst
        };
        draw.addresses = u64::from(src) << 32 | u64::from(dst);
        draw.rest = draw.rest >> 32 << 32 | u64::from(shaped.ports);
    }

    /// The IPv6 flow of a draw: any addresses of [`unicast::v6`], the bits beyond those of
    /// the draw mixed from them.
    pub(super) fn flow_v6(&self, draw: Draw) -> FlowV6 {
        let (src, dst) = (global(draw, 0), global(draw, 2));
        let mut flow = FlowV6 {
            src,
            dst,
            ports: draw.rest as u32,
        };
        if let Some(shape) = &self.shape {
            flow = shape.v6(flow);
        }
        if self.is_hit(draw) && !self.samples_v6.is_empty() {
            let sides = Sides::of(draw);
            let (src, dst) = sides.choices(draw);
            if sides.src {
                flow.src = sample(&self.samples_v6, src);
            }
            if sides.dst {
                flow.dst = sample(&self.samples_v6, dst);
            }
        }
        flow
    }
}

/// The sample that random bits below 2^32 choose; there is at least one.
#[inline(always)]
fn sample<A: Copy>(samples: &[A], random: u64) -> A {
    samples[scale(random, samples.len() as u64) as usize]
}

#[inline(always)]
fn prefetch_sample<A>(samples: &[A], random: u64) {
    if let Some(sample) = samples.get(scale(random, samples.len() as u64) as usize) {
        prefetch::read(std::ptr::from_ref(sample).cast());
    }
}

fn global(draw: Draw, stream: u64) -> u128 {
    let half = |stream| mix(draw.addresses ^ stream, draw.rest);
    let address = u128::from(half(stream)) << 64 | u128::from(half(stream + 1));
    unicast::v6(address)
}
