//! Lending by address, and what a false address gets.

use super::*;
use crate::{FramePool, PoolRequest};

fn pools(strides: &[u32]) -> (&'static Region, Vec<FramePool>) {
    let requests: Vec<PoolRequest> = strides
        .iter()
        .map(|&stride_bytes| PoolRequest {
            frames: 5,
            stride_bytes,
            headroom_bytes: 64,
            node: None,
        })
        .collect();
    Region::with_pools(&requests).expect("memory")
}

#[test]
fn every_chunk_of_every_pool_comes_back_from_any_of_its_addresses() {
    let (region, mut pools) = pools(&[192, 1920, 2112, 4096]);
    let mut lender = region.lender().expect("a lender");
    for pool in &mut pools {
        let stride = pool.stride_bytes();
        for place in [0, 1, 64, stride - 1] {
            let mut lent = Vec::new();
            while let Some(frame) = pool.alloc() {
                let chunk = frame.chunk();
                let start = lender.lend(frame).expect("of this Region") - 64;
                lent.push((start, chunk));
            }
            assert_eq!((lent.len(), lender.lent()), (5, 5));
            for (start, chunk) in lent {
                let frame = lender.take_back(start + place).expect("it was lent");
                assert_eq!((frame.chunk(), frame.len()), (chunk, 0));
                assert_eq!(
                    (frame.headroom(), frame.capacity()),
                    (place, stride - place)
                );
                pool.free(frame);
            }
            assert_eq!((pool.accounts().elsewhere(), lender.lent()), (0, 0));
        }
    }
}

#[test]
fn bytes_written_by_address_are_the_frames() {
    let (region, mut pools) = pools(&[1920]);
    let mut lender = region.lender().expect("a lender");
    let mut frame = pools[0].alloc().expect("a frame");
    frame.copy_from(b"kernel").expect("it fits");
    let offset = lender.lend(frame).expect("of this Region");
    let mut frame = lender.take_back(offset + 2).expect("it was lent");
    frame.set_len(4).expect("room");
    assert_eq!(frame.bytes(), b"rnel");
    assert!(frame.meta().is_none());
    pools[0].free(frame);
}

#[test]
fn a_false_address_gives_no_frame() {
    let (region, mut pools) = pools(&[1920, 2112]);
    let mut lender = region.lender().expect("a lender");
    let mut other = region.lender().expect("another");
    let kept = pools[0].alloc().expect("a frame");
    let frame = pools[0].alloc().expect("a frame");
    let kept_at = kept.header_ptr().addr() - region.start_ptr().addr().get();
    let offset = lender.lend(frame).expect("of this Region");
    for wrong in [
        0,
        64,
        kept_at,
        region.bytes() - 1,
        region.bytes(),
        usize::MAX,
    ] {
        assert!(lender.take_back(wrong).is_none(), "{wrong}");
    }
    assert!(other.take_back(offset).is_none(), "lent by somebody else");
    let frame = lender.take_back(offset).expect("it was lent");
    assert!(lender.take_back(offset).is_none(), "twice");
    let moved = other.lend(frame).expect("of this Region");
    assert!(
        lender.take_back(moved).is_none(),
        "lent on by somebody else"
    );
    pools[0].free(other.take_back(moved).expect("it was lent"));
    pools[0].free(kept);
    assert_eq!(pools[0].accounts().elsewhere(), 0);
}

#[test]
fn all_frames_come_back_at_once_and_nobody_elses() {
    let (region, mut pools) = pools(&[1920, 2112]);
    let (mut lender, mut other) = (region.lender().unwrap(), region.lender().unwrap());
    let kept = other.lend(pools[1].alloc().unwrap()).unwrap();
    for pool in &mut pools {
        lender.lend(pool.alloc().unwrap()).unwrap();
        lender.lend(pool.alloc().unwrap()).unwrap();
    }
    let mut count = 0;
    lender.take_all_back(|frame| {
        count += 1;
        pools[0].free(frame);
    });
    assert_eq!((count, lender.lent(), other.lent()), (4, 0, 1));
    pools[0].free(other.take_back(kept).expect("still lent"));
    pools[1].collect();
    assert!(pools.iter().all(|pool| pool.accounts().elsewhere() == 0));
}

