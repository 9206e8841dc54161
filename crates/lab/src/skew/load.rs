//! Flows, how much each brings, and the queue that an interface hashes it to.

use wire::emit::{Ipv4, Network, Recipe, Transport};
use wire::toeplitz::{Key, Toeplitz};

use crate::shuffle::Seeded;

/// Bytes of a frame without FCS.
pub(super) const LEN: usize = 60;
/// Where flow, number and due time stand in a frame: behind the UDP header.
pub(super) const FLOW_AT: usize = 42;
pub(super) const NUMBER_AT: usize = 44;
pub(super) const DUE_AT: usize = 50;

pub(super) const FLOWS: usize = 4096;
pub(super) const QUEUES: usize = 2;
const BUCKETS: usize = 128;
/// Places of the table that a queue draws its flows from.
const DRAWS: usize = 1 << 16;
/// Of the heaviest flows, how many come by the first queue under Zipf's law: with its part of the
/// others 73 % of all.
const HEAVY: usize = 64;
/// The elephant's part of all: more than a worker can do at 80 % of what two can.
const ELEPHANT: f64 = 0.66;

/// How much each flow brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All alike.
    Even,
    /// Zipf's law with exponent 1, the heaviest flows by the first queue.
    Zipf,
    /// One flow of two thirds of all, the others alike.
    Elephant,
}

impl Shape {
    pub(super) const ALL: [Self; 3] = [Self::Even, Self::Zipf, Self::Elephant];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Zipf => "Zipf",
            Self::Elephant => "elephant",
        }
    }
}

/// The flows of one load.
pub(super) struct Load {
    /// By flow, adding up to 1.
    weights: Vec<f64>,
    /// By flow: the queue that the interface hashes it to.
    queues: Vec<usize>,
}

impl Load {
    pub(super) fn new(shape: Shape) -> Self {
        let queues: Vec<usize> = (0..FLOWS).map(queue_of).collect();
        let mut weights = vec![1.0; FLOWS];
        let of_first: Vec<usize> = (0..FLOWS).filter(|&flow| queues[flow] == 0).collect();
        match shape {
            Shape::Even => {}
            Shape::Zipf => {
                let heavy = &of_first[..HEAVY];
                let light = (0..FLOWS).filter(|flow| !heavy.contains(flow));
                let ranked = heavy.iter().copied().chain(light);
                for (rank, flow) in ranked.enumerate() {
                    weights[flow] = 1.0 / (rank + 1) as f64;
                }
            }
            Shape::Elephant => {
                weights[of_first[0]] = ELEPHANT / (1.0 - ELEPHANT) * (FLOWS - 1) as f64;
            }
        }
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Self { weights, queues }
    }

    /// What comes by a queue, of all.
    pub(super) fn share(&self, queue: usize) -> f64 {
        let weights = self.weights.iter().zip(&self.queues);
        let own = weights.filter(|(_, own)| **own == queue);
        own.map(|(weight, _)| weight).sum()
    }

    /// A table of the queue's flows, each as often as its weight asks for, in random order.
    pub(super) fn draws(&self, queue: usize, seed: u64) -> Vec<u16> {
        let share = self.share(queue);
        let mut draws = Vec::with_capacity(DRAWS);
        let mut sum = 0.0;
        for (flow, weight) in self.weights.iter().enumerate() {
            if self.queues[flow] == queue {
                sum += weight / share;
                draws.resize((sum * DRAWS as f64).round() as usize, flow as u16);
            }
        }
        Seeded::new(seed).shuffle(&mut draws);
        draws
    }
}

fn queue_of(flow: usize) -> usize {
    let hash = Toeplitz::new(&Key::SYMMETRIC).hash_v4(src(flow), dst(flow), ports(flow));
    hash as usize % BUCKETS % QUEUES
}

fn src(flow: usize) -> u32 {
    0x0a00_0000 + flow as u32
}

fn dst(flow: usize) -> u32 {
    0x0b00_0000 + (flow as u32).wrapping_mul(7919) % 65_536
}

fn ports(flow: usize) -> u32 {
    (1000 + flow as u32) << 16 | 53
}

/// The frame of a flow, but for number and due time.
pub(super) fn template(flow: usize) -> [u8; LEN] {
    let ip = Ipv4 {
        src: src(flow),
        dst: dst(flow),
        ..Ipv4::default()
    };
    let udp = Transport::Udp {
        src_port: (ports(flow) >> 16) as u16,
        dst_port: ports(flow) as u16,
    };
    let recipe = Recipe {
        network: Network::Ipv4(ip, udp),
        len_min: LEN,
        ..Recipe::default()
    };
    let mut bytes = [0; LEN];
    // A UDP frame of 60 bytes is sound.
    let _sound = recipe.emit(&mut bytes);
    bytes[FLOW_AT..][..2].copy_from_slice(&(flow as u16).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_queue_has_what_the_shape_says() {
        let share = |shape| Load::new(shape).share(0);
        let (even, zipf, elephant) = (
            share(Shape::Even),
            share(Shape::Zipf),
            share(Shape::Elephant),
        );
        assert!((0.45..0.55).contains(&even), "{even}");
        // More than a worker can do at 80 % of two, and no flow of it is.
        assert!((0.7..0.76).contains(&zipf), "{zipf}");
        assert!((0.8..0.86).contains(&elephant), "{elephant}");
        let heaviest = Load::new(Shape::Zipf)
            .weights
            .into_iter()
            .fold(0.0, f64::max);
        assert!(heaviest < 0.15, "{heaviest}");
    }

    #[test]
    fn draws_are_of_the_queue_and_as_often_as_weights_ask() {
        let load = Load::new(Shape::Elephant);
        let draws = load.draws(0, 1);
        assert_eq!(draws.len(), DRAWS);
        assert!(draws.iter().all(|&flow| queue_of(flow.into()) == 0));
        let elephant = (0..FLOWS).find(|&flow| queue_of(flow) == 0);
        let drawn = draws.iter().filter(|&&flow| Some(flow.into()) == elephant);
        let drawn = drawn.count() as f64 / DRAWS as f64;
        let expected = ELEPHANT / load.share(0);
        assert!((drawn - expected).abs() < 0.001, "{drawn}, {expected}");
    }
}
