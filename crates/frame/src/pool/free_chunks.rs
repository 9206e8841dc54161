//! The free list of a pool: which chunks can be lent, and which next.

/// Indices of free chunks: a stack, or on demand a queue. Never grows: it has a place for each
/// chunk of the pool, and a chunk is in it at most once.
pub(crate) struct FreeChunks {
    /// As a stack `places[..count]` are free; as a queue `count` places from `first` on, around
    /// the end.
    places: Box<[u32]>,
    count: usize,
    /// Always 0 as a stack.
    first: usize,
    fifo: bool,
}

impl FreeChunks {
    /// All of `total` chunks, in ascending order.
    pub(crate) fn all(total: u32) -> FreeChunks {
        FreeChunks {
            places: (0..total).collect(),
            count: total as usize,
            first: 0,
            fifo: false,
        }
    }

    /// From now on what has been free for longest is taken first.
    pub(crate) fn fifo(&mut self) {
        self.fifo = true;
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
        if self.fifo {
            Some(self.take_first())
        } else {
            self.places.get(left).copied()
        }
    }

    #[cold]
    fn take_first(&mut self) -> u32 {
        let chunk = self.places[self.first];
        self.first = (self.first + 1) % self.places.len();
        chunk
    }

    /// Takes `want` chunks, or all there are, and gives them to `each` in one slice or two. A stack
    /// gives the slice as it was put, so that a burst keeps its order from turn to turn.
    #[inline(always)]
    pub(crate) fn take_burst(&mut self, want: usize, mut each: impl FnMut(&[u32])) {
        let want = want.min(self.count);
        if self.fifo {
            return self.take_burst_fifo(want, &mut each);
        }
        let left = self.count - want;
        each(&self.places[left..self.count]);
        self.count = left;
    }

    #[cold]
    fn take_burst_fifo(&mut self, want: usize, each: &mut dyn FnMut(&[u32])) {
        if want == 0 {
            return;
        }
        let before_end = want.min(self.places.len() - self.first);
        each(&self.places[self.first..self.first + before_end]);
        each(&self.places[..want - before_end]);
        self.first = (self.first + want) % self.places.len();
        self.count -= want;
    }

    /// Puts a chunk back.
    ///
    /// # Panics
    /// When every place is taken, which a chunk that is out of the list cannot meet.
    #[inline(always)]
    pub(crate) fn put(&mut self, chunk: u32) {
        if self.fifo {
            return self.put_last(chunk);
        }
        self.places[self.count] = chunk;
        self.count += 1;
    }

    #[cold]
    fn put_last(&mut self, chunk: u32) {
        assert!(
            self.count < self.places.len(),
            "more chunks freed than there are"
        );
        let last = (self.first + self.count) % self.places.len();
        self.places[last] = chunk;
        self.count += 1;
    }

    /// Puts chunks back, in order.
    #[inline(always)]
    pub(crate) fn put_burst(&mut self, chunks: impl ExactSizeIterator<Item = u32>) {
        if self.fifo {
            return chunks.for_each(|chunk| self.put_last(chunk));
        }
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

    #[test]
    fn a_queue_lends_what_was_put_first() {
        let mut free = FreeChunks::all(4);
        free.fifo();
        assert_eq!(
            (free.take(), free.take(), free.take()),
            (Some(0), Some(1), Some(2))
        );
        free.put_burst([2, 0].into_iter());
        assert_eq!(taken(&mut free, 2), [3, 2]); // around the end
        free.put(1);
        assert_eq!(taken(&mut free, 9), [0, 1]);
        assert_eq!((free.take(), free.count()), (None, 0));
        assert!(taken(&mut free, 1).is_empty());
    }
}
