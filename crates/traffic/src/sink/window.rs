//! Which numbers of a stream have come, as far back as a window reaches.

/// What a number is beside those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Above all before.
    Highest,
    /// New, and below the highest before.
    Below,
    /// Not new.
    Duplicate,
    /// Below what the window reaches: late or a duplicate, which is not known.
    Outside,
}

/// One bit a number, of the highest and those below it. A number takes constant work, or work
/// bounded by the window when it is far above all before.
#[derive(Clone)]
pub(crate) struct Window {
    bits: Box<[u64]>,
    /// The highest number, plus one: 0 before the first.
    next: u64,
}

impl Window {
    /// Of `numbers`, a power of two of at least 64.
    pub(crate) fn new(numbers: usize) -> Self {
        Self {
            bits: vec![0; numbers / 64].into_boxed_slice(),
            next: 0,
        }
    }

    const fn numbers(&self) -> u64 {
        self.bits.len() as u64 * 64
    }

    /// The highest number, if there was one.
    pub(super) const fn highest(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    /// Takes a number below 2^48.
    #[inline]
    pub(crate) fn take(&mut self, number: u64) -> Arrival {
        if number >= self.next {
            self.advance(number);
            self.set(number);
            return Arrival::Highest;
        }
        let below = self.next - 1 - number;
        if below >= self.numbers() {
            Arrival::Outside
        } else if self.set(number) {
            Arrival::Duplicate
        } else {
            Arrival::Below
        }
    }

    /// Takes `count` numbers from `first` on if they are above all before, and says whether they
    /// are: then each is [`Arrival::Highest`] in its turn.
    #[inline]
    pub(super) fn take_run(&mut self, first: u64, count: u64) -> bool {
        if first < self.next {
            return false;
        }
        if first > self.next {
            self.clear(self.next, first - self.next);
        }
        self.next = first + count;
        let (mut at, end) = (first, self.next);
        while at < end {
            let within = at % 64;
            let bits = (64 - within).min(end - at);
            let index = (at / 64) as usize & (self.bits.len() - 1);
            if let Some(word) = self.bits.get_mut(index) {
                *word |= (u64::MAX >> (64 - bits)) << within;
            }
            at += bits;
        }
        true
    }

    /// Makes `highest` the highest, if it is above all that came.
    pub(super) fn raise(&mut self, highest: Option<u64>) {
        if let Some(highest) = highest.filter(|highest| *highest >= self.next) {
            self.clear(self.next, highest + 1 - self.next);
            self.next = highest + 1;
        }
    }

    /// Sets the bit of a number within the window; returns whether it was set.
    #[inline]
    fn set(&mut self, number: u64) -> bool {
        let mask = 1 << (number % 64);
        let index = (number / 64) as usize & (self.bits.len() - 1);
        let Some(word) = self.bits.get_mut(index) else {
            return false;
        };
        let was = *word & mask != 0;
        *word |= mask;
        was
    }

    /// Makes `number` the highest. Those between have not come: their bits are those of numbers
    /// that leave the window.
    #[inline]
    fn advance(&mut self, number: u64) {
        let skipped = number - self.next;
        if skipped > 0 {
            self.clear(self.next, skipped);
        }
        self.next = number + 1;
        // The number's own bit is set by the caller, whatever it was.
    }

    #[cold]
    fn clear(&mut self, first: u64, count: u64) {
        if count >= self.numbers() {
            self.bits.fill(0);
            return;
        }
        let (mut at, end) = (first, first + count);
        while at < end {
            let within = at % 64;
            let bits = (64 - within).min(end - at);
            let mask = (u64::MAX >> (64 - bits)) << within;
            let index = (at / 64) as usize & (self.bits.len() - 1);
            if let Some(word) = self.bits.get_mut(index) {
                *word &= !mask;
            }
            at += bits;
        }
    }
}
