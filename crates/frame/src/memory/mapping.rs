//! An owned piece of zeroed memory.

use core::ptr::NonNull;

use crate::{
    ids::NodeId,
    memory::{
        HUGE_PAGE_BYTES, MemoryError, Pages, SMALL_PAGE_BYTES, available::available_bytes, smaps,
        system,
    },
};

/// From this many bytes on a mapping is rounded up to huge pages: below, more than half of the page
/// would be waste.
const HUGE_FROM_BYTES: usize = HUGE_PAGE_BYTES / 2;

/// Pages looked at to learn which node a range is on.
const NODE_SAMPLES: usize = 64;

/// Zeroed memory of its own mapping, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    /// Dangling when `bytes` is 0.
    start: NonNull<u8>,
    /// Bytes mapped: those asked for, rounded up to pages.
    bytes: usize,
    /// The kind of pages that was asked for when the memory was mapped.
    asked: Pages,
}

// SAFETY: a Mapping owns its memory, which belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: through a shared Mapping memory can only be read.
unsafe impl Sync for Mapping {}

/// A range of a mapping that belongs on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) start: usize,
    pub(crate) bytes: usize,
    pub(crate) node: NodeId,
}

impl Mapping {
    /// At least `bytes` of memory with every page touched: reading and writing it never faults.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn touched(bytes: usize) -> Result<Mapping, MemoryError> {
        Mapping::placed(bytes, &[])
    }

    /// As [`Mapping::touched`], in pages of 4 KiB only.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn touched_in_small_pages(bytes: usize) -> Result<Mapping, MemoryError> {
        let wanted_bytes = bytes as u64;
        check_available(wanted_bytes)?;
        Mapping::map(bytes, Pages::Small)?
            .and_then(|new| new.place_and_touch(&[]))
            .map_err(|errno| MemoryError::Refused {
                wanted_bytes,
                errno,
            })
    }

    /// Touched memory with ranges on nodes.
    pub(crate) fn placed(bytes: usize, placements: &[Placement]) -> Result<Mapping, MemoryError> {
        let wanted_bytes = bytes as u64;
        let mut refused = libc::ENOMEM;
        // Explicit huge pages that were set aside on another node than the one asked for: memory
        // of that node is nearer in any pages, and they are taken where there is none.
        let mut elsewhere = None;
        for pages in [Pages::Explicit2M, Pages::Transparent, Pages::Small] {
            if pages == Pages::Transparent {
                // Explicit huge pages were set aside and count as used already.
                match check_available(wanted_bytes) {
                    Err(_) if elsewhere.is_some() => break,
                    checked => checked?,
                }
            }
            match Mapping::map(bytes, pages)?.and_then(|new| new.place_and_touch(placements)) {
                Ok(mapping) if mapping.is_placed(placements) => return Ok(mapping),
                Ok(mapping) if pages == Pages::Explicit2M => elsewhere = Some(mapping),
                Ok(mapping) => return Ok(elsewhere.unwrap_or(mapping)),
                Err(errno) => refused = errno,
            }
        }
        if let Some(mapping) = elsewhere {
            return Ok(mapping);
        }
        Err(MemoryError::Refused {
            wanted_bytes,
            errno: refused,
        })
    }

    /// Maps with one kind of pages. The inner error is a refusal: another kind may do.
    fn map(bytes: usize, pages: Pages) -> Result<Result<Mapping, i32>, MemoryError> {
        let unit = match pages {
            Pages::Small => SMALL_PAGE_BYTES,
            _ if bytes < HUGE_FROM_BYTES => return Ok(Err(libc::ENOMEM)),
            _ => HUGE_PAGE_BYTES,
        };
        let bytes = bytes
            .checked_next_multiple_of(unit)
            .ok_or(MemoryError::TooLarge)?;
        if bytes > isize::MAX as usize - HUGE_PAGE_BYTES {
            return Err(MemoryError::TooLarge);
        }
        if bytes == 0 {
            let start = NonNull::without_provenance(NONE_ALIGNED);
            return Ok(Ok(Mapping {
                start,
                bytes,
                asked: pages,
            }));
        }
        Ok(system::map(bytes, pages).map(|start| Mapping {
            start,
            bytes,
            asked: pages,
        }))
    }

    fn place_and_touch(self, placements: &[Placement]) -> Result<Mapping, i32> {
        for placement in placements {
            let end = placement
                .start
                .saturating_add(placement.bytes)
                .min(self.bytes);
            if placement.start < end {
                // SAFETY: the start is inside this mapping.
                let start = unsafe { self.start.add(placement.start) };
                system::prefer_node(start, end - placement.start, placement.node);
            }
        }
        if self.bytes > 0 {
            system::touch(self.start, self.bytes)?;
        }
        Ok(self)
    }

    /// First byte; aligned to a page, and to a huge page where huge pages were asked for.
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes mapped: those asked for, rounded up to whole pages.
    #[inline(always)]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The pages the memory is in now. Asks the kernel: for reports, not for the fast path.
    #[must_use]
    pub fn pages(&self) -> Pages {
        if self.asked != Pages::Transparent {
            return self.asked;
        }
        match smaps::anonymous_huge_bytes(self.start.addr().get()) {
            Some(huge) if huge >= self.bytes as u64 / 2 => Pages::Transparent,
            _ => Pages::Small,
        }
    }

    /// Whether no page that was looked at is on another node than was asked for.
    fn is_placed(&self, placements: &[Placement]) -> bool {
        placements.iter().all(|own| {
            let mut nodes = self.nodes_of(own.start, own.bytes);
            nodes.all(|node| node.is_none_or(|node| node == own.node))
        })
    }

    /// The node of a touched range; `None` where the kernel does not say or it is on several.
    pub(crate) fn node_of(&self, start: usize, bytes: usize) -> Option<NodeId> {
        let mut nodes = self.nodes_of(start, bytes);
        let first = nodes.next()??;
        nodes.all(|node| node == Some(first)).then_some(first)
    }

    /// The nodes of some pages spread over a touched range.
    fn nodes_of(&self, start: usize, bytes: usize) -> impl Iterator<Item = Option<NodeId>> {
        let end = start.saturating_add(bytes).min(self.bytes);
        let step = (bytes / NODE_SAMPLES).max(SMALL_PAGE_BYTES);
        (start..end).step_by(step).map(|offset| {
            // SAFETY: the offset is inside this mapping.
            let page = unsafe { self.start.add(offset & !(SMALL_PAGE_BYTES - 1)) };
            system::node_of_page(page)
        })
    }

    /// The memory.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: this Mapping owns `start..start + bytes`, which is initialised (zeroed).
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// The memory, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` is the only way to it.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

/// Where a mapping of nothing begins: aligned for any type.
const NONE_ALIGNED: core::num::NonZero<usize> = core::num::NonZero::new(SMALL_PAGE_BYTES).unwrap();

fn check_available(wanted_bytes: u64) -> Result<(), MemoryError> {
    match available_bytes() {
        Some(available_bytes) if available_bytes < wanted_bytes => Err(MemoryError::NotAvailable {
            wanted_bytes,
            available_bytes,
        }),
        _ => Ok(()),
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: mapped by `map` with this length; the owner is gone.
            unsafe { system::unmap(self.start, self.bytes) };
        }
    }
}
