//! The table against a map and a walk, at every level.

use super::*;
use std::collections::HashMap;

const SEED: u64 = 0x51ed_2701;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) % u64::from(bound)) as u32
    }
}

const BUCKETS: u16 = 4;

fn table<A: Address>(per_bucket: u32, full: WhenFull, level: Level) -> FlowTable<A> {
    let limits = FlowLimits {
        buckets: BUCKETS,
        per_bucket,
        full,
    };
    let secret = Secret::from_seed(SEED);
    FlowTable::with_secret(limits, &secret, level).expect("some kilobytes")
}

/// A packet of flow `number`, by one of its ends.
fn sighting<A: Address>(number: u32, back: bool) -> Sighting<A> {
    let client = (
        A::narrow(u128::from(number) << 7 | 0xA << 24),
        number as u16 | 1 << 10,
    );
    let server = (A::narrow(0xC0A8_0001), 443);
    let (src, dst) = if back {
        (server, client)
    } else {
        (client, server)
    };
    let (id, from) = FlowId::of(src, dst, 6);
    let bucket = (number % u32::from(BUCKETS)) as u16;
    Sighting { id, from, bucket }
}

/// What the model knows of a flow.
#[derive(Clone, Copy, Debug)]
struct Known {
    last: u32,
    timeout: u32,
    frames: u64,
}

fn locate<A: Address>(table: &FlowTable<A>, sighting: Sighting<A>) -> Option<Place> {
    let mut place = [None];
    table.locate(&[sighting], &mut place);
    place[0]
}

fn against_a_map<A: Address>(level: Level) {
    let mut table = table::<A>(64, WhenFull::Refuse, level);
    let mut model: HashMap<u32, Known> = HashMap::new();
    let mut random = Random(SEED);
    let mut now = 5;
    for _ in 0..if cfg!(miri) { 5 } else { 30_000 } {
        let most = [4, 600][usize::from(random.below(50) == 0)];
        now += random.below(8) / 7 * random.below(most);
        table.expire(Tick(now), usize::MAX, &mut |flow| {
            let over = flow.over_at();
            assert!(over <= now, "ended {} ticks early", over - now);
        });
        model.retain(|_, known| known.last + known.timeout > now);
        assert_eq!(table.len(), model.len(), "at tick {now}");
        let burst: Vec<u32> = (0..random.below(20)).map(|_| random.below(300)).collect();
        let back = random.below(2) == 1;
        let sightings: Vec<_> = burst.iter().map(|&one| sighting::<A>(one, back)).collect();
        let mut places = vec![None; burst.len()];
        table.locate(&sightings, &mut places);
        let mut visited = 0;
        let missing = table.visit(&sightings, &mut |at, flow| {
            assert_eq!(flow.id(), sightings[at].id);
            visited |= 1 << at;
        });
        let found = |mask: u64, at: usize| mask >> at & 1 == 1;
        for (at, place) in places.iter().enumerate() {
            assert_eq!(found(visited, at), place.is_some(), "{at} at tick {now}");
            assert_eq!(found(missing, at), place.is_none(), "{at} at tick {now}");
        }
        for ((&number, sighting), place) in burst.iter().zip(&sightings).zip(places) {
            let before = model.get(&number).map(|known| known.timeout);
            let timeout = before.unwrap_or(1).max(random.below(400));
            let same = |other: &&u32| **other % 4 == number % 4;
            let room = before.is_some() || model.keys().filter(same).count() < 64;
            let place = match place {
                Some(place) => Ok(place),
                None => table.insert(sighting, timeout, Tick(now), &mut |_| unreachable!()),
            };
            assert_eq!(place.is_ok(), room, "{number} at tick {now}: {place:?}");
            let Ok(place) = place else { continue };
            let flow = table.flow_mut(place).expect("a place");
            assert_eq!(flow.id(), sighting.id);
            flow.count(sighting.from, 60, Tick(now));
            flow.set_timeout(timeout);
            let known = model.entry(number).or_insert(Known {
                last: 0,
                timeout,
                frames: 0,
            });
            *known = Known {
                last: now,
                timeout,
                frames: known.frames + 1,
            };
            assert_eq!(flow.frames().iter().sum::<u64>(), known.frames);
        }
        if random.below(20) == 0 {
            let number = random.below(300);
            let place = locate(&table, sighting::<A>(number, true));
            assert_eq!(place.is_some(), model.remove(&number).is_some());
            place.into_iter().for_each(|place| table.remove(place));
        }
    }
    assert_eq!(table.flows().count(), model.len());
}

#[test]
fn the_table_is_a_map() {
    for level in Level::here() {
        against_a_map::<u32>(level);
        against_a_map::<u128>(level);
    }
}

#[test]
fn a_full_bucket_evicts_what_would_be_over_first() {
    let mut table = table::<u32>(8, WhenFull::Evict, Level::best());
    let numbers: Vec<u32> = (0..9).map(|index| index * u32::from(BUCKETS)).collect();
    for (age, &number) in numbers[..8].iter().enumerate() {
        let now = Tick(10 + age as u32);
        let _ = table.insert(&sighting(number, false), 100, now, &mut |_| unreachable!());
    }
    let second = locate(&table, sighting(numbers[0], false)).expect("it is there");
    let flow = table.flow_mut(second).expect("a place");
    flow.count(End::Low, 60, Tick(50));
    let mut gone = Vec::new();
    let mut ended = |flow: &Flow<u32>| gone.push(flow.id());
    let last = table.insert(&sighting(numbers[8], false), 100, Tick(51), &mut ended);
    assert!(last.is_ok());
    assert_eq!(gone, [sighting::<u32>(numbers[1], false).id]);
    assert_eq!((table.len(), table.counts().evicted), (8, 1));
    assert!(locate(&table, sighting(numbers[0], false)).is_some());
}

