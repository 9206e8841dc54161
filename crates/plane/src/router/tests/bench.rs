//! A router with a pool and an outbox, and what comes of frames.

use std::sync::Arc;

use frame::{Burst, FramePool, Nanos, PoolRequest, PortId, Region};

use super::super::*;
use super::model::{Fate, Leaves, Outcome};
use crate::{DropReason, Origin, Outbox, Verdict};

pub(super) const MS: u64 = 1_000_000;
/// Chunks of the pool of a bench.
const CHUNKS: u32 = 2048;
const ROOM: usize = 1024;

pub(super) struct Bench {
    pub(super) router: Router,
    pub(super) pool: FramePool,
    out: Outbox,
    pub(super) now: Nanos,
}

/// What a router does beside a burst.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Polled {
    /// Frames that it made.
    pub(super) made: Vec<Leaves>,
    /// Frames that waited and leave.
    pub(super) released: Vec<Leaves>,
    /// Frames that waited in vain.
    pub(super) dropped: Vec<DropReason>,
}

impl Bench {
    pub(super) fn new(config: &RouterConfig) -> Self {
        Self::linked(config, Links::alone())
    }

    pub(super) fn linked(config: &RouterConfig, links: Links<Heard>) -> Self {
        let table = Arc::new(RouterTable::new(config.clone()).expect("right settings"));
        let request = PoolRequest {
            frames: CHUNKS,
            stride_bytes: 4096,
            headroom_bytes: 64,
            node: None,
        };
        Self {
            router: Router::new(table, [3, 5], links).expect("memory"),
            pool: Region::with_pools(&[request]).expect("memory").1.remove(0),
            out: Outbox::with_room(ROOM),
            now: Nanos(1000 * MS),
        }
    }

    /// The outcomes of the frames of a burst that the policy lets pass.
    pub(super) fn burst(&mut self, from: PortId, frames: &[Vec<u8>]) -> Vec<Outcome> {
        let mut burst = Burst::new();
        for bytes in frames {
            burst.push(self.frame(bytes)).expect("few");
        }
        let verdicts = self.process(from, &mut burst);
        let outcomes = self.carry_out(&mut burst, &verdicts);
        self.balance();
        outcomes
    }

    /// The outcome of a frame that a capture cut, and how long what became of it is on the wire.
    pub(super) fn cut(&mut self, from: PortId, bytes: &[u8], wire_len: u32) -> (Outcome, u32) {
        let mut frame = self.frame(bytes);
        frame.meta_mut().original_len = wire_len;
        let mut burst = Burst::new();
        burst.push(frame).expect("one");
        let verdicts = self.process(from, &mut burst);
        let wire_len = crate::original_len(&burst.frames()[0]) as u32;
        (self.carry_out(&mut burst, &verdicts).remove(0), wire_len)
    }

    fn frame(&mut self, bytes: &[u8]) -> Frame {
        let mut frame = self.pool.alloc().expect("a chunk");
        frame.copy_from(bytes).expect("short");
        frame
    }

    fn process(&mut self, from: PortId, burst: &mut Burst) -> Verdicts {
        let mut verdicts = Verdicts::new();
        for _ in burst.frames() {
            verdicts.push(Verdict::Forward(PortId(63)));
        }
        self.router.process(
            &mut Forwarding {
                from,
                now: self.now,
                pool: &mut self.pool,
                out: &mut self.out,
            },
            burst,
            &mut verdicts,
        );
        verdicts
    }

    /// The outcome of one frame.
    pub(super) fn one(&mut self, from: PortId, frame: &[u8]) -> Outcome {
        self.burst(from, &[frame.to_vec()]).remove(0)
    }

    fn carry_out(&mut self, burst: &mut Burst, verdicts: &Verdicts) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for (frame, &verdict) in burst.drain().zip(verdicts.as_slice()) {
            let fate = match verdict {
                Verdict::Forward(port) => Fate::Sent(vec![(port, frame.bytes().to_vec())]),
                Verdict::Drop(reason) => Fate::Dropped(reason),
                Verdict::Consume => Fate::Consumed,
                Verdict::Hold => {
                    self.router.keep(frame).expect("room for what waits");
                    outcomes.push(Outcome {
                        fate: Fate::Waits,
                        told: None,
                    });
                    continue;
                }
            };
            self.pool.free(frame);
            outcomes.push(Outcome { fate, told: None });
        }
        for outgoing in self.out.drain() {
            let Verdict::Forward(port) = outgoing.verdict else {
                panic!("what is made leaves");
            };
            let leaves = (port, outgoing.frame.bytes().to_vec());
            match outgoing.origin {
                Origin::Made => {
                    let before = outcomes[outgoing.after].told.replace(leaves);
                    assert_eq!(before, None, "one answer a frame");
                }
                Origin::Copy => match &mut outcomes[outgoing.after - 1].fate {
                    Fate::Sent(sent) => sent.push(leaves),
                    other => panic!("a piece of a frame that got {other:?}"),
                },
                Origin::Held => panic!("what waited leaves by poll"),
            }
            self.pool.free(outgoing.frame);
        }
        outcomes
    }

    /// What the router does beside frames.
    pub(super) fn poll(&mut self) -> Polled {
        self.router.poll(&mut Forwarding {
            from: PortId(0),
            now: self.now,
            pool: &mut self.pool,
            out: &mut self.out,
        });
        let mut polled = Polled::default();
        for outgoing in self.out.drain() {
            let bytes = outgoing.frame.bytes().to_vec();
            match (outgoing.verdict, outgoing.origin) {
                (Verdict::Forward(port), Origin::Made) => polled.made.push((port, bytes)),
                (Verdict::Forward(port), _) => polled.released.push((port, bytes)),
                (Verdict::Drop(reason), _) => polled.dropped.push(reason),
                other => panic!("{other:?} is no verdict on what is sent"),
            }
            self.pool.free(outgoing.frame);
        }
        self.balance();
        polled
    }

    /// Polls at that time.
    pub(super) fn poll_at(&mut self, ms: u64) -> Polled {
        self.now = Nanos(ms * MS);
        self.poll()
    }

    /// Every chunk is in the pool, but those of frames that wait.
    fn balance(&self) {
        let waiting = self.router.waiting.len() as u64;
        assert_eq!(u64::from(self.pool.accounts().elsewhere()), waiting);
        assert!(self.router.held() <= Router::HELD_MAX);
    }

    pub(super) fn count(&self, name: &str) -> u64 {
        let mut counts = [0; Router::COUNTS.len()];
        Node::counts(&self.router, &mut counts);
        let at = Router::COUNTS.iter().position(|known| *known == name);
        counts[at.expect(name)]
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.router.give_up(&mut self.pool);
        if !std::thread::panicking() {
            assert_eq!(self.router.held(), 0);
            assert_eq!(self.pool.accounts().elsewhere(), 0, "no chunk is lost");
        }
    }
}
