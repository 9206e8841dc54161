//! Random histories: whatever is lost, and however changes and listings meet, the mirror is at last
//! what the kernel has, and changes name all that became different.

use std::collections::BTreeMap;
use std::net::IpAddr;

use netdev::routing::{self, Hop, Mirror, Prefix, TableChoice};

use crate::pretended::{Change, Place, Pretended};
use crate::recorded::PORT;

struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (value ^ (value >> 31)) % bound
    }
}

/// A pretended kernel, a mirror, and a copy that changes are taken over into.
struct Storm {
    draws: Draws,
    kernel: Pretended,
    mirror: Mirror,
    copy: BTreeMap<Place, Vec<Vec<u8>>>,
    room: usize,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let mut draws = Draws(seed);
        Self {
            // Some lose nothing, others much.
            room: [usize::MAX, 40, 8, 2][draws.below(4) as usize],
            draws,
            kernel: Pretended::default(),
            mirror: Mirror::new(PORT, TableChoice::All),
            copy: BTreeMap::new(),
        }
    }

    fn step(&mut self, changes_too: bool) {
        match self.draws.below(if changes_too { 10 } else { 4 }) {
            0 => self.ask(),
            1 => self.kernel.list(),
            2 | 3 => self.read(),
            _ => {
                let place = (self.draws.below(30) as u8, self.draws.below(2) as u32);
                let gateway = self.draws.below(4) as u8;
                let change = match self.draws.below(8) {
                    0..=3 => Change::Add(gateway),
                    4 | 5 => Change::Remove(gateway),
                    6 => Change::Replace(gateway),
                    _ => Change::Clear,
                };
                self.kernel.change((place, change), self.room);
            }
        }
    }

    fn ask(&mut self) {
        if let Some(request) = self.mirror.request() {
            self.kernel.asked(&request);
        }
    }

    fn read(&mut self) {
        if std::mem::take(&mut self.kernel.has_overrun) {
            self.mirror.overrun();
        }
        let mut changes = Vec::new();
        if let Some(datagram) = self.kernel.waiting.pop_front() {
            self.mirror.receive(&datagram, &mut changes);
        }
        let now = routes(&self.mirror);
        for change in &changes {
            let routing::Change::Route { table: 254, prefix } = change else {
                panic!("{change:?}");
            };
            let number = number(*prefix);
            self.copy.retain(|place, _| place.0 != number);
            let here = now.iter().filter(|(place, _)| place.0 == number);
            self.copy
                .extend(here.map(|(place, to)| (*place, to.clone())));
        }
        assert_eq!(self.copy, now, "a change was not named");
    }

    fn is_quiet(&self) -> bool {
        let kernel = &self.kernel;
        self.mirror.is_complete() && kernel.waiting.is_empty() && !kernel.has_overrun
    }
}

fn number(prefix: Prefix) -> u8 {
    match prefix.address {
        IpAddr::V4(address) => address.octets()[2],
        IpAddr::V6(address) => address.octets()[1],
    }
}

/// The gateways of the routes of each place, that in force first. After a loss there may be some
/// which the kernel has no more.
fn routes(mirror: &Mirror) -> BTreeMap<Place, Vec<Vec<u8>>> {
    let gateway = |hop: &Hop| match hop.gateway.expect("a gateway") {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    };
    let mut routes = BTreeMap::<Place, Vec<Vec<u8>>>::new();
    for (key, route) in mirror.routes() {
        let here = routes.entry((number(key.prefix), key.metric)).or_default();
        here.push(route.hops.iter().map(gateway).collect());
    }
    routes
}

fn sorted(gateways: &[u8]) -> Vec<u8> {
    let mut gateways = gateways.to_vec();
    gateways.sort_unstable();
    gateways
}

#[test]
fn whatever_is_lost_the_mirror_is_at_last_what_the_kernel_has() {
    let given = std::env::var("LINERATE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let clock = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(0, |time| time.as_nanos() as u64);
    let seed: u64 = given.unwrap_or(clock);
    println!("LINERATE_SEED={seed}");
    let mut lost = 0;
    for run in 0..300 {
        let mut storm = Storm::new(seed.wrapping_add(run));
        for _ in 0..600 {
            storm.step(true);
        }
        let mut steps = 0;
        while !storm.is_quiet() {
            storm.step(false);
            steps += 1;
            assert!(steps < 100_000, "run {run} comes to no end");
        }
        let kernel = storm
            .kernel
            .routes
            .iter()
            .map(|(place, to)| (*place, vec![sorted(to)]));
        assert_eq!(routes(&storm.mirror), kernel.collect(), "run {run}");
        lost += storm.mirror.overruns();
    }
    assert!(lost > 0, "no run lost anything");
}
