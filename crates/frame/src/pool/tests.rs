//! Frames out and home: accounts always sum, whatever the order.

use std::collections::HashSet;

use super::*;
use crate::{BURST_MAX, FrameMeta, FrameTooLong, FrameTooShort, PoolRequest, PortId, Region};

fn pools(frames: &[u32]) -> Vec<FramePool> {
    let request = |&frames: &u32| PoolRequest {
        frames,
        stride_bytes: 192,
        headroom_bytes: 64,
        node: None,
    };
    let requests: Vec<_> = frames.iter().map(request).collect();
    Region::with_pools(&requests).expect("memory").1
}

fn accounts(total: u32, free: u32, returns: u32) -> PoolAccounts {
    PoolAccounts {
        total,
        free,
        returns,
    }
}

#[test]
fn a_frame_is_lent_and_comes_back() {
    let mut pool = pools(&[2]).remove(0);
    let mut first = pool.alloc().expect("a frame");
    let second = pool.alloc().expect("a frame");
    assert!(pool.alloc().is_none());
    assert_eq!((first.len(), first.bytes()), (0, &[][..]));
    assert_eq!((first.capacity(), first.headroom()), (128, 64));
    first.copy_from(b"hello").expect("it fits");
    assert_eq!(first.bytes(), b"hello");
    assert_eq!(pool.accounts(), accounts(2, 0, 0));
    assert_eq!(pool.accounts().elsewhere(), 2);
    pool.free(second);
    let place = first.header_ptr();
    pool.free(first);
    assert_eq!(pool.accounts(), accounts(2, 2, 0));
    let again = pool.alloc().expect("a frame");
    assert_eq!((again.header_ptr(), again.len()), (place, 0)); // last freed, first lent
    pool.free(again);
}

#[test]
fn lengths_end_at_the_chunk() {
    let mut pool = pools(&[3]).remove(0);
    let mut frame = pool.alloc().expect("a frame");
    let too_long = FrameTooLong {
        wanted_bytes: 129,
        capacity_bytes: 128,
    };
    assert_eq!(frame.set_len(129), Err(too_long));
    assert_eq!(frame.copy_from(&[1; 129]), Err(too_long));
    assert_eq!((frame.len(), frame.set_len(usize::MAX).is_err()), (0, true));
    assert_eq!(
        too_long.to_string(),
        "129 bytes do not fit a chunk that has room for 128"
    );
    frame.copy_from(&[7; 128]).expect("it fits to the byte");
    assert_eq!(frame.set_len(3), Ok(()));
    assert_eq!(frame.set_len(128), Ok(()));
    assert_eq!(frame.bytes(), [7; 128]);
    pool.free(frame);
}

#[test]
fn the_front_moves_within_the_chunk() {
    let mut pool = pools(&[1]).remove(0);
    let mut frame = pool.alloc().expect("a frame");
    frame.copy_from(b"abcdef").expect("it fits");
    assert_eq!(frame.trim_front(4), Ok(()));
    assert_eq!(
        (frame.bytes(), frame.headroom(), frame.capacity()),
        (&b"ef"[..], 68, 124)
    );
    let too_short = FrameTooShort {
        wanted_bytes: 3,
        available_bytes: 2,
    };
    assert_eq!(frame.trim_front(3), Err(too_short));
    assert_eq!(
        frame.extend_front(69).map_err(|e| e.available_bytes),
        Err(68)
    );
    assert!(frame.extend_front(usize::MAX).is_err());
    assert_eq!(frame.extend_front(68), Ok(()));
    assert_eq!(
        (frame.len(), frame.headroom(), frame.capacity()),
        (70, 0, 192)
    );
    assert_eq!(&frame.bytes()[64..], b"abcdef");
    assert_eq!(frame.set_len(192), Ok(()));
    assert_eq!(frame.trim_front(192), Ok(()));
    assert_eq!(
        (frame.len(), frame.capacity(), frame.headroom()),
        (0, 0, 192)
    );
    pool.free(frame);
    assert_eq!(pool.alloc().map(|f| (f.len(), f.headroom())), Some((0, 64)));
}

#[test]
fn the_record_is_there_when_set_since_alloc() {
    let mut pool = pools(&[1]).remove(0);
    let mut frame = pool.alloc().expect("a frame");
    assert!(frame.meta().is_none());
    frame.meta_mut().port = PortId(3);
    frame.meta_mut().original_len = 1514;
    let expected = FrameMeta {
        port: PortId(3),
        original_len: 1514,
        ..FrameMeta::default()
    };
    assert_eq!(frame.meta(), Some(&expected));
    pool.free(frame);
    let mut frame = pool.alloc().expect("the same chunk");
    assert!(frame.meta().is_none());
    assert_eq!(*frame.meta_mut(), FrameMeta::default()); // nothing of the last frame
    pool.free(frame);
}

