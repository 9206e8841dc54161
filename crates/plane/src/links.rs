//! Rings between workers, from each to each, by which nodes tell the others what they saw.

use frame::{Consumer, Producer, WorkerId, ring};

/// Messages taken from one worker in one step.
const TAKEN_MAX: usize = 256;

/// A worker's rings to and from the others.
#[derive(Debug)]
pub struct Links<T> {
    /// This worker.
    pub(crate) worker: WorkerId,
    to: Vec<Producer<T>>,
    from: Vec<Consumer<T>>,
}

impl<T: Copy + Send> Links<T> {
    /// Those of the only worker.
    #[must_use]
    pub fn alone() -> Self {
        Self {
            worker: WorkerId(0),
            to: Vec::new(),
            from: Vec::new(),
        }
    }

    /// Those of `workers` workers, with room for `room` messages from one to another.
    #[must_use]
    pub fn mesh(workers: u16, room: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (0..workers)
            .map(|number| Self {
                worker: WorkerId(number),
                ..Self::alone()
            })
            .collect();
        for one in 0..all.len() {
            for other in (0..all.len()).filter(|&other| other != one) {
                let (to, from) = ring(room);
                all[one].to.push(to);
                all[other].from.push(from);
            }
        }
        all
    }

    /// How many workers there are, this one included.
    pub(crate) fn workers(&self) -> u32 {
        u32::try_from(self.to.len()).unwrap_or(u32::MAX - 1) + 1
    }

    /// Tells the others; false where one of them has no room for it.
    #[inline]
    pub(crate) fn tell(&mut self, message: &T) -> bool {
        let told = self.to.iter_mut().map(|to| to.push(*message).is_ok());
        told.fold(true, |all, one| all & one)
    }

    /// Takes what the others told, as much of each as a step takes: one that tells very much keeps
    /// nobody else waiting. `taken` is where the step is.
    #[inline]
    pub(crate) fn take(&mut self, taken: &mut Taken) -> Option<T> {
        while let Some(from) = self.from.get_mut(taken.worker) {
            if taken.of_it < TAKEN_MAX
                && let Some(message) = from.pop()
            {
                taken.of_it += 1;
                return Some(message);
            }
            *taken = Taken {
                worker: taken.worker + 1,
                of_it: 0,
            };
        }
        None
    }
}

/// Where a step is in what the others told.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    worker: usize,
    of_it: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_tells_very_much_keeps_nobody_waiting() {
        let mut links = Links::mesh(3, 4 * TAKEN_MAX).into_iter();
        let [Some(mut own), Some(mut loud), Some(mut quiet)] = [(); 3].map(|()| links.next())
        else {
            panic!("three workers");
        };
        for number in 0..2 * TAKEN_MAX {
            assert!(loud.tell(&number));
        }
        assert!(quiet.tell(&usize::MAX));
        let mut step = || {
            let mut taken = Taken::default();
            std::iter::from_fn(|| own.take(&mut taken)).collect::<Vec<_>>()
        };
        let mut first: Vec<usize> = (0..TAKEN_MAX).collect();
        first.push(usize::MAX);
        assert_eq!(step(), first);
        assert_eq!(step(), (TAKEN_MAX..2 * TAKEN_MAX).collect::<Vec<_>>());
        assert!(step().is_empty());
    }
}
