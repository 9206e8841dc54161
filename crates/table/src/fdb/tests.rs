//! The database against its oracle, under floods, and between workers.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::oracle::{Oracle, Stamp, Station};
use super::*;
use crate::secret::Secret;

const MS: u64 = 1_000_000;
const AGE_MS: u32 = 8_000;

/// SplitMix64: a seed that is printed replays a history.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = Secret::from_seed(self.0).flow_key()[0];
        word % end
    }

    /// One of few, so that stations meet again.
    fn station(&mut self) -> Station {
        let last = self.below(24) as u8;
        ((self.below(3) * 2000) as u16, [2, 0, 0, 0, 0, last])
    }

    fn port(&mut self) -> PortId {
        PortId(self.below(4) as u8)
    }
}

fn limits(stations: u32, by_port: &[u32]) -> FdbLimits {
    FdbLimits {
        stations,
        by_port: by_port.to_vec(),
        age_ms: AGE_MS,
    }
}

fn fdb(limits: FdbLimits, worker: u16) -> Fdb {
    Fdb::new(limits, [7, u64::from(worker)], WorkerId(worker)).expect("some memory")
}

fn mac(number: u32) -> Mac {
    let [a, b, c, d] = number.to_be_bytes();
    [2, 0, a, b, c, d]
}

impl Fdb {
    fn hears(&mut self, (vlan, mac): Station, port: PortId) -> Learning {
        let probe = self.probe(vlan, &mac);
        self.learn(&probe, port)
    }

    fn knows(&self, (vlan, mac): Station) -> Option<PortId> {
        self.lookup(&self.probe(vlan, &mac))
    }

    fn listed(&self) -> Vec<(Station, PortId)> {
        let (mut all, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next {
            next = self.page(from, 3, |entry| {
                all.push(((entry.vlan, entry.mac), entry.port));
            });
        }
        all.sort_unstable();
        all
    }

    /// What is counted is what is there.
    fn check(&self) {
        let used = |slot: &usize| {
            let entry = self.entry(*slot);
            entry.is_used() && !entry.is_static()
        };
        let slots = (0..self.lines.len() * PLACES).filter(used);
        let mut counts = vec![0; self.counts.len()];
        for slot in slots {
            counts[self.entry(slot).port().index()] += 1;
        }
        assert_eq!(counts, self.counts);
        assert_eq!(self.total, counts.iter().sum::<u32>());
    }
}

/// Begins shortly before milliseconds wrap.
fn start_ms(seed: u64) -> u64 {
    if seed.is_multiple_of(2) {
        u64::from(u32::MAX) - 20_000
    } else {
        1_000
    }
}

#[test]
fn histories_end_as_the_slow_twin_says() {
    for seed in 0..200 {
        println!("seed {seed}");
        let mut draw = Draw(seed);
        let mut fdb = fdb(limits(200, &[200; 4]), 0);
        let mut oracle = Oracle::new(AGE_MS, start_ms(seed));
        for _ in 0..600 {
            fdb.set_now(Nanos(oracle.now_ms * MS));
            one_step(&mut draw, &mut fdb, &mut oracle);
            fdb.check();
        }
        fdb.set_now(Nanos(oracle.now_ms * MS));
        assert_eq!(fdb.listed(), oracle.all());
    }
}

fn one_step(draw: &mut Draw, fdb: &mut Fdb, oracle: &mut Oracle) {
    let (station, port) = (draw.station(), draw.port());
    match draw.below(100) {
        0..60 => {
            let learned = fdb.hears(station, port).learned;
            assert_eq!(learned, oracle.learn(station, port), "{station:?}");
        }
        60..80 => assert_eq!(fdb.knows(station), oracle.lookup(station), "{station:?}"),
        80..94 => oracle.now_ms += draw.below(u64::from(AGE_MS) / 4),
        94..96 => fdb.sweep(Nanos(oracle.now_ms * MS)),
        96 => {
            assert!(fdb.set_static(station.0, &station.1, port));
            oracle.set_static(station, port);
        }
        97..99 => {
            let known = fdb.knows(station).is_some();
            fdb.forget(station.0, &station.1);
            assert_eq!(known, oracle.forget(station));
        }
        _ => {
            fdb.forget_port(port);
            oracle.forget_port(port);
            // What is learned in the same millisecond may be taken for what was known before.
            oracle.now_ms += 1;
        }
    }
}

/// Workers, what each has told each other one and is still under way, and what somebody who sees
/// everything at once knows.
struct Crew {
    fdbs: Vec<Fdb>,
    /// By who told, then by who is told.
    under_way: Vec<Vec<VecDeque<Sighting>>>,
    truth: Oracle,
}

impl Crew {
    fn new(workers: u16, seed: u64) -> Self {
        let count = usize::from(workers);
        Self {
            fdbs: (0..workers)
                .map(|worker| fdb(limits(200, &[200; 4]), worker))
                .collect(),
            under_way: vec![vec![VecDeque::new(); count]; count],
            truth: Oracle::new(AGE_MS, start_ms(seed)),
        }
    }