#[test]
fn a_bucket_moves_with_its_flows() {
    let mut here = table::<u128>(16, WhenFull::Refuse, Level::best());
    let mut there = here.sibling();
    for number in 0..32 {
        let _ = here.insert(&sighting(number, false), 9, Tick(1), &mut |_| ());
    }
    let moved = here.take_bucket(2).expect("it was here");
    assert!(there.put_bucket(2, moved).is_none());
    assert_eq!((here.len(), there.len()), (24, 8));
    assert_eq!(locate(&here, sighting(2, false)), None);
    let refused = here.insert(&sighting(34, false), 9, Tick(1), &mut |_| ());
    assert_eq!(refused, Err(NoRoom::Elsewhere));
    assert!(locate(&there, sighting(2, true)).is_some());
    assert_eq!(there.expire(Tick(10), 3, &mut |_| ()), 3);
    assert_eq!(there.expire(Tick(10), 300, &mut |_| ()), 5);
    assert_eq!(there.expire(Tick(10), 300, &mut |_| ()), 0);
    assert!(there.is_empty());
}

#[test]
fn a_flood_costs_what_a_bucket_holds() {
    let mut table = table::<u32>(32, WhenFull::Evict, Level::best());
    let bytes = table.bytes();
    let mut ended = 0;
    let flood = if cfg!(miri) { 40 } else { 100_000 };
    for number in 0..flood {
        let sighting = Sighting {
            bucket: 1,
            ..sighting(number, false)
        };
        let place = table.insert(&sighting, ticks(5), Tick(number / 1000), &mut |_| {
            ended += 1;
        });
        assert!(place.is_ok());
    }
    assert_eq!((table.len(), table.bytes()), (32, bytes));
    assert_eq!(table.counts().evicted, u64::from(flood - 32));
    assert_eq!(ended, flood - 32);
}

/// Who knows the RSS key sends all to one bucket. Whatever comes, a packet costs a few lines: three
/// at most to be looked up, and to begin, a look, both its lines, the other lines of the ten in its
/// first, and two to forget the one that goes.
#[test]
fn no_packet_of_a_flood_costs_more_than_some_lines() {
    const LOOK_MAX: u64 = 3;
    const BEGIN_MAX: u64 = 2 + 2 + 10 + 2;
    let looked = |work: &mut dyn FnMut()| {
        let before = index::LOOKED.get();
        work();
        index::LOOKED.get() - before
    };
    let flood = if cfg!(miri) { 40 } else { 60_000 };
    for full in [WhenFull::Refuse, WhenFull::Evict] {
        let mut table = table::<u128>(1000, full, Level::best());
        let bytes = table.bytes();
        let (mut looks, mut begins) = (0, 0);
        for number in 0..flood {
            let sighting = Sighting {
                bucket: 3,
                ..sighting(number, false)
            };
            let mut found = 0;
            let look = looked(&mut || found = table.visit(&[sighting], &mut |_, _| ()));
            assert!(found == 1 && look <= LOOK_MAX, "{number}: {look} lines");
            let begin = looked(&mut || {
                let place = table.insert(&sighting, ticks(9), Tick(1), &mut |_| ());
                let room = full == WhenFull::Evict || number < 1000;
                assert_eq!(place.is_ok(), room, "{number}: {place:?}");
            });
            assert!(begin <= BEGIN_MAX, "{number}: {begin} lines");
            looks += look;
            begins += begin;
        }
        let each = |lines: u64| lines as f64 / f64::from(flood);
        assert!(each(looks) < 2.0, "{} lines a packet", each(looks));
        assert!(each(begins) < 8.0, "{} lines a beginning", each(begins));
        assert!(table.len() <= 1000 && table.bytes() == bytes);
    }
}

#[test]
fn both_directions_are_one_flow() {
    let (there, from) = FlowId::of((7u32, 80), (7, 9999), 17);
    let (back, other) = FlowId::of((7, 9999), (7, 80), 17);
    assert_eq!((there, from, other), (back, End::Low, End::High));
    assert_eq!((there.end(from), there.end(other)), ((7, 80), (7, 9999)));
    assert_ne!(there, FlowId::of((7, 80), (7, 9999), 6).0);
}

#[test]
fn a_full_table_is_never_crowded() {
    let each = if cfg!(miri) { 10 } else { 20_000 };
    let mut table = table::<u32>(each, WhenFull::Refuse, Level::best());
    let all = u32::from(BUCKETS) * each;
    for number in 0..all {
        let place = table.insert(&sighting(number, false), 9, Tick(1), &mut |_| ());
        assert!(place.is_ok(), "{number}: {place:?}");
    }
    let found = |number: &u32| locate(&table, sighting(*number, true)).is_some();
    assert_eq!((0..all).filter(found).count(), all as usize);
    let refused = table.insert(&sighting(all, false), 9, Tick(1), &mut |_| ());
    assert_eq!(refused, Err(NoRoom::Full));
}
