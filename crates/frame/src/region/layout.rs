//! Where each pool lies in the Region: arithmetic only, no memory.

use crate::{
    ids::NodeId,
    memory::{HUGE_PAGE_BYTES, Placement, SMALL_PAGE_BYTES},
    meta::FrameMeta,
    region::PoolRequest,
};

/// Bytes behind the last chunk of a pool that belong to nobody. The kernel registers chunks of at
/// least 2,048 bytes however close they lie, so the last one reaches past a shorter stride.
const SLACK_BYTES: usize = SMALL_PAGE_BYTES;

/// Bytes before the first chunk of a pool that belong to nobody, see [`super::Region::LEAD_BYTES`].
pub(super) const LEAD_BYTES: usize = SMALL_PAGE_BYTES;

/// Where one pool lies, as offsets into the Region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolExtent {
    pub(super) chunks_start: usize,
    pub(super) chunks_bytes: usize,
    pub(super) meta_start: usize,
    pub(super) meta_bytes: usize,
}

/// Where all pools lie.
#[derive(Debug)]
pub(super) struct Layout {
    /// Bytes in all.
    pub(super) bytes: usize,
    /// One a request, in the order of the requests.
    pub(super) extents: Vec<PoolExtent>,
    /// One a node asked for, each beginning and ending at a huge page.
    pub(super) placements: Vec<Placement>,
}

impl Layout {
    /// Lays pools of one node side by side and begins every node at a huge page of its own;
    /// without `many_nodes` all count as one. `None` when the sum is no `usize`.
    pub(super) fn of(requests: &[PoolRequest], many_nodes: bool) -> Option<Layout> {
        let node_of = |request: &PoolRequest| request.node.filter(|_| many_nodes);
        let mut nodes: Vec<Option<NodeId>> = requests.iter().map(node_of).collect();
        nodes.sort_unstable();
        nodes.dedup();

        let mut end = 0;
        let mut extents = vec![None; requests.len()];
        let mut placements = Vec::new();
        for node in nodes {
            let start = align_up(end, HUGE_PAGE_BYTES)?;
            end = start;
            for (extent, request) in extents.iter_mut().zip(requests) {
                if node_of(request) == node {
                    let placed = extent_at(end, request)?;
                    end = placed.meta_start.checked_add(placed.meta_bytes)?;
                    *extent = Some(placed);
                }
            }
            if let Some(node) = node {
                end = align_up(end, HUGE_PAGE_BYTES)?;
                placements.push(Placement {
                    start,
                    bytes: end - start,
                    node,
                });
            }
        }
        let extents = extents.into_iter().flatten().collect();
        Some(Layout {
            bytes: end,
            extents,
            placements,
        })
    }
}

/// A pool behind `end`, at a page boundary: a lead, its chunks, slack, its records.
fn extent_at(end: usize, request: &PoolRequest) -> Option<PoolExtent> {
    let frames = request.frames as usize;
    let chunks_start = align_up(end.checked_add(LEAD_BYTES)?, SMALL_PAGE_BYTES)?;
    let chunks_bytes = frames.checked_mul(request.stride_bytes as usize)?;
    let slack_end = chunks_start
        .checked_add(chunks_bytes)?
        .checked_add(SLACK_BYTES)?;
    let meta_start = align_up(slack_end, align_of::<FrameMeta>())?;
    let meta_bytes = frames.checked_mul(size_of::<FrameMeta>())?;
    Some(PoolExtent {
        chunks_start,
        chunks_bytes,
        meta_start,
        meta_bytes,
    })
}

fn align_up(offset: usize, unit: usize) -> Option<usize> {
    offset.checked_next_multiple_of(unit)
}