    fn hears(&mut self, worker: usize, station: Station, port: PortId, is_full: bool) {
        let stamp: Stamp = (self.truth.now_ms, Reverse(worker as u16));
        self.truth.see(station, port, stamp);
        let tell = self.fdbs[worker].hears(station, port).tell;
        match tell {
            Some(sighting) if is_full => self.fdbs[worker].not_told(&sighting),
            Some(sighting) => self.tells(worker, &sighting),
            None => {}
        }
    }

    fn tells(&mut self, worker: usize, sighting: &Sighting) {
        let others = self.under_way[worker].iter_mut().enumerate();
        for (_, ring) in others.filter(|&(other, _)| other != worker) {
            ring.push_back(*sighting);
        }
    }

    /// The next that `from` told arrives at `to`.
    fn arrives(&mut self, from: usize, to: usize) {
        let Some(sighting) = self.under_way[from][to].pop_front() else {
            return;
        };
        if let Applied::Outdated(Some(better)) = self.fdbs[to].apply(&sighting) {
            self.tells(to, &better);
        }
    }

    fn settle(&mut self) {
        let workers = self.fdbs.len();
        while self.under_way.iter().flatten().any(|told| !told.is_empty()) {
            for pair in 0..workers * workers {
                self.arrives(pair / workers, pair % workers);
            }
        }
    }

