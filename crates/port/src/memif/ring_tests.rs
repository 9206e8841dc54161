//! Both sides of a ring in one process, over the memory that they have in common. Natively that is
//! a mapped file; under Miri, which sees every access and every race, it is of the heap.

use std::sync::Arc;
use std::thread;

use super::MemifRole;
use super::ring::{Fault, Ring};
use crate::sys::memif_memory::{Descriptor, SharedMemory};

/// Two descriptors: each is used again and again.
const LOG2_ENTRIES: u8 = 1;
const ENTRIES: u16 = 1 << LOG2_ENTRIES;
/// Buffers begin behind the ring.
const BUFFERS_AT: u32 = 4096;
const BUFFER_BYTES: u32 = 128;
const FRAMES: u32 = if cfg!(miri) { 20 } else { 20_000 };

fn memory() -> Arc<SharedMemory> {
    let bytes = (BUFFERS_AT + u32::from(ENTRIES) * BUFFER_BYTES) as usize;
    #[cfg(miri)]
    let memory = SharedMemory::of_heap(bytes);
    #[cfg(not(miri))]
    let memory = SharedMemory::create(bytes).expect("a memory file").0;
    Arc::new(memory)
}

fn ring(memory: &Arc<SharedMemory>, role: MemifRole) -> Ring {
    let ring = memory.ring(0, LOG2_ENTRIES).expect("it lies within");
    Ring::new(ring, role)
}

fn buffer(place: u16) -> Descriptor {
    Descriptor {
        len: BUFFER_BYTES,
        offset: BUFFERS_AT + u32::from(place) * BUFFER_BYTES,
        ..Descriptor::default()
    }
}

/// A frame of some length whose bytes tell which it is.
fn frame(number: u32) -> Vec<u8> {
    let len = 1 + number as usize * 7 % BUFFER_BYTES as usize;
    (0..len).map(|at| (number as usize + at) as u8).collect()
}

/// Writes the next frame into the first descriptor, and gives it away.
fn give(ring: &mut Ring, memory: &SharedMemory, number: u32) {
    let bytes = frame(number);
    let descriptor = Descriptor {
        len: bytes.len() as u32,
        metadata: number,
        ..buffer(ring.place(0))
    };
    assert!(memory.write(descriptor.offset, &bytes));
    ring.write(0, descriptor);
    ring.advance(1);
    ring.publish();
}

/// Reads the frame in the first descriptor, which must be this one.
fn get(ring: &mut Ring, memory: &SharedMemory, number: u32) {
    let descriptor = ring.read(0);
    assert_eq!(descriptor.metadata, number, "order");
    let mut bytes = vec![0; descriptor.len as usize];
    assert!(memory.read(descriptor.offset, &mut bytes));
    assert_eq!(bytes, frame(number));
}

fn wait(ring: &mut Ring) {
    while ring.available(1).expect("no fault") == 0 {
        thread::yield_now();
    }
}

#[test]
fn frames_to_the_leader_come_whole_and_in_order() {
    let memory = memory();
    let mut follower = ring(&memory, MemifRole::Follower);
    let mut leader = ring(&memory, MemifRole::Leader);
    follower.memory().initialise();
    assert!(leader.memory().has_cookie());
    let own = Arc::clone(&memory);
    let sending = thread::spawn(move || {
        for number in 0..FRAMES {
            wait(&mut follower);
            give(&mut follower, &own, number);
        }
    });
    for number in 0..FRAMES {
        wait(&mut leader);
        get(&mut leader, &memory, number);
        leader.advance(1);
        leader.publish();
    }
    sending.join().expect("the sender ends");
}

#[test]
fn frames_to_the_follower_come_whole_and_in_order() {
    let memory = memory();
    let mut follower = ring(&memory, MemifRole::Follower);
    let mut leader = ring(&memory, MemifRole::Leader);
    follower.memory().initialise();
    for ahead in 0..ENTRIES {
        follower.write(ahead, buffer(ahead));
    }
    follower.advance(ENTRIES);
    follower.publish();
    let own = Arc::clone(&memory);
    let sending = thread::spawn(move || {
        for number in 0..FRAMES {
            wait(&mut leader);
            give(&mut leader, &own, number);
        }
    });
    for number in 0..FRAMES {
        wait(&mut follower);
        get(&mut follower, &memory, number);
        follower.write(0, buffer(follower.place(0)));
        follower.advance(1);
        follower.publish();
    }
    sending.join().expect("the sender ends");
}

#[test]
fn an_index_that_is_no_state_of_the_ring_is_a_fault() {
    use crate::sys::memif_memory::{Index, RingMemory};
    use std::sync::atomic::Ordering;
    for stray in [ENTRIES + 1, 1 << 15, u16::MAX] {
        let memory = memory();
        let mut leader = ring(&memory, MemifRole::Leader);
        leader.memory().store(Index::Head, stray, Ordering::Release);
        assert_eq!(leader.available(1), Err(Fault::Index), "{stray}");
    }
}

#[test]
fn nothing_outside_of_the_memory_is_touched() {
    let memory = memory();
    let end = BUFFERS_AT + u32::from(ENTRIES) * BUFFER_BYTES;
    for (offset, len, fits) in [
        (0, end as usize, true),
        (end - 1, 1, true),
        (end, 0, true),
        (end - 1, 2, false),
        (end + 1, 0, false),
        (u32::MAX, 1, false),
    ] {
        let mut bytes = vec![7; len];
        assert_eq!(memory.has(offset, len as u32), fits, "{offset} {len}");
        assert_eq!(memory.write(offset, &bytes), fits, "{offset} {len}");
        assert_eq!(memory.read(offset, &mut bytes), fits, "{offset} {len}");
    }
    for (offset, log2_entries, fits) in [
        (0, 1, true),
        (16, 1, true),
        (8, 1, false),
        (end, 1, false),
        (end - 160, 1, true),
        (end - 144, 1, false),
        (0, 16, false),
        (0, u8::MAX, false),
    ] {
        let ring = memory.ring(offset, log2_entries);
        assert_eq!(ring.is_some(), fits, "{offset} {log2_entries}");
    }
}

/// Every length, so that each way to copy is taken, from and to places that are not aligned.
#[test]
fn copies_touch_their_bytes_and_no_others() {
    let memory = memory();
    let lengths = if cfg!(miri) { 0..70 } else { 0..200 };
    for len in lengths {
        for offset in [BUFFERS_AT, BUFFERS_AT + 3] {
            let whole = [0xAA; 256];
            assert!(memory.write(BUFFERS_AT, &whole));
            let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
            assert!(memory.write(offset, &bytes));
            let mut seen = [0; 256];
            assert!(memory.read(BUFFERS_AT, &mut seen));
            let begin = (offset - BUFFERS_AT) as usize;
            let mut expected = whole;
            expected[begin..begin + len].copy_from_slice(&bytes);
            assert_eq!(seen, expected, "{len} at {offset}");
        }
    }
}
