//! Ledgers of several trials as one.

use super::{Difference, Ledger, Step};

impl Ledger {
    /// Adds what another one counted: its frames to those of the same column and place, its
    /// differences to those of the same name and queue. A gap in one never fills a gap in the
    /// other: the sum closes if both do.
    pub fn add_up(&mut self, other: &Self) {
        let unexplained = self.unexplained().saturating_add(other.unexplained());
        for step in &other.steps {
            let same = |own: &&mut Step| own.is_of_the_same(step);
            match self.steps.iter_mut().find(same) {
                Some(own) => own.add_up(step),
                None => self.steps.push(step.clone()),
            }
        }
        // Where a column was counted twice, first goes to first and second to second.
        let mut taken = vec![false; self.stated.len()];
        for (place, column, frames) in &other.stated {
            let mut own = self.stated.iter_mut().zip(&mut taken);
            let same = own.find(|((at, of, _), taken)| !**taken && (at, of) == (place, column));
            match same {
                Some(((.., sum), taken)) => {
                    *sum = sum.saturating_add(*frames);
                    *taken = true;
                }
                None => {
                    self.stated.push((place.clone(), *column, *frames));
                    taken.push(true);
                }
            }
        }
        for note in &other.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        self.cancelled = 0;
        self.cancelled = unexplained.saturating_sub(self.unexplained());
    }
}

impl Step {
    fn is_of_the_same(&self, other: &Self) -> bool {
        (&self.place, self.from, self.to) == (&other.place, other.from, other.to)
    }

    /// What names stand for was settled in each; it is not settled anew.
    fn add_up(&mut self, other: &Self) {
        self.before = self.before.saturating_add(other.before);
        self.after = self.after.saturating_add(other.after);
        self.unexplained += other.unexplained;
        for part in &other.differences {
            let key = |part: &Difference| (part.cause, part.queue, part.adds);
            let mut own = self.differences.iter_mut();
            match own.find(|own| key(own) == key(part)) {
                Some(own) => {
                    own.least = own.least.saturating_add(part.least);
                    own.most = own.most.saturating_add(part.most);
                    own.frames = own.frames.saturating_add(part.frames);
                }
                None => self.differences.push(part.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, OwnCause};
    use super::*;
    use port::Loss;

    fn ledger(came: u64, taken: u64, full: u64) -> Ledger {
        let mut ledger = Ledger::new();
        let step = Step::new(
            "xdp:a",
            (Column::ArrivedAtInterface, came),
            (Column::ReceivedByUs, taken),
        );
        let step =
            step.lost(Loss::RxRingFull, Some(1), full)
                .lost_up_to(OwnCause::Between, None, 0, 3);
        ledger.add(step);
        ledger.state("xdp:a", Column::ReceivedByUs, taken);
        ledger.note("a note".to_owned());
        ledger
    }

    #[test]
    fn counts_and_names_add_up() {
        let mut sum = Ledger::new();
        sum.add_up(&ledger(100, 93, 5));
        sum.add_up(&ledger(50, 49, 0));
        assert!(sum.closes(), "{sum:?}");
        assert_eq!(sum.frames("xdp:a", Column::ArrivedAtInterface), Some(150));
        assert_eq!(sum.frames("xdp:a", Column::ReceivedByUs), Some(142));
        let step = &sum.steps()[0];
        let named: Vec<_> = step.named().map(|part| (part.frames, part.most)).collect();
        assert_eq!((sum.steps().len(), &named[..]), (1, &[(5, 5), (3, 6)][..]));
        assert_eq!(sum.notes(), ["a note"]);
    }

    #[test]
    fn gaps_do_not_fill_each_other() {
        // Nine without a name are missing in one, and seven too many in the other.
        let (short, long) = (ledger(100, 83, 5), ledger(100, 102, 5));
        assert_eq!((short.unexplained(), long.unexplained()), (9, 7));
        let mut sum = Ledger::new();
        for one in [&short, &long, &ledger(10, 10, 0)] {
            sum.add_up(one);
        }
        assert_eq!(sum.unexplained(), 16);
        assert!(!sum.closes());
    }

    #[test]
    fn contradictions_do_not_fill_each_other() {
        let twice = |first, other| {
            let mut ledger = Ledger::new();
            ledger.state("ring:a", Column::SentByUs, first);
            ledger.state("ring:a", Column::SentByUs, other);
            ledger
        };
        let mut sum = twice(10, 4);
        sum.add_up(&twice(4, 10));
        assert_eq!(sum.unexplained(), 12, "{sum:?}");
    }
}
