//! The same thing made several times over, so that no figure hangs on where one of them lies.
//!
//! How much of 21 MB a third-level cache of 32 MB keeps differs from one area of memory to the
//! next, and stays so: of forty areas of 20 MB in one mapping, some had 700 to 740 million random
//! lines a second, most 560 to 620, some 490, round after round, though translations and memory
//! itself took as long in all (Zen 5, a guest beside others on the same cache). A table in a poor
//! area had 0.41 of a limit that was read in a good one, and 0.62 in another process. So rounds
//! take several places in turn, and limits read the lines of the tables themselves where they can
//! ([`crate::memory::Tables`]).

use crate::Trial;

/// How many of a thing there are.
pub(crate) const PLACES: usize = 5;

/// Beyond so many bytes a cache holds too little for it to matter where they lie.
pub(crate) const PLACED_BYTES_MAX: usize = 64 << 20;

/// How many places a thing of so many bytes should have.
pub(crate) fn places_for(bytes: usize) -> usize {
    if bytes <= PLACED_BYTES_MAX { PLACES } else { 1 }
}

/// A thing in each of some places.
#[derive(Debug)]
pub(crate) struct Placed<T> {
    first: T,
    others: Vec<T>,
}

impl<T> Placed<T> {
    /// One thing.
    pub(crate) fn once(thing: T) -> Self {
        Self {
            first: thing,
            others: Vec::new(),
        }
    }

    /// As many as [`places_for`] says of the bytes of the first.
    pub(crate) fn make<E>(
        mut make: impl FnMut() -> Result<T, E>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Result<Self, E> {
        let first = make()?;
        let count = places_for(bytes(&first));
        Ok(Self {
            others: (1..count).map(|_| make()).collect::<Result<_, E>>()?,
            first,
        })
    }

    /// What all have in common may be asked of this one.
    pub(crate) fn first(&self) -> &T {
        &self.first
    }

    /// The one whose turn it is.
    pub(crate) fn of(&self, trial: &Trial) -> &T {
        let place = trial.round % (self.others.len() + 1);
        place
            .checked_sub(1)
            .map_or(&self.first, |other| &self.others[other])
    }

    /// Something of each.
    pub(crate) fn map<U>(self, mut each: impl FnMut(T) -> U) -> Placed<U> {
        Placed {
            first: each(self.first),
            others: self.others.into_iter().map(each).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(placed: &Placed<usize>) -> Vec<usize> {
        let trial = |round| Trial {
            round,
            shift_lines: 0,
            seed: 0,
        };
        (0..7).map(|round| *placed.of(&trial(round))).collect()
    }

    #[test]
    fn rounds_take_places_in_turn() {
        let made = |bytes| {
            let mut count = 0;
            let make = || {
                count += 1;
                Ok::<_, ()>(count)
            };
            Placed::make(make, |_| bytes).expect("made")
        };
        let small = made(PLACED_BYTES_MAX);
        assert_eq!(rounds(&small), [1, 2, 3, 4, 5, 1, 2]);
        assert_eq!(rounds(&made(PLACED_BYTES_MAX + 1)), [1; 7]);
        let tens = small.map(|one| one * 10);
        assert_eq!((*tens.first(), rounds(&tens)[4]), (10, 50));
        let none = Placed::make(|| Err::<(), _>("none"), |()| 0);
        assert_eq!(none.err(), Some("none"));
    }
}
