//! Beginnings and ends of waits put together.
//!
//! Records of several CPUs come one CPU after the other, and a thread may wake on another CPU than
//! it fell asleep on: records are sorted by their time before they are used, and those that are
//! newer than the last of the reading before are kept until the next one.

use std::collections::HashMap;

use super::sample::{Event, Record, What};
use super::table::{Place, Waits};

/// Waits that have begun, at most.
const BEGUN_MAX: usize = 1 << 16;
/// `LCB_F_MUTEX` of a contention's flags.
const MUTEX: u64 = 32;
/// `EAGAIN`: the value had changed, so the thread did not wait.
const CHANGED: i64 = -11;
/// `ETIMEDOUT`.
const TIMED_OUT: i64 = -110;

/// What a wait began with.
#[derive(Clone, Debug)]
struct Begun {
    time: u64,
    place: Place,
}

/// Waits that have begun and not ended.
#[derive(Debug)]
pub(super) struct Pairing {
    /// This process, whose waits are nobody's concern.
    own: u32,
    events: Vec<Event>,
    /// The time of the last record of the reading before.
    horizon: u64,
    locks: HashMap<(u32, u64), Begun>,
    futexes: HashMap<u32, Begun>,
    pub(super) records: u64,
    pub(super) lost: u64,
}

impl Pairing {
    pub(super) fn new(own: u32) -> Self {
        Self {
            own,
            events: Vec::new(),
            horizon: 0,
            locks: HashMap::new(),
            futexes: HashMap::new(),
            records: 0,
            lost: 0,
        }
    }

    /// Takes a record in; none is one that could not be read.
    pub(super) fn take(&mut self, record: Option<Record>) {
        self.records += 1;
        match record {
            Some(Record::Event(event)) if event.process != self.own => self.events.push(event),
            Some(Record::Lost(lost)) => {
                self.lost = self.lost.saturating_add(lost);
                // Ends may be among what was lost: what they belong to would never end.
                self.locks.clear();
                self.futexes.clear();
            }
            None => self.lost += 1,
            Some(_) => {}
        }
    }

    /// Uses all records that no older one can follow.
    pub(super) fn settle(&mut self, waits: &mut Waits) {
        let horizon = self.horizon;
        self.use_until(horizon, waits);
    }

    /// Uses all records; how many waits have not ended.
    pub(super) fn finish(&mut self, waits: &mut Waits) -> u64 {
        self.use_until(u64::MAX, waits);
        (self.locks.len() + self.futexes.len()) as u64
    }

    fn use_until(&mut self, horizon: u64, waits: &mut Waits) {
        self.events.sort_by_key(|event| event.time);
        if let Some(last) = self.events.last() {
            self.horizon = self.horizon.max(last.time);
        }
        let count = self.events.partition_point(|event| event.time <= horizon);
        let rest = self.events.split_off(count);
        for event in std::mem::replace(&mut self.events, rest) {
            self.apply(event, waits);
        }
    }

