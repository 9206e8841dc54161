//! The same thing made several times over, so that no figure hangs on where one of them lies.
//!
//! How much of 21 MB a third-level cache of 32 MB keeps differs from one area of memory to the
//! next, and stays so: in one process, round by round, lookups in eight tables made alike had 270
//! to 342 million a second, and plain reads of eight such areas 422 to 510 (Zen 5, guest of a
//! machine whose other guests share that cache; areas without large pages below them, all with the
//! same rate of misses in the TLB). A table in a poor area beside a limit in a good one had 0.41 of
//! it, and 0.62 the other way round. So rounds take the places in turn, of the table and of the
//! limit alike.

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
