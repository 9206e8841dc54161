//! Sets of rules: bitmaps that keep the words alone that are not zero.

/// Bits of a word.
pub(super) const WORD: usize = 64;

/// A bitmap with all its words, while classes are made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dense(pub(super) Vec<u64>);

impl Dense {
    pub(super) fn empty(len: usize) -> Self {
        Self(vec![0; len.div_ceil(WORD)])
    }

    pub(super) fn set(&mut self, bit: usize, to: bool) {
        let mask = 1 << (bit % WORD);
        match to {
            true => self.0[bit / WORD] |= mask,
            false => self.0[bit / WORD] &= !mask,
        }
    }
}

/// Bitmaps of one length, numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bitmaps {
    /// Words of a summary: a bit a word of the bitmap, set where that is not zero.
    summary_len: usize,
    /// The summaries, one after another.
    summaries: Vec<u64>,
    /// Where the words of each begin.
    starts: Vec<u32>,
    words: Vec<u64>,
}

impl Bitmaps {
    pub(super) fn new(len: usize) -> Self {
        Self {
            summary_len: len.div_ceil(WORD * WORD),
            summaries: Vec::new(),
            starts: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Adds one; returns its number.
    pub(super) fn push(&mut self, dense: &Dense) -> u32 {
        let number = self.starts.len() as u32;
        self.starts.push(self.words.len() as u32);
        for words in dense.0.chunks(WORD) {
            let mut summary = 0;
            for (at, &word) in words.iter().enumerate().filter(|(_, word)| **word != 0) {
                summary |= 1 << at;
                self.words.push(word);
            }
            self.summaries.push(summary);
        }
        number
    }

    pub(super) fn bytes(&self) -> usize {
        8 * (self.summaries.len() + self.words.len()) + 4 * self.starts.len()
    }

    pub(super) fn summary_len(&self) -> usize {
        self.summary_len
    }

    #[inline]
    pub(super) fn start(&self, number: u32) -> u32 {
        self.starts[number as usize]
    }

    #[inline]
    pub(super) fn summary(&self, number: u32, at: usize) -> u64 {
        self.summaries[number as usize * self.summary_len + at]
    }

    /// The word that bit `bit` of a summary stands for, whose words begin at `start`.
    #[inline]
    pub(super) fn word(&self, start: u32, summary: u64, bit: u32) -> u64 {
        let before = (summary & ((1 << bit) - 1)).count_ones();
        self.words[(start + before) as usize]
    }
}