    fn apply(&mut self, event: Event, waits: &mut Waits) {
        let (time, thread) = (event.time, event.thread);
        if self.locks.len() + self.futexes.len() >= BEGUN_MAX {
            self.lost += 1;
            self.locks.clear();
            self.futexes.clear();
        }
        match event.what {
            What::Begin { lock, flags, calls } => {
                let key = (thread, lock);
                // A mutex begins twice, where it spins and where it sleeps then. Of any other lock
                // the end was not recorded, as happens where recording itself was interrupted.
                if flags & MUTEX == 0 || !self.locks.contains_key(&key) {
                    let place = Place::Kernel { flags, calls };
                    self.locks.insert(key, Begun { time, place });
                }
            }
            What::End { lock } => {
                if let Some(begun) = self.locks.remove(&(thread, lock)) {
                    waits.add(&begun.place, time.saturating_sub(begun.time), false);
                }
            }
            What::Enter { address } => {
                let place = Place::User {
                    process: event.process,
                    address,
                };
                waits.name(&place);
                self.futexes.insert(thread, Begun { time, place });
            }
            What::Exit { result } => {
                let begun = self.futexes.remove(&thread).filter(|_| result != CHANGED);
                if let Some(begun) = begun {
                    let waited = time.saturating_sub(begun.time);
                    waits.add(&begun.place, waited, result == TIMED_OUT);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::Symbols;
    use super::*;

    fn event(time: u64, thread: u32, what: What) -> Option<Record> {
        let process = 1000 + thread / 10;
        Some(Record::Event(Event {
            time,
            process,
            thread,
            what,
        }))
    }

    fn begin(lock: u64) -> What {
        What::Begin {
            lock,
            flags: 32,
            calls: Vec::new(),
        }
    }

    fn spin(lock: u64) -> What {
        What::Begin {
            lock,
            flags: 1,
            calls: Vec::new(),
        }
    }

    /// Waits of a row: count, total, longest, timed out.
    type Figures = (u64, u64, u64, u64);
    /// Records, the rows of them, and how many waits have not ended.
    type Case<'a> = (&'a [Option<Record>], &'a [Figures], u64);

    fn waits_of(readings: &[&[Option<Record>]]) -> (Vec<Figures>, Pairing, u64) {
        let (mut waits, mut pairing) = (Waits::new(Symbols::default()), Pairing::new(999));
        for records in readings {
            records
                .iter()
                .for_each(|record| pairing.take(record.clone()));
            pairing.settle(&mut waits);
        }
        let unfinished = pairing.finish(&mut waits);
        let rows = waits.rows();
        let rows = rows
            .iter()
            .map(|row| (row.waits, row.total_ns, row.longest_ns, row.timed_out));
        (rows.collect(), pairing, unfinished)
    }

    #[test]
    fn a_wait_is_from_its_beginning_to_its_end() {
        let enter = |time| event(time, 1, What::Enter { address: 4096 });
        let exit = |time, result| event(time, 1, What::Exit { result });
        let end = |time, thread| event(time, thread, What::End { lock: 7 });
        let cases: [Case<'_>; 10] = [
            (&[event(5, 1, begin(7)), end(9, 1)], &[(1, 4, 4, 0)], 0),
            // The end came from another CPU, whose ring was read first.
            (&[end(9, 1), event(5, 1, begin(7))], &[(1, 4, 4, 0)], 0),
            // A mutex that spins, and sleeps then.
            (
                &[event(5, 1, begin(7)), event(6, 1, begin(7)), end(9, 1)],
                &[(1, 4, 4, 0)],
                0,
            ),
            // A spinlock whose first end was not recorded.
            (
                &[event(5, 1, spin(7)), event(20, 1, spin(7)), end(22, 1)],
                &[(1, 2, 2, 0)],
                0,
            ),
            // Two threads wait for one lock.
            (
                &[
                    event(1, 1, begin(7)),
                    event(2, 2, begin(7)),
                    end(4, 1),
                    end(9, 2),
                ],
                &[(2, 10, 7, 0)],
                0,
            ),
            // The lock of another thread does not end this wait.
            (&[event(5, 1, begin(7)), end(9, 2)], &[], 1),
            (
                &[enter(1), exit(5, 0), enter(6), exit(8, TIMED_OUT)],
                &[(2, 6, 4, 1)],
                0,
            ),
            // Its value had changed: nobody waited. A call that wakes others only returns.
            (&[enter(1), exit(5, CHANGED), exit(6, 0)], &[], 0),
            (&[enter(1)], &[], 1),
            (&[end(9, 1), exit(3, 0)], &[], 0),
        ];
        for (number, (records, expected, unfinished)) in cases.into_iter().enumerate() {
            let (rows, _, left) = waits_of(&[records]);
            assert_eq!(
                (rows.as_slice(), left),
                (expected, unfinished),
                "case {number}"
            );
        }
    }

    /// An end that was read before its beginning, one reading earlier.
    #[test]
    fn records_newer_than_the_reading_before_wait_for_the_next() {
        let first = [
            event(5, 2, What::End { lock: 1 }),
            event(20, 1, What::End { lock: 7 }),
        ];
        let second = [event(10, 1, begin(7)), event(30, 3, What::End { lock: 1 })];
        let (rows, pairing, _) = waits_of(&[&first, &second]);
        assert_eq!(rows, [(1, 10, 10, 0)]);
        assert_eq!((pairing.records, pairing.lost), (4, 0));
    }

    /// After a loss no beginning is put to an end that belongs to a later one.
    #[test]
    fn what_was_lost_is_counted_and_ends_what_had_begun() {
        let records = [event(5, 1, begin(7)), event(6, 9, begin(8))];
        let lost = [Some(Record::Lost(3)), None];
        let late = [event(90, 1, begin(7)), event(95, 1, What::End { lock: 7 })];
        let (rows, pairing, unfinished) = waits_of(&[&records, &records, &lost, &late]);
        assert_eq!(rows, [(1, 5, 5, 0)]);
        assert_eq!((pairing.lost, unfinished), (4, 0));
    }

    #[test]
    fn our_own_waits_are_left_out() {
        let what = |what, time| {
            Some(Record::Event(Event {
                time,
                process: 999,
                thread: 1,
                what,
            }))
        };
        let records = [what(begin(7), 1), what(What::End { lock: 7 }, 5)];
        assert_eq!(waits_of(&[&records]).0, []);
    }
}
