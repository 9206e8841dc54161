//! All flows of a worker: records that are there from the start, found by the tuples of both
//! directions, and ended in the order of their timeouts.

use std::collections::TryReserveError;

use frame::prefetch;
use stack::KeyedHash;

use super::NatTable;
use super::flow::{Class, Flow, Hit, NONE};
use super::hosts::Hosts;
use super::index::Index;
use super::rewrite::Delta;
use super::tuple::Tuple;

/// A flow that got a packet moves to the end of its list when this part of its timeout is over
/// since it did so last: most packets leave lists alone, and a record is freed that much late.
const LATE: u32 = 8;

/// Records of flows. Those of a class are a list in the order of [`Flow::placed`].
#[derive(Debug)]
pub(super) struct Flows {
    records: Vec<Flow>,
    index: Index,
    hosts: Hosts,
    /// First and last of each list.
    ends: [(u32, u32); Class::COUNT],
    /// The first record that is free again, linked by `after`.
    free: u32,
    max: usize,
    len: usize,
    /// Flows that ended when a packet asked for them, and are not counted yet.
    ended_late: u64,
}

impl Flows {
    /// Memory for `max` flows.
    pub(super) fn new(max: usize, key: [u64; 2]) -> Result<Self, TryReserveError> {
        let mut records = Vec::new();
        records.try_reserve_exact(max)?;
        Ok(Self {
            records,
            index: Index::new(max, KeyedHash(key))?,
            hosts: Hosts::new(max, KeyedHash(key))?,
            ends: [(NONE, NONE); Class::COUNT],
            free: NONE,
            max,
            len: 0,
            ended_late: 0,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Records that were ever used: numbers of flows are below.
    pub(super) fn records(&self) -> usize {
        self.records.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len >= self.max
    }

    /// Flows that an inside address has begun.
    pub(super) fn count_of(&self, address: u32) -> u32 {
        self.hosts.count(address)
    }

    #[inline]
    pub(super) fn get(&self, flow: u32) -> &Flow {
        &self.records[flow as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, flow: u32) -> &mut Flow {
        &mut self.records[flow as usize]
    }

    /// The flow of a tuple that is not over; one that is over ends here.
    pub(super) fn find(&mut self, tuple: &Tuple, table: &NatTable, tick: u32) -> Option<Hit> {
        self.find_from(self.index.home(tuple), tuple, table, tick)
    }

    /// Where a tuple is looked up, which begins to be loaded.
    #[inline]
    pub(super) fn home(&self, tuple: &Tuple) -> usize {
        let home = self.index.home(tuple);
        self.index.prefetch(home);
        home
    }

    /// Begins to load the flow that is probably found from a place.
    #[inline]
    pub(super) fn prefetch(&self, home: usize) {
        if let Some(flow) = self.index.first(home) {
            prefetch::read((&raw const self.records[flow as usize]).cast());
        }
    }

    /// [`Self::find`], with the [`Self::home`] of the tuple.
    #[inline]
    pub(super) fn find_from(
        &mut self,
        home: usize,
        tuple: &Tuple,
        table: &NatTable,
        tick: u32,
    ) -> Option<Hit> {
        let hit = self.index.find(tuple, home, &self.records)?;
        if self.get(hit.flow).is_over(table, tick) {
            self.end(hit.flow, tick);
            self.ended_late += 1;
            return None;
        }
        Some(hit)
    }

    /// Adds a flow, neither of whose tuples another one has.
    pub(super) fn add(&mut self, mut flow: Flow) -> Option<u32> {
        if self.is_full() {
            return None;
        }
        flow.delta = Delta::between(&flow.original, &flow.reply.inverse());
        let number = match self.free {
            NONE => {
                self.records.push(flow);
                (self.records.len() - 1) as u32
            }
            number => {
                let record = self.get(number);
                (self.free, flow.life) = (record.after, record.life.wrapping_add(1));
                self.records[number as usize] = flow;
                number
            }
        };
        for is_reply in [false, true] {
            let entry = Hit {
                flow: number,
                is_reply,
            };
            self.index.insert(entry, &self.records);
        }
        if flow.is_counted {
            self.hosts.add(flow.original.src);
        }
        if flow.mapping != NONE {
            self.get_mut(flow.mapping).flows += 1;
        }
        self.append(number);
        self.len += 1;
        Some(number)
    }

    /// Notes a packet of a flow, which is in `class` now.
    #[inline]
    pub(super) fn touch(&mut self, number: u32, class: Class, table: &NatTable, tick: u32) {
        let flow = self.get_mut(number);
        flow.seen = tick;
        let is_late = tick.saturating_sub(flow.placed) >= table.timeout(class) / LATE;
        if is_late || class != flow.class {
            self.place(number, class, tick);
        }
    }

    /// Puts a flow at the end of the list of a class.
    fn place(&mut self, number: u32, class: Class, tick: u32) {
        self.unlink(number);
        let flow = self.get_mut(number);
        flow.placed = tick;
        flow.class = class;
        self.append(number);
    }

    /// Ends a flow; a mapping ends with its flows.
    pub(super) fn end(&mut self, number: u32, tick: u32) {
        let flow = *self.get(number);
        for is_reply in [false, true] {
            let entry = Hit {
                flow: number,
                is_reply,
            };
            self.index.remove(entry, &self.records);
        }
        if flow.is_counted {
            self.hosts.take(flow.original.src);
        }
        if flow.mapping != NONE {
            let mapping = self.get_mut(flow.mapping);
            mapping.flows -= 1;
            mapping.seen = tick;
        }
        self.unlink(number);
        let free = self.free;
        let record = self.get_mut(number);
        record.placed = NONE;
        record.after = free;
        self.free = number;
        self.len -= 1;
    }

    /// Ends flows that are over, as far as `budget` goes. How many ended since the last call.
    pub(super) fn expire(&mut self, table: &NatTable, tick: u32, budget: usize) -> u64 {
        let mut ended = std::mem::take(&mut self.ended_late);
        for class in Class::ALL {
            let timeout = table.timeout(class);
            let wait = timeout.saturating_add(timeout / LATE);
            for _ in 0..budget {
                let first = self.ends[class as usize].0;
                if first == NONE || tick.saturating_sub(self.get(first).placed) < wait {
                    break;
                }
                match self.get(first).is_over(table, tick) {
                    true => {
                        self.end(first, tick);
                        ended += 1;
                    }
                    // A mapping with flows, or timeouts are others since a reload.
                    false => self.place(first, class, tick),
                }
            }
        }
        ended
    }

    /// Those from a place on that are no free records, each with its number.
    pub(super) fn iter_from(&self, from: usize) -> impl Iterator<Item = (usize, &Flow)> {
        let numbered = self.records.iter().enumerate().skip(from);
        numbered.filter(|(_, flow)| flow.is_there())
    }

    fn append(&mut self, number: u32) {
        let class = self.get(number).class as usize;
        let (first, last) = self.ends[class];
        let flow = self.get_mut(number);
        flow.before = last;
        flow.after = NONE;
        match last {
            NONE => self.ends[class] = (number, number),
            last => {
                self.get_mut(last).after = number;
                self.ends[class] = (first, number);
            }
        }
    }

    fn unlink(&mut self, number: u32) {
        let flow = *self.get(number);
        let ends = &mut self.ends[flow.class as usize];
        if ends.0 == number {
            ends.0 = flow.after;
        }
        if ends.1 == number {
            ends.1 = flow.before;
        }
        if flow.before != NONE {
            self.get_mut(flow.before).after = flow.after;
        }
        if flow.after != NONE {
            self.get_mut(flow.after).before = flow.before;
        }
    }
}
