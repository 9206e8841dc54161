//! Pools, bursts, rings and free hands, in any order: every chunk is somewhere, once.
#![cfg(not(loom))]

use std::collections::HashSet;

use frame::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Alloc {
        pool: usize,
    },
    AllocBurst {
        pool: usize,
        burst: usize,
        want: usize,
    },
    /// From the hands into a pool.
    Free {
        pool: usize,
    },
    FreeBurst {
        pool: usize,
        burst: usize,
    },
    Hold {
        burst: usize,
    },
    PutDown {
        burst: usize,
    },
    Drain {
        burst: usize,
        front: usize,
        take: usize,
    },
    Append {
        from: usize,
    },
    Reorder {
        burst: usize,
        by: usize,
    },
    Send {
        burst: usize,
    },
    Receive {
        burst: usize,
        max: usize,
    },
    Collect {
        pool: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (pool, burst, count) = (0..POOLS, 0..2_usize, 0..20_usize);
    prop_oneof![
        pool.clone().prop_map(|pool| Step::Alloc { pool }),
        (pool.clone(), burst.clone(), count.clone())
            .prop_map(|(pool, burst, want)| Step::AllocBurst { pool, burst, want }),
        pool.clone().prop_map(|pool| Step::Free { pool }),
        (pool.clone(), burst.clone()).prop_map(|(pool, burst)| Step::FreeBurst { pool, burst }),
        burst.clone().prop_map(|burst| Step::Hold { burst }),
        burst.clone().prop_map(|burst| Step::PutDown { burst }),
        (burst.clone(), count.clone(), count.clone())
            .prop_map(|(burst, front, take)| Step::Drain { burst, front, take }),
        burst.clone().prop_map(|from| Step::Append { from }),
        (burst.clone(), count.clone()).prop_map(|(burst, by)| Step::Reorder { burst, by }),
        burst.clone().prop_map(|burst| Step::Send { burst }),
        (burst, count).prop_map(|(burst, max)| Step::Receive { burst, max }),
        pool.prop_map(|pool| Step::Collect { pool }),
    ]
}

const POOLS: usize = 3;
/// Miri takes a second for a few of them.
const STEPS_MAX: usize = if cfg!(miri) { 30 } else { 120 };

struct World {
    pools: Vec<FramePool>,
    bursts: [Burst; 2],
    hands: Vec<Frame>,
    producer: Producer<Frame>,
    consumer: Consumer<Frame>,
    /// Next mark to be written into a frame.
    mark: u64,
}

impl World {
    /// The third pool is of another Region, of another stride.
    fn new() -> World {
        let request = |frames, stride_bytes| PoolRequest {
            frames,
            stride_bytes,
            headroom_bytes: 8,
            node: None,
        };
        let made = Region::with_pools(&[request(5, 128), request(16, 192)]);
        let (_, mut pools) = made.expect("memory");
        let (_, other) = Region::with_pools(&[request(9, 1920)]).expect("memory");
        pools.extend(other);
        let (producer, consumer) = ring(6);
        let bursts = [Burst::new(), Burst::new()];
        World {
            pools,
            bursts,
            hands: Vec::new(),
            producer,
            consumer,
            mark: 0,
        }
    }

    /// A new frame is empty and bears no record; it gets a mark of its own in both.
    fn mark(mark: &mut u64, frame: &mut Frame) {
        *mark += 1;
        assert!(frame.meta().is_none());
        assert!(frame.copy_from(&mark.to_le_bytes()).is_ok());
        frame.meta_mut().time_ns = *mark;
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Alloc { pool } => {
                if let Some(mut frame) = self.pools[pool].alloc() {
                    Self::mark(&mut self.mark, &mut frame);
                    self.hands.push(frame);
                }
            }
            Step::AllocBurst { pool, burst, want } => {
                let burst = &mut self.bursts[burst];
                let before = burst.len();
                let count = self.pools[pool].alloc_burst(burst, want);
                assert_eq!(burst.len(), before + count);
                for frame in &mut burst.frames_mut()[before..] {
                    assert_eq!((frame.pool_id(), frame.len()), (self.pools[pool].id(), 0));
                    Self::mark(&mut self.mark, frame);
                }
            }
            Step::Free { pool } => {
                self.hands
                    .pop()
                    .into_iter()
                    .for_each(|frame| self.pools[pool].free(frame));
            }
            Step::FreeBurst { pool, burst } => self.pools[pool].free_burst(&mut self.bursts[burst]),
            Step::Hold { burst } => self.hands.extend(self.bursts[burst].pop()),
            Step::PutDown { burst } => {
                if let Some(frame) = self.hands.pop() {
                    self.hands.extend(self.bursts[burst].push(frame).err());
                }
            }
            Step::Drain { burst, front, take } => {
                self.hands
                    .extend(self.bursts[burst].drain_front(front).take(take));
            }
            Step::Append { from } => {
                let [first, second] = &mut self.bursts;
                let moved = if from == 0 {
                    second.append(first)
                } else {
                    first.append(second)
                };
                assert!(moved <= BURST_MAX);
            }
            Step::Reorder { burst, by } => {
                let frames = self.bursts[burst].frames_mut();
                frames.rotate_left(by.min(frames.len()));
            }
            Step::Send { burst } => {
                self.bursts[burst].send(&mut self.producer);
            }
            Step::Receive { burst, max } => {
                self.bursts[burst].receive(&mut self.consumer, max);
            }
            Step::Collect { pool } => self.pools[pool].collect(),
        }
    }

    /// All that can be said about all chunks at once.
    fn check(&mut self) {
        // Through the ring once around, to see what is inside.
        let mut ringed = Burst::new();
        ringed.receive(&mut self.consumer, BURST_MAX);
        let held = || {
            let bursts = self.bursts.iter().chain([&ringed]);
            self.hands.iter().chain(bursts.flat_map(Burst::frames))
        };
        let marks: HashSet<&[u8]> = held().map(Frame::bytes).collect();
        assert_eq!(marks.len(), held().count(), "two handles of one chunk");
        for frame in held() {
            let meta = frame.meta().expect("marked");
            assert_eq!(frame.bytes(), meta.time_ns.to_le_bytes());
        }
        for pool in &self.pools {
            let lent = held().filter(|frame| frame.pool_id() == pool.id()).count();
            let accounts = pool.accounts();
            assert_eq!(accounts.elsewhere() as usize, lent, "{accounts:?}");
            assert_eq!(accounts.total, pool.total());
        }
        ringed.send(&mut self.producer);
        assert!(ringed.is_empty());
    }

    /// Everything is freed into the first pool and goes home.
    fn end(mut self) {
        let burst = &mut self.bursts[0];
        burst.receive(&mut self.consumer, BURST_MAX);
        for frame in self.hands.drain(..).chain(self.bursts[1].drain()) {
            self.pools[0].free(frame);
        }
        self.pools[0].free_burst(&mut self.bursts[0]);
        for pool in &mut self.pools {
            pool.collect();
            let total = pool.total();
            assert_eq!(
                pool.accounts(),
                PoolAccounts {
                    total,
                    free: total,
                    returns: 0
                }
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_chunk_is_somewhere_once(steps in prop::collection::vec(step(), 1..STEPS_MAX)) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            world.check();
        }
        world.end();
    }
}
