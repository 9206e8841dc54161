//! The free list of a pool: which chunks can be lent, and which next.

/// Indices of free chunks, a stack. Never grows: it has a place for each chunk of the pool, and a
/// chunk is in it at most once.
pub(crate) struct FreeChunks {
    /// `places[..count]` are free.
    places: Box<[u32]>,
    count: usize,
}

impl FreeChunks {
    /// All of `total` chunks, in ascending order.
    pub(crate) fn all(total: u32) -> FreeChunks {
        FreeChunks {
            places: (0..total).collect(),
            count: total as usize,
        }
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Takes one chunk.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<u32> {
        let left = self.count.checked_sub(1)?;
        self.count = left;
        self.places.get(left).copied()
    }

    /// Takes `want` chunks, or all there are, and gives them to `each` in the order in which they
    /// were put, so that a burst keeps its order from turn to turn.
    #[inline(always)]
    pub(crate) fn take_burst(&mut self, want: usize, each: impl FnOnce(&[u32])) {
        let want = want.min(self.count);
        let left = self.count - want;
        each(&self.places[left..self.count]);
        self.count = left;
    }

    /// Puts a chunk back.
    ///
    /// # Panics
    /// When every place is taken, which a chunk that is out of the list cannot meet.
    #[inline(always)]
    pub(crate) fn put(&mut self, chunk: u32) {
        self.places[self.count] = chunk;
        self.count += 1;
    }

    /// Puts chunks back, in order.
    #[inline(always)]
    pub(crate) fn put_burst(&mut self, chunks: impl ExactSizeIterator<Item = u32>) {
        let end = self.count + chunks.len();
        for (place, chunk) in self.places[self.count..end].iter_mut().zip(chunks) {
            *place = chunk;
        }
        self.count = end;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn taken(free: &mut FreeChunks, want: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        free.take_burst(want, |chunks| taken.extend_from_slice(chunks));
        taken
    }

    #[test]
    fn a_stack_lends_what_was_put_last() {
        let mut free = FreeChunks::all(5);
        assert_eq!(taken(&mut free, 2), [3, 4]);
        assert_eq!(free.take(), Some(2));
        free.put_burst([4, 3].into_iter());
        assert_eq!(free.take(), Some(3));
        assert_eq!(taken(&mut free, 9), [0, 1, 4]);
        assert_eq!((free.take(), free.count()), (None, 0));
        assert!(taken(&mut free, 1).is_empty());
    }
}
