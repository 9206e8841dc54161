//! How often addresses were hit in the last minute and the last hour, of as many as are worth
//! holding.
//!
//! Workers count hits by address in small tables ([`HitAddresses`]), which they hand over once a
//! second. Here they are added up, in bounded memory. What is not known is bounded as well: every
//! answer has a least and a greatest number, which are one where no table had to forget anything.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use plane::{HitAddresses, Side};

/// Addresses held, source and destination apart; some 400 bytes each.
const HELD_MAX: usize = 8192;
/// Held after the least have been let go.
const KEPT: usize = HELD_MAX / 8 * 7;

/// Seconds that hits of the last minute are told apart by; it is 55 to 60 seconds long.
const MINUTE_STEP: u64 = 5;
/// Seconds that hits of the last hour are told apart by; it is 59 to 60 minutes long.
const HOUR_STEP: u64 = 60;
const MINUTE_SLOTS: usize = 12;
const HOUR_SLOTS: usize = 60;

/// A number that is known to lie between two, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HitRange {
    /// No fewer.
    pub at_least: u64,
    /// No more.
    pub at_most: u64,
}

impl HitRange {
    /// Whether the number is known.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.at_least == self.at_most
    }

    fn and(self, other: Self) -> Self {
        Self {
            at_least: self.at_least + other.at_least,
            at_most: self.at_most + other.at_most,
        }
    }
}

/// Hits of one address, up to a second old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentHits {
    /// In the last 55 to 60 seconds.
    pub minute: HitRange,
    /// In the last 59 to 60 minutes, or since the start.
    pub hour: HitRange,
}

/// One of the addresses hit most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopHit {
    /// The address.
    pub address: IpAddr,
    /// Where frames had it.
    pub side: Side,
    /// How often.
    pub hits: RecentHits,
}

/// The addresses hit most in the last hour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopHits {
    /// Most hits first, by the least number.
    pub top: Vec<TopHit>,
    /// How often an address that is not held was hit at most, on one side, in the last minute.
    pub missed_minute: u64,
    /// The same in the last hour.
    pub missed_hour: u64,
}

/// Hits by time, the newest in the slot of now.
#[derive(Clone, Debug)]
struct Slots {
    minute: [u32; MINUTE_SLOTS],
    hour: [u32; HOUR_SLOTS],
    /// Seconds, when it was last brought up to date.
    at: u64,
}

impl Slots {
    fn new(at: u64) -> Self {
        Self {
            minute: [0; MINUTE_SLOTS],
            hour: [0; HOUR_SLOTS],
            at,
        }
    }

    fn add(&mut self, now: u64, hits: u64) {
        self.advance(now);
        let hits = u32::try_from(hits).unwrap_or(u32::MAX);
        let add = |slot: &mut u32| *slot = slot.saturating_add(hits);
        add(&mut self.minute[(now / MINUTE_STEP) as usize % MINUTE_SLOTS]);
        add(&mut self.hour[(now / HOUR_STEP) as usize % HOUR_SLOTS]);
    }

    /// Empties the slots whose time has come again.
    fn advance(&mut self, now: u64) {
        advance(&mut self.minute, self.at / MINUTE_STEP, now / MINUTE_STEP);
        advance(&mut self.hour, self.at / HOUR_STEP, now / HOUR_STEP);
        self.at = now;
    }

    /// Hits of the last minute and the last hour.
    fn sums(&self, now: u64) -> (u64, u64) {
        let mut slots = self.clone();
        slots.advance(now);
        let sum = |slots: &[u32]| slots.iter().copied().map(u64::from).sum();
        (sum(&slots.minute), sum(&slots.hour))
    }
}

fn advance(slots: &mut [u32], from: u64, to: u64) {
    let len = slots.len() as u64;
    for step in (from + 1..=to).take(slots.len()) {
        slots[(step % len) as usize] = 0;
    }
    if to - from.min(to) > len {
        slots.fill(0);
    }
}

/// What is known of one address and side.
#[derive(Clone, Debug)]
struct Held {
    /// Hits for sure.
    sure: Slots,
    /// Hits that may have been of others.
    doubtful: Slots,
}

/// Address, whether it is IPv4's, side.
type Key = (u128, bool, Side);

/// All that is held.
#[derive(Debug)]
pub(crate) struct HitHistory {
    held: HashMap<Key, Held>,
    /// Hits that an address may have had while it was not held.
    missed: Slots,
}

impl HitHistory {
    pub(crate) fn new() -> Self {
        Self {
            held: HashMap::new(),
            missed: Slots::new(0),
        }
    }

    /// Adds what a worker counted in the second before `now`, seconds since the start.
    pub(crate) fn add(&mut self, now: u64, table: &HitAddresses) {
        for hit in table.held() {
            let key = (hit.address, hit.is_v4, hit.side);
            let held = self.held.entry(key).or_insert_with(|| Held {
                sure: Slots::new(now),
                doubtful: Slots::new(now),
            });
            held.sure.add(now, u64::from(hit.count - hit.error));
            held.doubtful.add(now, u64::from(hit.error));
        }
        self.missed.add(now, u64::from(table.missed_max()));
        if self.held.len() > HELD_MAX {
            self.let_go(now);
        }
    }

    /// Lets go of the addresses hit least in the last hour. As many hits as the greatest of them
    /// had may be missed from here on.
    fn let_go(&mut self, now: u64) {
        let greatest = |held: &Held| held.sure.sums(now).1 + held.doubtful.sums(now).1;
        let mut all: Vec<(u64, Key)> = self
            .held
            .iter()
            .map(|(&key, held)| (greatest(held), key))
            .collect();
        let going = all.len() - KEPT;
        let (less, &mut (last, key), _) =
            all.select_nth_unstable_by_key(going - 1, |&(hits, _)| hits);
        for (_, key) in less {
            self.held.remove(key);
        }
        self.held.remove(&key);
        self.missed.add(now, last);
    }

