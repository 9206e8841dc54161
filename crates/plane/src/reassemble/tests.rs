//! Packets put together in every order, and what cannot be.

use frame::{PoolRequest, Region};

use super::*;
use crate::fragments::tests::{cut, each_order, part, whole};

fn pool(stride_bytes: u32) -> FramePool {
    let request = PoolRequest {
        frames: 600,
        stride_bytes,
        headroom_bytes: 0,
        node: None,
    };
    Region::with_pools(&[request]).expect("memory").1.remove(0)
}

fn accept(reassembler: &mut Reassembler, pool: &mut FramePool, bytes: &[u8]) -> Reassembled {
    let mut frame = pool.alloc().expect("a free frame");
    frame.copy_from(bytes).expect("a short frame");
    reassembler.accept(frame, pool)
}

#[test]
fn fragments_in_any_order_make_the_packet() {
    let mut pool = pool(576);
    let mut reassembler = Reassembler::new(FragmentLimits::default());
    let mut identification = 0;
    for (six, count) in [false, true]
        .into_iter()
        .flat_map(|six| (2..=7).map(move |n| (six, n)))
    {
        let whole = whole(six, 1, 24 * count - 5);
        each_order(count, &mut |order| {
            identification += 1;
            let pieces = cut(&whole, identification);
            let (last, others) = order.split_last().expect("two at least");
            for &at in others {
                let held = accept(&mut reassembler, &mut pool, &pieces[at]);
                assert!(matches!(held, Reassembled::Held), "{held:?}");
            }
            match accept(&mut reassembler, &mut pool, &pieces[*last]) {
                Reassembled::Packet(packet) => {
                    let mut wanted = whole.clone();
                    if !six {
                        // The identification of the fragments, and so the checksum.
                        wanted[18..20].copy_from_slice(&(identification as u16).to_be_bytes());
                        wanted[24..26].fill(0);
                        let sum = checksum::checksum(&wanted[14..34]);
                        wanted[24..26].copy_from_slice(&sum.to_be_bytes());
                    }
                    assert_eq!(packet.bytes(), wanted, "{order:?}");
                    pool.free(packet);
                }
                other => panic!("{order:?}: {other:?}"),
            }
            assert_eq!((reassembler.held(), pool.free_count()), (0, pool.total()));
        });
    }
}

#[test]
fn what_does_not_fit_is_lost_whole() {
    let mut pool = pool(256);
    let mut reassembler = Reassembler::new(FragmentLimits::default());
    let whole = whole(false, 1, 400);
    let parts = [part(&whole, 0..200, 1), part(&whole, 200..400, 1)].map(|mut bytes| {
        bytes.truncate(250);
        bytes
    });
    let first = accept(&mut reassembler, &mut pool, &parts[0]);
    assert!(matches!(first, Reassembled::Held), "{first:?}");
    let Reassembled::Lost(frame, reason) = accept(&mut reassembler, &mut pool, &parts[1]) else {
        panic!("it is too long");
    };
    pool.free(frame);
    assert_eq!(reason, DropReason::FragmentTooLong);
    let (frame, reason) = reassembler.next_lost().expect("the other one");
    pool.free(frame);
    assert_eq!(reason, DropReason::FragmentTooLong);
    assert_eq!((reassembler.held(), pool.free_count()), (0, pool.total()));
}

#[test]
fn whole_packets_are_left_alone_and_duplicates_lost() {
    let mut pool = pool(576);
    let mut reassembler = Reassembler::new(FragmentLimits::default());
    let whole = whole(true, 1, 80);
    let free = |outcome, pool: &mut FramePool| match outcome {
        Reassembled::Untouched(frame) => {
            pool.free(frame);
            None
        }
        Reassembled::Lost(frame, reason) => {
            pool.free(frame);
            Some(reason)
        }
        other => panic!("{other:?}"),
    };
    let untouched = accept(&mut reassembler, &mut pool, &whole);
    assert_eq!(free(untouched, &mut pool), None);
    let pieces = cut(&whole, 4);
    let held = accept(&mut reassembler, &mut pool, &pieces[2]);
    assert!(matches!(held, Reassembled::Held), "{held:?}");
    let lost = accept(&mut reassembler, &mut pool, &pieces[2]);
    assert_eq!(free(lost, &mut pool), Some(DropReason::FragmentDuplicate));
    reassembler.clear(DropReason::Shutdown);
    let (frame, _) = reassembler.next_lost().expect("what waited");
    pool.free(frame);
    assert_eq!(pool.free_count(), pool.total());
}
