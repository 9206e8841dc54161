//! Frames in order, and none lost on the way.

use super::*;
use crate::{FramePool, PoolRequest, Region, ring};

fn pool(frames: u32) -> FramePool {
    let request = PoolRequest {
        frames,
        stride_bytes: 128,
        headroom_bytes: 0,
        node: None,
    };
    Region::with_pools(&[request]).expect("memory").1.remove(0)
}

/// A burst of `count` frames whose single byte is their number.
fn numbered(pool: &mut FramePool, count: usize) -> Burst {
    let mut burst = Burst::new();
    assert_eq!(pool.alloc_burst(&mut burst, count), count);
    for (number, frame) in burst.frames_mut().iter_mut().enumerate() {
        frame.copy_from(&[number as u8]).expect("a byte fits");
    }
    burst
}

fn number(frame: &Frame) -> u8 {
    frame.bytes()[0]
}

fn numbers(burst: &Burst) -> Vec<u8> {
    burst.frames().iter().map(number).collect()
}

#[test]
fn the_last_pushed_is_popped_and_the_full_burst_gives_back() {
    let mut pool = pool(BURST_MAX as u32 + 1);
    let mut burst = numbered(&mut pool, BURST_MAX);
    assert_eq!((burst.len(), burst.room()), (BURST_MAX, 0));
    let extra = pool.alloc().expect("one more");
    let place = extra.header_ptr();
    let extra = burst.push(extra).expect_err("the burst is full");
    assert_eq!(extra.header_ptr(), place);
    pool.free(extra);
    let last = burst.pop().expect("a frame");
    assert_eq!(number(&last), (BURST_MAX - 1) as u8);
    assert!(burst.push(last).is_ok());
    pool.free_burst(&mut burst);
    assert!(burst.is_empty() && burst.pop().is_none());
    assert_eq!(pool.accounts().elsewhere(), 0);
}

#[test]
fn a_drain_dropped_half_way_leaves_the_rest_in_order() {
    let mut pool = pool(8);
    let mut burst = numbered(&mut pool, 8);
    let mut drain = burst.drain();
    assert_eq!(drain.len(), 8);
    let taken: Vec<Frame> = drain.by_ref().take(3).collect();
    assert_eq!(drain.len(), 5);
    drop(drain);
    assert_eq!(taken.iter().map(number).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(numbers(&burst), [3, 4, 5, 6, 7]);
    drop(burst.drain());
    assert_eq!(burst.len(), 5);
    burst.drain().for_each(|frame| pool.free(frame));
    taken.into_iter().for_each(|frame| pool.free(frame));
    assert!(burst.is_empty());
    assert_eq!(pool.accounts().elsewhere(), 0);
}

#[test]
fn a_front_is_drained_and_the_others_move_up() {
    let mut pool = pool(8);
    let mut burst = numbered(&mut pool, 8);
    burst.drain_front(2).for_each(|frame| pool.free(frame));
    assert_eq!(numbers(&burst), [2, 3, 4, 5, 6, 7]);
    let mut front = burst.drain_front(4);
    front.by_ref().take(3).for_each(|frame| pool.free(frame));
    assert_eq!(front.len(), 1);
    drop(front);
    assert_eq!(numbers(&burst), [5, 6, 7]);
    assert_eq!(burst.drain_front(0).len(), 0);
    assert_eq!(numbers(&burst), [5, 6, 7]);
    let mut all = burst.drain_front(usize::MAX);
    all.by_ref().for_each(|frame| pool.free(frame));
    assert!(all.next().is_none() && all.next().is_none());
    drop(all);
    assert_eq!((burst.len(), pool.free_count()), (0, 8));
}

/// What is forgotten is lost, and only that: no handle appears twice.
#[test]
fn a_forgotten_drain_leaks_and_aliases_nothing() {
    let mut pool = pool(4);
    let mut burst = numbered(&mut pool, 4);
    let mut drain = burst.drain();
    let first = drain.next().expect("a frame");
    core::mem::forget(drain);
    assert!(burst.is_empty());
    pool.free(first);
    assert_eq!(pool.accounts().elsewhere(), 3);
}

#[test]
fn append_takes_the_front_as_far_as_there_is_room() {
    let mut pool = pool(2 * BURST_MAX as u32);
    let mut burst = numbered(&mut pool, BURST_MAX - 3);
    let mut other = numbered(&mut pool, 5);
    assert_eq!(burst.append(&mut other), 3);
    assert_eq!(
        numbers(&burst)[BURST_MAX - 4..],
        [(BURST_MAX - 4) as u8, 0, 1, 2]
    );
    assert_eq!(numbers(&other), [3, 4]);
    assert_eq!(burst.append(&mut other), 0);
    pool.free_burst(&mut burst);
    assert_eq!(burst.append(&mut other), 2);
    assert_eq!((numbers(&burst), other.len()), (vec![3, 4], 0));
    pool.free_burst(&mut burst);
    assert_eq!(pool.accounts().elsewhere(), 0);
}

#[test]
fn swap_remove_takes_any_one() {
    let mut pool = pool(4);
    let mut burst = numbered(&mut pool, 4);
    for (index, removed, rest) in [
        (1, Some(1), vec![0, 3, 2]),
        (3, None, vec![0, 3, 2]),
        (2, Some(2), vec![0, 3]),
    ] {
        let frame = burst.swap_remove(index);
        assert_eq!(frame.as_ref().map(number), removed);
        frame.into_iter().for_each(|frame| pool.free(frame));
        assert_eq!(numbers(&burst), rest);
    }
    pool.free_burst(&mut burst);
    assert!(burst.swap_remove(0).is_none());
}

#[test]
fn a_ring_takes_what_fits_and_the_burst_keeps_the_rest() {
    let mut pool = pool(6);
    let mut burst = numbered(&mut pool, 6);
    let (mut producer, mut consumer) = ring(4);
    assert_eq!(burst.send(&mut producer), 4);
    assert_eq!(
        (burst.send(&mut producer), numbers(&burst)),
        (0, vec![4, 5])
    );
    assert_eq!(burst.receive(&mut consumer, 3), 3);
    assert_eq!(burst.receive(&mut consumer, 3), 1);
    assert_eq!(
        (burst.receive(&mut consumer, 3), numbers(&burst)),
        (0, vec![4, 5, 0, 1, 2, 3])
    );
    pool.free_burst(&mut burst);
    assert_eq!(pool.accounts().elsewhere(), 0);
}

#[test]
fn a_full_burst_receives_nothing() {
    let mut pool = pool(BURST_MAX as u32 + 2);
    let (mut producer, mut consumer) = ring(2);
    assert_eq!(numbered(&mut pool, 2).send(&mut producer), 2);
    let mut burst = numbered(&mut pool, BURST_MAX - 1);
    assert_eq!(burst.receive(&mut consumer, 9), 1);
    assert_eq!((burst.receive(&mut consumer, 9), consumer.len()), (0, 1));
    pool.free_burst(&mut burst);
    consumer
        .pop()
        .into_iter()
        .for_each(|frame| pool.free(frame));
    assert_eq!(pool.accounts().elsewhere(), 0);
}
