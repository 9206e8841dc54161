//! What can be asked of a Region, what it refuses, and where it puts things.

use std::collections::HashSet;

use super::{layout::Layout, *};
use crate::memory::{HUGE_PAGE_BYTES, SMALL_PAGE_BYTES};

const REQUEST: PoolRequest = PoolRequest {
    frames: 4,
    stride_bytes: 256,
    headroom_bytes: 64,
    node: None,
};

fn refused(request: PoolRequest) -> String {
    match Region::with_pools(&[REQUEST, request]) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{request:?} was accepted"),
    }
}

#[test]
fn refusals_name_the_value_and_what_is_legal() {
    for stride_bytes in [0, 64, 127, 129, 200, 131_073, 131_136, u32::MAX] {
        let said = refused(PoolRequest {
            stride_bytes,
            ..REQUEST
        });
        assert!(
            said.contains(&format!("pool 1: a stride of {stride_bytes} bytes")),
            "{said}"
        );
        assert!(
            said.contains("a multiple of 64 from 128 to 131072"),
            "{said}"
        );
    }
    for headroom_bytes in [256, u32::MAX] {
        let said = refused(PoolRequest {
            headroom_bytes,
            ..REQUEST
        });
        assert!(
            said.contains(&format!("headroom of {headroom_bytes} bytes")),
            "{said}"
        );
    }
    for frames in [0, FRAMES_MAX + 1] {
        let said = refused(PoolRequest { frames, ..REQUEST });
        assert!(
            said.contains(&format!("{frames} frames are not legal")),
            "{said}"
        );
    }
    assert_eq!(Region::with_pools(&[]).err(), Some(RegionError::NoPools));
}

#[test]
#[cfg(not(miri))]
fn memory_that_is_not_there_is_an_error() {
    let huge = PoolRequest {
        frames: FRAMES_MAX,
        stride_bytes: STRIDE_BYTES_MAX,
        ..REQUEST
    };
    let error = Region::with_pools(&[huge]).expect_err("16 TiB");
    assert!(
        matches!(error, RegionError::Memory(MemoryError::NotAvailable { .. })),
        "{error}"
    );
    assert!(error.to_string().starts_with("frame memory: "), "{error}");
    let many = vec![huge; 1 << 19];
    assert_eq!(
        Region::with_pools(&many).err(),
        Some(RegionError::Memory(MemoryError::TooLarge))
    );
}

#[test]
fn every_legal_stride_gives_its_room() {
    let strides: &[u32] = if cfg!(miri) {
        &[128, 1920, 131_072]
    } else {
        &[128, 192, 1920, 2048, 2112, 9216, 131_072]
    };
    for &stride_bytes in strides {
        for headroom_bytes in [0, 127] {
            let request = PoolRequest {
                stride_bytes,
                headroom_bytes,
                ..REQUEST
            };
            let (region, mut pools) = Region::with_pools(&[request]).expect("memory");
            let pool = &mut pools[0];
            let room = (stride_bytes - headroom_bytes) as usize;
            assert_eq!(
                (pool.frame_bytes_max(), pool.stride_bytes()),
                (room, stride_bytes as usize)
            );
            let mut frame = pool.alloc().expect("a frame");
            assert_eq!(
                (frame.capacity(), frame.headroom()),
                (room, headroom_bytes as usize)
            );
            frame.set_len(room).expect("room");
            frame.bytes_mut().fill(0xa5);
            pool.free(frame);
            assert!(region.bytes() >= 4 * stride_bytes as usize);
        }
    }
}

#[test]
fn ids_and_chunks_are_nobody_elses() {
    let requests = [
        REQUEST,
        PoolRequest {
            stride_bytes: 1920,
            ..REQUEST
        },
    ];
    let mut ids = HashSet::new();
    let mut spans = Vec::new();
    for _ in 0..3 {
        let (region, pools) = Region::with_pools(&requests).expect("memory");
        assert_eq!(region.nodes().len(), 2);
        for mut pool in pools {
            assert!(ids.insert(pool.id()), "an id twice");
            while let Some(mut frame) = pool.alloc() {
                assert_eq!(frame.extend_front(64), Ok(()));
                assert_eq!(frame.set_len(pool.stride_bytes()), Ok(()));
                let start = frame.bytes().as_ptr().addr();
                spans.push((start, start + frame.len()));
            }
        }
    }
    spans.sort_unstable();
    assert_eq!(spans.len(), 3 * 8);
    assert!(
        spans.is_sorted_by(|a, b| a.1 <= b.0),
        "chunks overlap: {spans:?}"
    );
}

#[test]
fn two_nodes_never_share_a_huge_page() {
    let on = |node| PoolRequest {
        node: Some(NodeId(node)),
        frames: 1000,
        ..REQUEST
    };
    let requests = [on(1), REQUEST, on(0), on(1)];
    let layout = Layout::of(&requests, true).expect("it fits");
    let mut owners = std::collections::HashMap::new();
    for (request, extent) in requests.iter().zip(&layout.extents) {
        let end = extent.meta_start + extent.meta_bytes;
        assert!(end <= layout.bytes);
        assert!(extent.chunks_start.is_multiple_of(SMALL_PAGE_BYTES));
        assert!(extent.meta_start >= extent.chunks_start + extent.chunks_bytes + SMALL_PAGE_BYTES);
        for page in extent.chunks_start / HUGE_PAGE_BYTES..=(end - 1) / HUGE_PAGE_BYTES {
            assert_eq!(*owners.entry(page).or_insert(request.node), request.node);
        }
        if let Some(node) = request.node {
            let inside = |p: &&crate::memory::Placement| {
                p.node == node && p.start <= extent.chunks_start && end <= p.start + p.bytes
            };
            assert_eq!(layout.placements.iter().filter(inside).count(), 1);
        }
    }
    assert_eq!(layout.placements.len(), 2);
    for placement in &layout.placements {
        assert!(placement.start.is_multiple_of(HUGE_PAGE_BYTES));
        assert!(placement.bytes.is_multiple_of(HUGE_PAGE_BYTES));
    }
}

#[test]
fn one_node_packs_all_pools_together() {
    let on = |node| PoolRequest {
        node: Some(NodeId(node)),
        ..REQUEST
    };
    let layout = Layout::of(&[on(1), on(0)], false).expect("it fits");
    assert!(layout.placements.is_empty());
    assert!(layout.bytes < 10 * SMALL_PAGE_BYTES, "{layout:?}");
}

#[test]
#[cfg(not(miri))] // a million requests take Miri minutes
fn a_sum_beyond_addresses_is_refused() {
    let huge = PoolRequest {
        frames: FRAMES_MAX,
        stride_bytes: STRIDE_BYTES_MAX,
        ..REQUEST
    };
    // 2^44 bytes a pool: 2^20 of them overflow.
    assert!(Layout::of(&vec![huge; (1 << 20) + 1], false).is_none());
}