    fn set_now(&mut self) {
        for fdb in &mut self.fdbs {
            fdb.set_now(Nanos(self.truth.now_ms * MS));
        }
    }
}

#[test]
fn workers_that_tell_each_other_come_to_the_same_answers() {
    for (workers, seed) in (2..=4).flat_map(|workers| (0..200).map(move |seed| (workers, seed))) {
        println!("{workers} workers, seed {seed}");
        let (mut draw, mut crew) = (Draw(seed), Crew::new(workers, seed));
        for _ in 0..400 {
            crew.set_now();
            let (station, port) = (draw.station(), draw.port());
            let [worker, other] = [(); 2].map(|()| draw.below(workers.into()) as usize);
            match draw.below(10) {
                0..5 => crew.hears(worker, station, port, false),
                5..9 => crew.arrives(worker, other),
                _ => crew.truth.now_ms += draw.below(400),
            }
        }
        crew.settle();
        crew.set_now();
        // What was told an eighth of the age ago may be too old for the other workers only.
        for number in 0..72 {
            let station = ((number % 3) * 2000, [2, 0, 0, 0, 0, (number / 3) as u8]);
            let answers = crew.fdbs.iter().map(|fdb| fdb.knows(station));
            let answers: Vec<Option<PortId>> = answers.collect();
            let right = crew.truth.lookup(station);
            for &answer in &answers {
                assert!(answer.is_none() || answer == right, "{station:?} {right:?}");
            }
            crew.truth.age_ms -= u64::from(AGE_MS) / 6;
            if crew.truth.lookup(station).is_some() {
                assert!(answers.iter().all(|&answer| answer == right), "{station:?}");
            }
            crew.truth.age_ms += u64::from(AGE_MS) / 6;
        }
    }
}

/// The first worker sees a station at two ports in one millisecond, another one in between; what
/// both told comes to a third one in any order.
#[test]
fn what_a_worker_saw_last_is_believed_also_when_others_saw_what_it_saw_before() {
    let (station, before, last) = ((0, mac(1)), PortId(3), PortId(1));
    for seer in [1, 2] {
        let mut crew = Crew::new(3, 0);
        crew.set_now();
        crew.hears(0, station, before, false);
        crew.settle();
        crew.hears(seer, station, before, false);
        crew.arrives(seer, 0);
        crew.hears(0, station, last, false);
        // The rings of the first worker go first.
        crew.settle();
        let answers: Vec<_> = crew.fdbs.iter().map(|fdb| fdb.knows(station)).collect();
        assert_eq!(answers, [Some(last); 3], "worker {seer} saw it too");
    }
}

#[test]
fn what_a_full_ring_lost_is_told_at_the_next_frame() {
    for (workers, seed) in [2, 3]
        .into_iter()
        .flat_map(|workers| (0..50).map(move |seed| (workers, seed)))
    {
        println!("{workers} workers, seed {seed}");
        let (mut draw, mut crew) = (Draw(seed), Crew::new(workers, seed));
        for step in 0..200 {
            crew.set_now();
            let is_full = draw.below(2) == 0;
            let (station, port) = (draw.station(), draw.port());
            let [worker, other] = [(); 2].map(|()| draw.below(workers.into()) as usize);
            crew.hears(worker, station, port, is_full);
            crew.arrives(worker, other);
            crew.truth.now_ms += step % 3;
        }
        crew.truth.now_ms += 1;
        crew.set_now();
        for (station, port) in crew.truth.all() {
            for worker in 0..crew.fdbs.len() {
                crew.hears(worker, station, port, false);
            }
        }
        crew.settle();
        for fdb in &crew.fdbs {
            assert_eq!(fdb.listed(), crew.truth.all());
        }
    }
}

#[test]
fn a_station_is_told_when_it_is_new_seen_again_moved_and_once_in_an_eighth_of_the_age() {
    // Also where milliseconds wrap, at any part of an age.
    let wraps = (0..300).map(|before| (1 << 32) - before * u64::from(AGE_MS) / 64);
    for begin in [0].into_iter().chain(wraps) {
        let mut fdb = fdb(limits(10, &[10; 2]), 0);
        let station = (1, mac(1));
        let mut tells = |after_ms: u64, port: u8| {
            fdb.set_now(Nanos((begin + after_ms) * MS));
            fdb.hears(station, PortId(port)).tell.is_some()
        };
        assert!(tells(0, 0), "new");
        assert!(tells(1, 0), "it is no longer one that was seen once");
        let told = (2..u64::from(AGE_MS) + 2).filter(|&at| tells(at, 0));
        assert_eq!(told.count(), 8, "from {begin}");
        assert!(tells(8_003, 1), "moved");
        assert!(!tells(8_004, 1));
    }
}

#[test]
fn a_flood_harms_no_other_port_and_grows_nothing() {
    let mut fdb = fdb(limits(1000, &[500, 100]), 0);
    for number in 0..300 {
        assert_eq!(fdb.hears((1, mac(number)), PortId(0)).learned, Learned::New);
    }
    // A station of the flooded port that talks.
    for _ in 0..2 {
        fdb.hears((1, mac(5_000)), PortId(1));
    }
    for number in 10_000..50_000 {
        fdb.hears((1, mac(number)), PortId(1));
        assert!(fdb.len_of(PortId(1)) <= 100);
    }
    fdb.check();
    for number in 0..300 {
        assert_eq!(fdb.knows((1, mac(number))), Some(PortId(0)));
    }
    assert_eq!(fdb.knows((1, mac(5_000))), Some(PortId(1)));
    assert_eq!(fdb.knows((1, mac(49_999))), Some(PortId(1)), "the newest");
    assert!(fdb.counts().evicted > 39_000, "{:?}", fdb.counts());
}

#[test]
fn a_port_with_stations_that_all_talk_takes_no_more() {
    let mut fdb = fdb(limits(1000, &[3, 10]), 0);
    for number in [1, 1, 2, 2, 3, 3] {
        fdb.hears((0, mac(number)), PortId(0));
    }
    assert_eq!(fdb.hears((0, mac(4)), PortId(0)).learned, Learned::Refused);
    // A station that would come from another port stays where it was.
    fdb.hears((0, mac(5)), PortId(1));
    assert_eq!(fdb.hears((0, mac(5)), PortId(0)).learned, Learned::Refused);
    assert_eq!(fdb.knows((0, mac(5))), Some(PortId(1)));
    assert_eq!(fdb.counts().refused, 2);
    // A port that has no limit of its own is none of the switch.
    assert_eq!(fdb.hears((0, mac(6)), PortId(2)).learned, Learned::Refused);
    fdb.set_now(Nanos(u64::from(AGE_MS) * MS));
    for _ in 0..100 {
        fdb.sweep(Nanos(0));
        fdb.sweep(Nanos(u64::from(AGE_MS) * MS));
    }
    assert_eq!(fdb.len(), 0);
    assert_eq!(fdb.hears((0, mac(4)), PortId(0)).learned, Learned::New);
}

#[test]
#[cfg_attr(miri, ignore = "statistics, and no unsafe code")]
fn as_many_stations_as_were_asked_for_find_room() {
    for stations in [1, 2, 3, 5, 8, 64, 65, 1_000, 100_000, 131_072] {
        for seed in 0..4 {
            let limits = limits(stations, &[stations]);
            let mut fdb = Fdb::new(limits, Secret::from_seed(seed).sieve_key(), WorkerId(0))
                .expect("some megabytes");
            for number in 0..stations {
                let learned = fdb.hears((1, mac(number)), PortId(0)).learned;
                // Few places leave little choice: of a handful of stations one may be refused.
                let may_refuse = stations < 64;
                assert!(
                    learned == Learned::New || may_refuse,
                    "{number} of {stations}"
                );
            }
            fdb.check();
            let known = (0..stations).filter(|&at| fdb.knows((1, mac(at))).is_some());
            assert_eq!(known.count(), fdb.len() as usize);
        }
    }
}

#[test]
fn the_sweep_frees_all_places_in_an_eighth_of_the_age() {
    let mut fdb = fdb(limits(10_000, &[10_000]), 0);
    fdb.sweep(Nanos(0));
    for number in 0..10_000 {
        fdb.hears((1, mac(number)), PortId(0));
    }
    let end = u64::from(AGE_MS) + 1;
    for at in 0..=end + u64::from(AGE_MS) / 8 {
        fdb.set_now(Nanos(at * MS));
        fdb.sweep(Nanos(at * MS));
        assert!(at >= u64::from(AGE_MS) || fdb.len() == 10_000);
    }
    assert_eq!(fdb.len(), 0);
    assert_eq!(fdb.counts().expired, 10_000);
    fdb.check();
}

#[test]
fn a_forgotten_port_stays_forgotten_until_its_stations_talk() {
    let mut fdb = fdb(limits(100, &[100; 2]), 0);
    let both = [(1, mac(1)), (1, mac(2))];
    fdb.hears(both[0], PortId(0));
    fdb.hears(both[1], PortId(1));
    fdb.set_now(Nanos(5 * MS));
    fdb.forget_port(PortId(0));
    assert_eq!(both.map(|one| fdb.knows(one)), [None, Some(PortId(1))]);
    fdb.set_now(Nanos(6 * MS));
    fdb.hears(both[0], PortId(0));
    assert_eq!(fdb.knows(both[0]), Some(PortId(0)));
    for at in 6..u64::from(AGE_MS) {
        fdb.sweep(Nanos(at * MS));
    }
    assert_eq!(fdb.forgetting, 0, "no comparison is left");
    assert_eq!(fdb.knows(both[0]), Some(PortId(0)));
}

#[test]
fn pages_list_everything_once_with_its_age() {
    let mut fdb = fdb(limits(100, &[100]), 0);
    fdb.hears((7, mac(1)), PortId(0));
    fdb.set_static(8, &mac(2), PortId(3));
    fdb.set_now(Nanos(1_500 * MS));
    let mut all = Vec::new();
    assert_eq!(fdb.page(0, usize::MAX, |entry| all.push(entry)), None);
    all.sort_unstable_by_key(|entry| entry.vlan);
    let entry = |vlan, number, port, idle_ms| FdbEntry {
        vlan,
        mac: mac(number),
        port: PortId(port),
        idle_ms,
    };
    let right = [entry(7, 1, 0, Some(1_500)), entry(8, 2, 3, None)];
    assert_eq!(all, right);
    assert_eq!(fdb.page(usize::MAX, 1, |_| panic!("past the end")), None);
}

#[test]
fn a_static_entry_finds_a_place_among_learned_ones() {
    // Two lines of four: every one of them is taken.
    let mut fdb = fdb(limits(4, &[8]), 0);
    fdb.limits.stations = 8;
    for number in 0..8 {
        fdb.hears((0, mac(number)), PortId(0));
    }
    assert_eq!(fdb.len(), 8);
    for number in 100..108 {
        assert!(fdb.set_static(0, &mac(number), PortId(1)));
        assert_eq!(fdb.knows((0, mac(number))), Some(PortId(1)));
    }
    assert!(!fdb.set_static(0, &mac(108), PortId(1)));
    assert_eq!(fdb.len(), 0);
    fdb.check();
}
