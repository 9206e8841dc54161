//! Draws, made some frames ahead so that the samples they need are in the cache when they are used.

use frame::Nanos;

use super::flow::{Draw, FlowMaker};
use super::renewal::Renewal;
use super::steering::Steering;
use super::unicast;
use crate::Share;
use crate::random::{Random, mix};

/// Draws of a batch. A sample read from memory takes about 100 ns; at 5 ns a frame these are 320.
const BATCH: usize = 64;

/// Where draws come from.
enum Origin {
    Random(Random),
    /// Flow `number` of `count`, `first` being the first of this queue.
    Flows {
        random: Random,
        seed: u64,
        first: u64,
        count: u64,
    },
    /// Flows of which the oldest are replaced as time passes.
    Renewed {
        random: Random,
        seed: u64,
        renewal: Renewal,
    },
}

/// Some draws, made at once.
struct Batch {
    draws: [Draw; BATCH],
    /// Which of them are hits, and how many.
    hits: [u8; BATCH],
    hits_count: usize,
}

const _: () = assert!(BATCH <= 256, "an index of a batch is a byte");

/// An endless sequence of draws, in batches: one is given out while the samples of the next are on
/// their way.
pub(super) struct Draws {
    batches: [Batch; 2],
    /// Which of the two is being given out.
    ready: usize,
    /// The first of its draws not given out.
    next: usize,
    origin: Origin,
}

impl Draws {
    /// Every draw its own.
    pub(super) fn random(seed: u64, queue: u64, flows: &FlowMaker) -> Self {
        Self::new(Origin::Random(Random::new(seed, queue)), flows)
    }

    /// Draws of `count` flows numbered from `first`, each drawn evenly. The same number is the same
    /// flow in every queue and run of a seed.
    pub(super) fn flows(seed: u64, queue: u64, first: u64, count: u64, flows: &FlowMaker) -> Self {
        let random = Random::new(seed, queue);
        Self::new(
            Origin::Flows {
                random,
                seed,
                first,
                count,
            },
            flows,
        )
    }

    /// Draws of flows that are replaced by others as [`Self::renew`] tells the time.
    pub(super) fn renewed(seed: u64, queue: u64, renewal: Renewal, flows: &FlowMaker) -> Self {
        let random = Random::new(seed, queue);
        Self::new(
            Origin::Renewed {
                random,
                seed,
                renewal,
            },
            flows,
        )
    }

    /// What time it is, where flows depend on it.
    #[inline]
    pub(super) fn renew(&mut self, now: Nanos) {
        if let Origin::Renewed { renewal, .. } = &mut self.origin {
            renewal.advance(now);
        }
    }

    fn new(mut origin: Origin, flows: &FlowMaker) -> Self {
        let mut batches = [Batch::EMPTY, Batch::EMPTY];
        batches[0].draw(&mut origin, flows);
        Self {
            batches,
            ready: 1,
            next: BATCH,
            origin,
        }
    }

    /// The next draws, at least one and at most `max`, with their samples in place.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        max: usize,
        flows: &FlowMaker,
        steering: Option<&Steering>,
    ) -> &[Draw] {
        if self.next == BATCH {
            self.batches[self.ready & 1].draw(&mut self.origin, flows);
            self.ready ^= 1;
            self.batches[self.ready & 1].resolve(flows, steering);
            self.next = 0;
        }
        let from = self.next;
        self.next += max.min(BATCH - from);
        &self.batches[self.ready & 1].draws[from..self.next]
    }
}

impl Batch {
    const EMPTY: Self = Self {
        draws: [Draw {
            addresses: 0,
            rest: 0,
        }; BATCH],
        hits: [0; BATCH],
        hits_count: 0,
    };

    /// Draws anew and starts reading the samples of hits. Hits are listed without a branch for each
    /// draw: with one draw in ten a hit, mispredictions cost 3 ns a frame.
    fn draw(&mut self, origin: &mut Origin, flows: &FlowMaker) {
        origin.draw(&mut self.draws, flows.hit());
        self.hits_count = 0;
        if flows.hit() == Share::NONE {
            return;
        }
        for (index, draw) in self.draws.iter().enumerate() {
            self.hits[self.hits_count] = index as u8;
            self.hits_count += usize::from(flows.is_hit(*draw));
        }
        for &index in &self.hits[..self.hits_count] {
            flows.prefetch(self.draws[usize::from(index)]);
        }
    }

    /// Puts samples in place, which by now are near, and steers IPv4 frames. IPv6 frames are seen
    /// to when they are made.
    fn resolve(&mut self, flows: &FlowMaker, steering: Option<&Steering>) {
        if flows.is_plain() {
            self.place_v4(flows);
        } else {
            for draw in &mut self.draws {
                if !flows.is_v6(*draw) {
                    flows.shape_v4(draw);
                }
            }
        }
        let Some(steering) = steering else { return };
        for draw in &mut self.draws {
            if !flows.is_v6(*draw) {
                steering.steer_v4(draw);
            }
        }
    }

    /// Puts addresses in the place of the random bits that choose them. Those of hits are read out
    /// first, since they are chosen by the same bits.
    #[inline]
    fn place_v4(&mut self, flows: &FlowMaker) {
        let mut hits = [0; BATCH];
        let indices = &self.hits[..self.hits_count];
        for (hit, &index) in hits.iter_mut().zip(indices) {
            *hit = flows.hit_v4(self.draws[usize::from(index)]);
        }
        let v6: [bool; BATCH] = std::array::from_fn(|at| flows.is_v6(self.draws[at]));
        for (draw, v6) in self.draws.iter_mut().zip(v6) {
            let addresses = unicast::v4_pair(draw.addresses);
            draw.addresses = if v6 { draw.addresses } else { addresses };
        }
        for (hit, &index) in hits.iter().zip(indices) {
            let index = usize::from(index);
            if !v6[index] {
                self.draws[index].addresses = *hit;
            }
        }
    }
}

impl Origin {
    fn draw(&mut self, draws: &mut [Draw; BATCH], hit: Share) {
        match self {
            Self::Random(random) => {
                for draw in draws {
                    *draw = Draw {
                        addresses: random.next(),
                        rest: random.next(),
                    };
                }
            }
            Self::Flows {
                random,
                seed,
                first,
                count,
            } => {
                for draw in draws {
                    let index = random.below(*count);
                    *draw = flow_draw(*seed, *first + index, index, hit);
                }
            }
            Self::Renewed {
                random,
                seed,
                renewal,
            } => {
                for draw in draws {
                    let (number, index) = renewal.draw(random);
                    *draw = flow_draw(*seed, number, index, hit);
                }
            }
        }
    }
}

/// The draw of the flow `number`, the one of its worker at `index`. Hits are spread over the flows
/// evenly instead of drawn, so that of ten flows with hit=0.1 one is a hit, and not perhaps none.
#[inline(always)]
fn flow_draw(seed: u64, number: u64, index: u64, hit: Share) -> Draw {
    const WHOLE: u64 = 1 << 32;
    let number = number << 1;
    let (addresses, rest) = (mix(seed, number), mix(seed, number | 1));
    let before = index.wrapping_mul(hit.parts()) & (WHOLE - 1);
    let is_hit = before + hit.parts() >= WHOLE;
    // Any number that the share takes, or one that it does not, with its remainder by three drawn.
    let random = crate::random::scale(
        rest >> 32,
        if is_hit {
            hit.parts()
        } else {
            WHOLE - hit.parts()
        },
    );
    let decision = if is_hit { random } else { hit.parts() + random };
    Draw {
        addresses,
        rest: decision << 32 | rest & 0xffff_ffff,
    }
}
