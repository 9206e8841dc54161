//! Every interleaving of the two sides of a ring:
//! `RUSTFLAGS="--cfg loom" cargo test -p linerate-port --release --lib loom`.

use std::sync::atomic::Ordering;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU16, AtomicU64};
use loom::thread;

use super::MemifRole;
use super::ring::Ring;
use crate::sys::memif_memory::{Descriptor, Index, RingMemory};

/// A ring and its buffers, of which loom sees every access. All are relaxed atomics: a side that
/// the indices did not order behind the other may see what was there before.
#[derive(Clone)]
struct Modelled(Arc<Words>);

struct Words {
    head: AtomicU16,
    tail: AtomicU16,
    descriptors: Vec<AtomicU64>,
    buffers: Vec<AtomicU64>,
}

const NOTHING: u64 = u64::MAX;

impl Modelled {
    fn new(entries: usize) -> Self {
        let words = || (0..entries).map(|_| AtomicU64::new(NOTHING)).collect();
        Self(Arc::new(Words {
            head: AtomicU16::new(0),
            tail: AtomicU16::new(0),
            descriptors: words(),
            buffers: words(),
        }))
    }

    fn index(&self, index: Index) -> &AtomicU16 {
        match index {
            Index::Head => &self.0.head,
            Index::Tail => &self.0.tail,
        }
    }

    fn place(&self, index: u16) -> usize {
        usize::from(index) % self.0.descriptors.len()
    }
}

impl RingMemory for Modelled {
    fn entries(&self) -> u16 {
        self.0.descriptors.len() as u16
    }

    fn load(&self, index: Index, ordering: Ordering) -> u16 {
        self.index(index).load(ordering)
    }

    fn store(&self, index: Index, value: u16, ordering: Ordering) {
        self.index(index).store(value, ordering);
    }

    fn read(&self, index: u16) -> Descriptor {
        let word = self.0.descriptors[self.place(index)].load(Ordering::Relaxed);
        assert_ne!(
            word, NOTHING,
            "a descriptor was given before it was written"
        );
        Descriptor {
            len: word as u32,
            ..Descriptor::default()
        }
    }

    fn write(&self, index: u16, value: Descriptor) {
        self.0.descriptors[self.place(index)].store(u64::from(value.len), Ordering::Relaxed);
    }
}

fn descriptor(len: u32) -> Descriptor {
    Descriptor {
        len,
        ..Descriptor::default()
    }
}

/// `count` frames from one side to the other over a ring of `entries`, `together` at a time.
fn frames(entries: usize, count: u32, together: u16, sender: MemifRole) {
    loom::model(move || {
        let memory = Modelled::new(entries);
        let receiver = match sender {
            MemifRole::Leader => MemifRole::Follower,
            MemifRole::Follower => MemifRole::Leader,
        };
        let mut from = Ring::new(memory.clone(), sender);
        let mut to = Ring::new(memory.clone(), receiver);
        if receiver == MemifRole::Follower {
            // Empty buffers first, as a connection begins.
            (0..entries as u16).for_each(|ahead| to.write(ahead, descriptor(0)));
            to.advance(entries as u16);
            to.publish();
        }
        let buffers = memory.clone();
        let sending = thread::spawn(move || {
            let mut number = 0;
            while number < count {
                let room = from.available(together).expect("the ring is sound");
                let now = room.min((count - number) as u16);
                for ahead in 0..now {
                    let at = usize::from(from.place(ahead));
                    buffers.0.buffers[at].store(u64::from(number), Ordering::Relaxed);
                    from.write(ahead, descriptor(number + 1));
                    number += 1;
                }
                from.advance(now);
                from.publish();
                if now == 0 {
                    thread::yield_now();
                }
            }
        });
        let mut number = 0;
        while number < count {
            let there = to.available(entries as u16).expect("the ring is sound");
            for ahead in 0..there {
                assert_eq!(to.read(ahead).len, number + 1, "descriptor");
                let at = usize::from(to.place(ahead));
                let bytes = memory.0.buffers[at].load(Ordering::Relaxed);
                assert_eq!(bytes, u64::from(number), "buffer");
                to.write(ahead, descriptor(0));
                number += 1;
            }
            to.advance(there);
            to.publish();
            if there == 0 {
                thread::yield_now();
            }
        }
        sending.join().expect("the sender ends");
    });
}

#[test]
fn a_leader_reads_what_a_follower_wrote() {
    frames(2, 4, 1, MemifRole::Follower);
}

#[test]
fn a_follower_reads_what_a_leader_wrote() {
    frames(2, 4, 1, MemifRole::Leader);
}

#[test]
fn frames_shown_together_keep_their_order() {
    frames(2, 5, 2, MemifRole::Follower);
    frames(2, 5, 2, MemifRole::Leader);
}
