//! The slow and obvious sink: it remembers every number that ever came.

use std::collections::{HashMap, HashSet};

/// What is to be known of one stream, within a window below the highest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Oracle {
    pub(super) seen: HashSet<u64>,
    pub(super) received: u64,
    pub(super) duplicated: u64,
    pub(super) reordered: u64,
    pub(super) reordered_by_max: u64,
    pub(super) across_flows: u64,
    pub(super) highest: HashMap<u64, u64>,
    pub(super) outside: u64,
}

impl Oracle {
    pub(super) fn take(&mut self, number: u64, flow: u64, window: u64) {
        let highest = self.seen.iter().max().copied();
        self.received += 1;
        let own = self.highest.entry(flow).or_insert(number);
        let own = std::mem::replace(own, number.max(*own));
        match highest {
            Some(highest) if highest >= number && highest - number >= window => {
                self.outside += 1;
                return;
            }
            _ if self.seen.contains(&number) => self.duplicated += 1,
            _ if number < own => {
                self.reordered += 1;
                self.reordered_by_max = self.reordered_by_max.max(own - number);
            }
            Some(highest) if number < highest => self.across_flows += 1,
            _ => {}
        }
        self.seen.insert(number);
    }

    pub(super) fn lost(&self) -> u64 {
        let lowest = self.seen.iter().min().copied().unwrap_or(0);
        let highest = self.seen.iter().max().copied().unwrap_or(0);
        (lowest..=highest)
            .filter(|number| !self.seen.contains(number))
            .count() as u64
            - u64::from(self.seen.is_empty())
    }
}