#[test]
fn foreign_frames_go_home_one_by_one_and_in_bursts() {
    let mut pools = pools(&[4, 4, 4]);
    let mut burst = Burst::new();
    for pool in &mut pools {
        assert_eq!(pool.alloc_burst(&mut burst, 3), 3);
    }
    burst.frames_mut().rotate_left(4);
    burst.frames_mut().swap(1, 7);
    pools[0].free_burst(&mut burst);
    assert!(burst.is_empty());
    assert_eq!(pools[0].accounts(), accounts(4, 4, 0));
    assert_eq!(pools[1].accounts(), accounts(4, 1, 3));
    assert_eq!(pools[2].accounts(), accounts(4, 1, 3));
    let frame = pools[2].alloc().expect("the last one");
    pools[0].free(frame);
    assert_eq!(pools[2].accounts(), accounts(4, 0, 4));
    let frame = pools[2].alloc().expect("collects by itself");
    assert_eq!(pools[2].accounts(), accounts(4, 3, 0));
    pools[2].free(frame);
    pools[1].collect();
    assert_eq!(pools[1].accounts(), accounts(4, 4, 0));
}

#[test]
fn another_region_is_no_obstacle() {
    let (mut here, mut there) = (pools(&[2]).remove(0), pools(&[2]).remove(0));
    let frame = there.alloc().expect("a frame");
    here.free(frame);
    assert_eq!(
        (here.accounts(), there.accounts()),
        (accounts(2, 2, 0), accounts(2, 1, 1))
    );
    there.collect();
    assert_eq!(there.accounts(), accounts(2, 2, 0));
}

#[test]
fn frames_outlive_their_pool() {
    let mut pools = pools(&[2, 2]);
    let mut gone = pools.remove(0);
    let mut frame = gone.alloc().expect("a frame");
    drop(gone);
    frame.copy_from(b"still here").expect("it fits");
    frame.meta_mut().rss_hash = 1;
    assert_eq!(frame.bytes(), b"still here");
    pools[0].free(frame);
    assert_eq!(pools[0].accounts(), accounts(2, 2, 0));
}

#[test]
fn bursts_end_at_their_room_and_at_the_pool() {
    let mut pool = pools(&[BURST_MAX as u32 + 10]).remove(0);
    let mut burst = Burst::new();
    assert_eq!(pool.alloc_burst(&mut burst, 0), 0);
    assert_eq!(pool.alloc_burst(&mut burst, 5), 5);
    assert_eq!(pool.alloc_burst(&mut burst, usize::MAX), BURST_MAX - 5);
    assert_eq!(pool.alloc_burst(&mut burst, 1), 0);
    let mut second = Burst::new();
    assert_eq!(pool.alloc_burst(&mut second, 20), 10);
    let places = burst
        .frames()
        .iter()
        .chain(second.frames())
        .map(Frame::header_ptr);
    assert_eq!(places.collect::<HashSet<_>>().len(), BURST_MAX + 10);
    pool.free_burst(&mut burst);
    pool.free_burst(&mut second);
    assert_eq!(pool.accounts().elsewhere(), 0);
}

#[test]
fn threads_return_what_they_were_lent() {
    let rounds = if cfg!(miri) { 4 } else { 2_000 };
    let mut pools = pools(&[64, 8, 8]);
    let (mut producers, consumers): (Vec<_>, Vec<_>) =
        (0..2).map(|_| crate::ring::<Frame>(16)).unzip();
    std::thread::scope(|scope| {
        let (owner, others) = pools.split_at_mut(1);
        for (pool, mut ring) in others.iter_mut().zip(consumers) {
            scope.spawn(move || {
                let mut burst = Burst::new();
                loop {
                    let closed = ring.is_closed();
                    if burst.receive(&mut ring, 32) == 0 && closed {
                        break;
                    }
                    burst
                        .frames_mut()
                        .iter_mut()
                        .for_each(|f| f.bytes_mut().fill(0));
                    pool.free_burst(&mut burst);
                    std::thread::yield_now();
                }
            });
        }
        let mut burst = Burst::new();
        for round in 0..rounds {
            owner[0].alloc_burst(&mut burst, 12);
            for frame in burst.frames_mut() {
                frame.copy_from(&[round as u8; 60]).expect("it fits");
            }
            burst.send(&mut producers[round % 2]);
            assert!(
                burst
                    .frames()
                    .iter()
                    .all(|f| f.bytes() == [round as u8; 60])
            );
            owner[0].free_burst(&mut burst);
        }
        drop(producers);
    });
    for pool in &mut pools {
        pool.collect();
        assert_eq!(pool.accounts(), accounts(pool.total(), pool.total(), 0));
    }
}
