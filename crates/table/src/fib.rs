//! Routes: which answer the longest prefix that holds an address has.
//!
//! The control side keeps [`Routes`]: all prefixes, and the runs of addresses with one answer that
//! follow from them. Workers look addresses up in a [`Fib`], a version of the same; its memory is
//! that of [`PrefixSet`], in which runs of addresses have any number as their answer.
//!
//! A change touches the parts of its prefix that no longer prefix holds: of a default route those
//! are many, of most prefixes one.

mod runs;
// Under Miri a root of 65,536 slots takes minutes to make.
#[cfg(all(test, not(miri)))]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::address::Address;
use crate::compiled::CompileError;
use crate::flatten::Span;
use crate::mask::ListMask;
use crate::network::Network;
use crate::prefixes::PrefixSet;

/// Answers that IPv6 leaves hold themselves: as many as sixteen lists have.
const LISTS: usize = 16;

/// Spans that are written one by one, however few runs there are.
const SPANS_FEW: usize = 4096;

/// Prefixes with their answers; the control side's.
#[derive(Debug)]
pub struct Routes<A> {
    /// By the first address, the shorter prefix before the longer one.
    prefixes: BTreeMap<(A, u8), NonZeroU32>,
    /// From which address on there is which answer, 0 for none; neighbours differ, and the first
    /// address of the family is among them.
    runs: BTreeMap<A, u32>,
    set: PrefixSet<A>,
}

/// A version of [`Routes`] for lookups. A clone shares the memory.
#[derive(Clone, Debug)]
pub struct Fib<A> {
    set: PrefixSet<A>,
}

impl<A: Address> Routes<A> {
    /// The routes given; of two for one prefix the later.
    ///
    /// # Errors
    /// [`CompileError::Memory`].
    pub fn new(
        given: impl IntoIterator<Item = (Network<A>, NonZeroU32)>,
    ) -> Result<Self, CompileError> {
        let given = given.into_iter();
        let keyed = given.map(|(network, answer)| (key(network), answer));
        let prefixes: BTreeMap<_, _> = keyed.collect();
        let all = runs::of(prefixes.iter().map(|(&key, &answer)| (key, answer)));
        let set = PrefixSet::of_lists(LISTS, &all)?;
        let runs = all.starts.into_iter().zip(all.masks).collect();
        Ok(Self {
            prefixes,
            runs,
            set,
        })
    }

    /// Gives a prefix an answer, or takes it away with `None`; returns the one before.
    ///
    /// # Errors
    /// [`CompileError::Memory`]; then the routes are not to be used any more.
    pub fn set(
        &mut self,
        network: Network<A>,
        answer: Option<NonZeroU32>,
    ) -> Result<Option<NonZeroU32>, CompileError> {
        let mut touched = Vec::new();
        let before = self.put(network, answer, &mut touched);
        self.rewrite(touched)?;
        Ok(before)
    }

    /// Makes many changes, each as [`Routes::set`], in order; returns how many of them changed
    /// a route. What several of them touch is written once.
    ///
    /// # Errors
    /// [`CompileError::Memory`]; then the routes are not to be used any more.
    pub fn apply(
        &mut self,
        changes: impl IntoIterator<Item = (Network<A>, Option<NonZeroU32>)>,
    ) -> Result<usize, CompileError> {
        let (mut touched, mut changed) = (Vec::new(), 0);
        for (network, answer) in changes {
            let before = self.put(network, answer, &mut touched);
            changed += usize::from(before != answer);
        }
        self.rewrite(touched)?;
        Ok(changed)
    }

    /// Makes a change to the prefixes and the runs, and lists the spans of addresses whose answers
    /// it may change.
    fn put(
        &mut self,
        network: Network<A>,
        answer: Option<NonZeroU32>,
        touched: &mut Vec<Span<A>>,
    ) -> Option<NonZeroU32> {
        let before = match answer {
            Some(answer) => self.prefixes.insert(key(network), answer),
            None => self.prefixes.remove(&key(network)),
        };
        if before != answer {
            let held = answer.map_or_else(|| self.cover(network), NonZeroU32::get);
            let gaps = self.gaps(network);
            gaps.iter().for_each(|&gap| self.set_run(gap, held));
            touched.extend(gaps);
        }
        before
    }

