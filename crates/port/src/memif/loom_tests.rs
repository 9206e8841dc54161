//! Interleavings of both sides of a ring, with rings of two descriptors and as many frames as make
//! each be used twice: `RUSTFLAGS="--cfg loom" cargo test -p linerate-port --release --lib loom`.
//!
//! Threads are pre-empted eight times at most in each interleaving, which takes seconds: without a
//! bound, or with four descriptors, it took hours. `LOOM_MAX_PREEMPTIONS` sets another.

use std::sync::atomic::Ordering;

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU16, AtomicU64};
use loom::thread;

use super::MemifRole;
use super::ring::Ring;
use crate::sys::memif_memory::{Descriptor, Index, RingMemory};

const ENTRIES: u16 = 2;
/// One more than there are descriptors: the first is used again.
const FRAMES: u32 = 3;
const PREEMPTIONS: usize = 8;

/// Memory of which loom sees every access. Descriptors and buffers are relaxed: a side that the
/// indices did not order behind the other may see what was there before.
#[derive(Clone)]
struct Modelled(Arc<Words>);

struct Words {
    head: AtomicU16,
    tail: AtomicU16,
    descriptors: [AtomicU64; ENTRIES as usize],
    buffers: [AtomicU64; ENTRIES as usize],
}

impl Modelled {
    fn new() -> Self {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        Self(Arc::new(Words {
            head: AtomicU16::new(0),
            tail: AtomicU16::new(0),
            descriptors: zeros(),
            buffers: zeros(),
        }))
    }

    fn index(&self, index: Index) -> &AtomicU16 {
        match index {
            Index::Head => &self.0.head,
            Index::Tail => &self.0.tail,
        }
    }

    fn buffer(&self, place: u16) -> &AtomicU64 {
        &self.0.buffers[usize::from(place)]
    }
}

impl RingMemory for Modelled {
    fn entries(&self) -> u16 {
        ENTRIES
    }

    fn load(&self, index: Index, ordering: Ordering) -> u16 {
        self.index(index).load(ordering)
    }

    fn store(&self, index: Index, value: u16, ordering: Ordering) {
        self.index(index).store(value, ordering);
    }

    fn read(&self, index: u16) -> Descriptor {
        let word = self.0.descriptors[usize::from(index % ENTRIES)].load(Ordering::Relaxed);
        Descriptor {
            metadata: word as u32,
            ..Descriptor::default()
        }
    }

    fn write(&self, index: u16, value: Descriptor) {
        let word = u64::from(value.metadata);
        self.0.descriptors[usize::from(index % ENTRIES)].store(word, Ordering::Relaxed);
    }
}

type Side = Ring<Modelled>;

fn wait(ring: &mut Side) {
    while ring.available(1).expect("no fault") == 0 {
        thread::yield_now();
    }
}

/// Frames are numbered from 1, in their descriptor and in their buffer; 0 is none.
fn give(ring: &mut Side, number: u32) {
    let place = ring.place(0);
    let buffer = u64::from(number);
    ring.memory().buffer(place).store(buffer, Ordering::Relaxed);
    let descriptor = Descriptor {
        metadata: number,
        ..Descriptor::default()
    };
    ring.write(0, descriptor);
    ring.advance(1);
    ring.publish();
}

fn get(ring: &mut Side, number: u32) {
    assert_eq!(
        ring.read(0).metadata,
        number,
        "a descriptor too early or too late"
    );
    let buffer = ring.memory().buffer(ring.place(0)).load(Ordering::Relaxed);
    assert_eq!(buffer, u64::from(number), "a buffer too early or too late");
}

fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS);
    builder.check(test);
}

#[test]
fn frames_to_the_leader() {
    model(|| {
        let memory = Modelled::new();
        let mut follower = Ring::new(memory.clone(), MemifRole::Follower);
        let mut leader = Ring::new(memory, MemifRole::Leader);
        let sending = thread::spawn(move || {
            for number in 1..=FRAMES {
                wait(&mut follower);
                give(&mut follower, number);
            }
        });
        for number in 1..=FRAMES {
            wait(&mut leader);
            get(&mut leader, number);
            leader.advance(1);
            leader.publish();
        }
        sending.join().expect("the sender ends");
    });
}

#[test]
fn frames_to_the_follower() {
    model(|| {
        let memory = Modelled::new();
        let mut follower = Ring::new(memory.clone(), MemifRole::Follower);
        let mut leader = Ring::new(memory, MemifRole::Leader);
        // All buffers are the leader's at first.
        follower.advance(ENTRIES);
        follower.publish();
        let sending = thread::spawn(move || {
            for number in 1..=FRAMES {
                wait(&mut leader);
                give(&mut leader, number);
            }
        });
        for number in 1..=FRAMES {
            wait(&mut follower);
            get(&mut follower, number);
            follower.write(0, Descriptor::default());
            follower.advance(1);
            follower.publish();
        }
        sending.join().expect("the sender ends");
    });
}

/// What the peer gave all at once is taken at once.
#[test]
fn several_frames_are_shown_by_one_store() {
    model(|| {
        let memory = Modelled::new();
        let mut follower = Ring::new(memory.clone(), MemifRole::Follower);
        let mut leader = Ring::new(memory, MemifRole::Leader);
        let sending = thread::spawn(move || {
            for number in 1..=2 {
                let place = follower.place(0);
                let buffer = u64::from(number);
                follower
                    .memory()
                    .buffer(place)
                    .store(buffer, Ordering::Relaxed);
                let descriptor = Descriptor {
                    metadata: number,
                    ..Descriptor::default()
                };
                follower.write(0, descriptor);
                follower.advance(1);
            }
            follower.publish();
        });
        wait(&mut leader);
        assert_eq!(leader.available(ENTRIES), Ok(ENTRIES));
        for number in 1..=2 {
            get(&mut leader, number);
            leader.advance(1);
        }
        leader.publish();
        sending.join().expect("the sender ends");
    });
}