#[test]
fn a_frame_of_another_region_stays_with_its_owner() {
    let (_, mut others) = pools(&[1920, 1920]);
    let (region, _pools) = pools(&[1920]);
    let mut lender = region.lender().expect("a lender");
    for pool in &mut others {
        let frame = pool.alloc().expect("a frame");
        let frame = lender.lend(frame).expect_err("another Region's");
        pool.free(frame);
        assert_eq!((pool.accounts().elsewhere(), lender.lent()), (0, 0));
    }
}

/// A frame of `len` bytes in a chunk of a stride that three pieces fit, lent in pieces.
fn lent_in_pieces(lender: &mut Lender, pool: &mut FramePool, len: usize) -> usize {
    let mut frame = pool.alloc().expect("a frame");
    frame.set_len(len).expect("room");
    lender.lend_pieces(frame).expect("few pieces")
}

#[test]
fn a_frame_in_pieces_comes_back_with_the_last_of_them() {
    let (region, mut pools) = pools(&[9280]);
    let mut lender = region.lender().expect("a lender");
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        let offset = lent_in_pieces(&mut lender, &mut pools[0], 9022);
        assert!(lender.take_back(offset).is_none(), "it is not lent whole");
        for (place, piece) in order.into_iter().enumerate() {
            let at = offset + piece * PIECE_BYTES;
            let back = lender.take_back_piece(at).expect("it was lent");
            assert_eq!(back.is_some(), place == 2, "{order:?}");
            assert!(lender.take_back_piece(at).is_err(), "twice");
            back.into_iter().for_each(|frame| pools[0].free(frame));
        }
        assert_eq!((pools[0].accounts().elsewhere(), lender.lent()), (0, 0));
    }
}

#[test]
fn pieces_that_were_not_lent_give_no_frame() {
    let (region, mut pools) = pools(&[9280]);
    let (mut lender, mut other) = (region.lender().unwrap(), region.lender().unwrap());
    let whole = lender.lend(pools[0].alloc().unwrap()).unwrap();
    assert!(lender.take_back_piece(whole).is_err());
    let offset = lent_in_pieces(&mut lender, &mut pools[0], 4097);
    assert!(other.take_back_piece(offset).is_err());
    for wrong in [offset + 2 * PIECE_BYTES, region.bytes(), usize::MAX] {
        assert!(lender.take_back_piece(wrong).is_err(), "{wrong}");
    }
    let mut count = 0;
    lender.take_all_back(|frame| {
        count += 1;
        pools[0].free(frame);
    });
    assert_eq!((count, lender.lent()), (2, 0), "pieces or not");
    assert!(lender.take_back_piece(offset).is_err());
}

#[test]
fn frames_of_too_many_pieces_stay_with_their_owner() {
    let (region, mut pools) = pools(&[16_384]);
    let mut lender = region.lender().expect("a lender");
    for (len, trimmed, lends) in [
        (0, 0, false),
        (1, 0, true),
        (PIECES_MAX * PIECE_BYTES, 0, true),
        (PIECES_MAX * PIECE_BYTES + 1, 0, false),
        (10_000, 5_000, true),
        (16_000, 3_000, false),
    ] {
        let mut frame = pools[0].alloc().expect("a frame");
        frame.set_len(len).expect("room");
        frame.trim_front(trimmed).expect("so long");
        match lender.lend_pieces(frame) {
            Ok(offset) => {
                assert!(lends, "{len} bytes");
                let pieces = (len - trimmed).div_ceil(PIECE_BYTES);
                for piece in 0..pieces {
                    let back = lender.take_back_piece(offset + piece * PIECE_BYTES);
                    back.unwrap()
                        .into_iter()
                        .for_each(|frame| pools[0].free(frame));
                }
            }
            Err(frame) => {
                assert!(!lends, "{len} bytes");
                pools[0].free(frame);
            }
        }
        assert_eq!((pools[0].accounts().elsewhere(), lender.lent()), (0, 0));
    }
}