    /// The spans of a network that no longer prefix holds. Each has one answer, before and after a
    /// change of that network.
    fn gaps(&self, network: Network<A>) -> Vec<Span<A>> {
        let last = network.last();
        let mut gaps = Vec::new();
        let (mut next, mut len) = (Some(network.first()), network.prefix_len() + 1);
        while let Some(from) = next.filter(|&from| from <= last) {
            let inside = self.prefixes.range((from, len)..=(last, u8::MAX)).next();
            let Some((&(child, child_len), _)) = inside else {
                gaps.push((from, last));
                break;
            };
            let before = child.predecessor().filter(|&before| from <= before);
            gaps.extend(before.map(|before| (from, before)));
            (next, len) = (child.last_in(child_len).successor(), 0);
        }
        gaps
    }

    /// Gives a span, which no run begins within, an answer.
    fn set_run(&mut self, (first, last): Span<A>, answer: u32) {
        let behind = last.successor();
        let at_behind = behind.map(|behind| (behind, self.run_at(behind)));
        for (start, answer) in [Some((first, answer)), at_behind].into_iter().flatten() {
            self.runs.remove(&start);
            self.add_run(start, answer);
        }
    }

    /// Brings the memory of lookups to what the runs say within these spans.
    fn rewrite(&mut self, touched: Vec<Span<A>>) -> Result<(), CompileError> {
        let spans = runs::by_block(touched);
        if self.set.is_crowded() || spans.len() > SPANS_FEW.max(self.runs.len() / 8) {
            return self.remake();
        }
        for (first, last) in spans {
            self.set.rewrite(first, last, &self.runs)?;
        }
        Ok(())
    }

    /// Makes the memory of lookups anew, since changes left it crowded or are many.
    fn remake(&mut self) -> Result<(), CompileError> {
        let runs = self.runs.iter().map(|(&start, &answer)| (start, answer));
        self.set = PrefixSet::of_lists(LISTS, &runs::collected(runs))?;
        Ok(())
    }

    /// Adds a run unless the one before has its answer.
    fn add_run(&mut self, start: A, answer: u32) {
        let before = self.runs.range(..start).next_back();
        if before.map(|run| *run.1) != Some(answer) {
            self.runs.insert(start, answer);
        }
    }

    fn run_at(&self, address: A) -> u32 {
        let run = self.runs.range(..=address).next_back();
        run.map_or(0, |run| *run.1)
    }

    /// The answer of the longest prefix that holds all of a network and is shorter; 0 for none.
    fn cover(&self, network: Network<A>) -> u32 {
        let shorter = (0..network.prefix_len()).rev();
        let mut found = shorter
            .filter_map(|len| self.prefixes.get(&(network.first().first_in(len), len)))
            .copied();
        found.next().map_or(0, NonZeroU32::get)
    }

    /// The answer of one prefix, not of those that hold it.
    #[must_use]
    pub fn get(&self, network: Network<A>) -> Option<NonZeroU32> {
        self.prefixes.get(&key(network)).copied()
    }

    /// The longest prefix that holds an address, with its answer.
    #[must_use]
    pub fn longest(&self, address: A) -> Option<(Network<A>, NonZeroU32)> {
        let lengths = (0..=A::BITS as u8).rev();
        let mut networks = lengths.filter_map(|len| Network::holding(address, len).ok());
        networks.find_map(|network| Some((network, self.get(network)?)))
    }

    /// Prefixes with their answers, by their first addresses, the shorter first.
    pub fn iter(&self) -> impl Iterator<Item = (Network<A>, NonZeroU32)> {
        let network = |(address, len)| Network::holding(address, len).ok();
        let all = self.prefixes.iter();
        all.filter_map(move |(&key, &answer)| Some((network(key)?, answer)))
    }

    /// How many prefixes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// What workers look up: the routes as they are now.
    #[must_use]
    pub fn fib(&self) -> Fib<A> {
        Fib {
            set: self.set.clone(),
        }
    }
}

impl<A: Address> Fib<A> {
    /// Writes the answer of the longest prefix that holds each key, 0 where none does. The memory
    /// reads of many keys are on their way at once.
    ///
    /// # Panics
    /// When `answers` is shorter than `keys`.
    #[inline]
    pub fn lookup_burst(&self, keys: &[A], answers: &mut [ListMask]) {
        self.set.lookup_burst(keys, answers);
    }

    /// The answer of one address, 0 for none.
    #[must_use]
    pub fn lookup(&self, key: A) -> u32 {
        let mut answer = [ListMask::EMPTY];
        self.lookup_burst(&[key], &mut answer);
        answer[0].0
    }

    /// Bytes that lookups may touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.set.bytes()
    }
}

fn key<A: Address>(network: Network<A>) -> (A, u8) {
    (network.first(), network.prefix_len())
}