    fn hits(&self, now: u64, key: &Key) -> RecentHits {
        let (missed_minute, missed_hour) = self.missed.sums(now);
        let (sure, doubtful) = match self.held.get(key) {
            Some(held) => (held.sure.sums(now), held.doubtful.sums(now)),
            None => ((0, 0), (0, 0)),
        };
        let range = |sure, doubtful, missed| HitRange {
            at_least: sure,
            at_most: sure + doubtful + missed,
        };
        RecentHits {
            minute: range(sure.0, doubtful.0, missed_minute),
            hour: range(sure.1, doubtful.1, missed_hour),
        }
    }

    /// Hits of an address on either side.
    pub(crate) fn of(&self, now: u64, address: IpAddr) -> RecentHits {
        let (address, is_v4) = match address {
            IpAddr::V4(address) => (u128::from(u32::from(address)), true),
            IpAddr::V6(address) => (u128::from(address), false),
        };
        let [src, dst] = Side::EVERY.map(|side| self.hits(now, &(address, is_v4, side)));
        RecentHits {
            minute: src.minute.and(dst.minute),
            hour: src.hour.and(dst.hour),
        }
    }

    /// The `count` addresses hit most: by the hits that are certain, then by those that may be
    /// others'.
    pub(crate) fn top(&self, now: u64, count: usize) -> TopHits {
        let hour = |slots: &Slots| Reverse(slots.sums(now).1);
        let mut all: Vec<(Reverse<u64>, Reverse<u64>, &Key)> = self
            .held
            .iter()
            .map(|(key, held)| (hour(&held.sure), hour(&held.doubtful), key))
            .filter(|&(Reverse(sure), ..)| sure != 0)
            .collect();
        all.sort_unstable_by_key(|&(sure, doubtful, key)| (sure, doubtful, key.0));
        let top = all.into_iter().take(count).map(|(.., key)| TopHit {
            address: ip(key),
            side: key.2,
            hits: self.hits(now, key),
        });
        let (missed_minute, missed_hour) = self.missed.sums(now);
        TopHits {
            top: top.collect(),
            missed_minute,
            missed_hour,
        }
    }
}

fn ip(&(address, is_v4, _): &Key) -> IpAddr {
    match is_v4 {
        true => Ipv4Addr::from(address as u32).into(),
        false => Ipv6Addr::from(address).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(hits: &[(u32, u32)]) -> HitAddresses {
        let mut table = HitAddresses::new([3, 5]);
        for &(address, times) in hits {
            for _ in 0..times {
                table.count(address.into(), true, Side::Src);
            }
        }
        table
    }

    fn exact(history: &HitHistory, now: u64, address: u32) -> (u64, u64) {
        let hits = history.of(now, Ipv4Addr::from(address).into());
        assert!(hits.minute.is_exact() && hits.hour.is_exact(), "{hits:?}");
        (hits.minute.at_least, hits.hour.at_least)
    }

    #[test]
    fn hits_leave_the_minute_and_then_the_hour() {
        let mut history = HitHistory::new();
        history.add(10, &counted(&[(1, 7), (2, 3)]));
        history.add(40, &counted(&[(1, 1)]));
        assert_eq!(exact(&history, 40, 1), (8, 8));
        assert_eq!(exact(&history, 64, 2), (3, 3));
        assert_eq!(exact(&history, 70, 1), (1, 8));
        assert_eq!(exact(&history, 3599, 1), (0, 8));
        assert_eq!(exact(&history, 3661, 1), (0, 0));
        assert_eq!(exact(&history, 1_000_000, 1), (0, 0));
        history.add(1_000_000, &counted(&[(1, 2)]));
        assert_eq!(exact(&history, 1_000_000, 1), (2, 2));
        assert_eq!(exact(&history, 1_000_000, 9), (0, 0));
    }

    #[test]
    fn the_most_hit_come_first() {
        let mut history = HitHistory::new();
        for second in 0..10 {
            history.add(second, &counted(&[(1, 1), (2, 5), (3, 2)]));
        }
        let top = history.top(10, 2);
        let named: Vec<_> = top.top.iter().map(|hit| hit.address.to_string()).collect();
        assert_eq!(named, ["0.0.0.2", "0.0.0.3"]);
        assert_eq!(top.top[0].hits.hour.at_least, 50);
        assert_eq!((top.missed_minute, top.missed_hour), (0, 0));
    }

    #[test]
    fn what_was_let_go_is_within_the_bounds() {
        let mut history = HitHistory::new();
        // As many again as are held, an eighth of a table's room at a time: nothing is lost there.
        let mut exact: HashMap<u32, u64> = HashMap::new();
        for second in 0..2 * HELD_MAX as u32 / 256 {
            let hits: Vec<_> = (0..256).map(|i| (second * 256 + i, 1 + i % 3)).collect();
            for &(address, times) in &hits {
                *exact.entry(address).or_default() += u64::from(times);
            }
            history.add(u64::from(second), &counted(&hits));
            assert!(history.held.len() <= HELD_MAX);
        }
        let top = history.top(70, 10);
        assert!(top.missed_hour > 0);
        for (&address, &hits) in &exact {
            let known = history.of(70, Ipv4Addr::from(address).into());
            assert!((known.hour.at_least..=known.hour.at_most).contains(&hits));
        }
    }
}
