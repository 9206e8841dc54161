//! What strangers cannot do.

use super::*;

fn numbered(number: u32) -> Key {
    Key {
        interface: 0,
        address: IpAddr::from(number.to_be_bytes()),
    }
}

fn heard(key: Key, mac: MacAddress, how: How) -> Heard {
    Heard {
        key,
        mac: Some(mac),
        how,
    }
}

#[test]
fn a_scan_fills_no_memory_and_costs_those_that_are_known_nothing() {
    let settings = NeighbourSettings {
        max: 64,
        requests_per_second: 10,
        ..NeighbourSettings::default()
    };
    let mut bench = Bench::new(settings);
    bench.0.want(key(1), at(0));
    bench.hear(1, MAC, ANSWER, 0);
    let mut requests = 0;
    for scanned in 0..100_000u32 {
        let now = Nanos(u64::from(scanned) * 1000);
        let scanned = Key {
            interface: 0,
            address: IpAddr::from(scanned.to_be_bytes()),
        };
        bench.0.want(scanned, now);
        let events = std::iter::from_fn(|| bench.0.poll(now));
        requests += events
            .filter(|event| matches!(event, Event::Ask { .. }))
            .count();
        assert!(bench.0.len() <= 17 && bench.0.timers.len() <= 64 + 4 * 17);
    }
    assert!(requests <= 12, "{requests} requests in a tenth of a second");
    assert_eq!(bench.lookup(1, 100), Lookup::Known(MAC));
}

#[test]
fn a_scan_does_not_keep_those_that_are_known_from_being_asked() {
    let settings = NeighbourSettings {
        requests_per_second: 10,
        ..NeighbourSettings::default()
    };
    let mut bench = Bench::new(settings);
    bench.0.want(key(1), at(0));
    bench.hear(1, MAC, ANSWER, 0);
    let mut probes = 0;
    for ms in 0..40_000u32 {
        bench.0.want(numbered(ms), at(ms.into()));
        bench.lookup(1, ms.into());
        let events = bench.events(ms.into());
        probes += events
            .iter()
            .filter(|&&event| event == asked(1, Some(MAC)))
            .count();
    }
    assert_eq!(probes, 3, "and then it is forgotten");
}

#[test]
fn a_scan_of_one_link_does_not_silence_another() {
    let mut bench = Bench::new(NeighbourSettings::default());
    let wanted = (0..10_000).filter(|&number| bench.0.want(numbered(number), at(0)));
    assert_eq!(
        wanted.count(),
        334,
        "a third of the requests, since each has three"
    );
    let beside = Key {
        interface: 7,
        ..key(1)
    };
    assert!(bench.0.want(beside, at(0)));
}

#[test]
fn stations_that_ask_for_us_leave_room_for_those_that_are_wanted() {
    let settings = NeighbourSettings {
        max: 64,
        ..NeighbourSettings::default()
    };
    let mut bench = Bench::new(settings);
    let asks_us = How::Request { of_us: true };
    for number in 0..1000 {
        bench
            .0
            .hear(&heard(numbered(number), OTHER, asks_us), at(0));
    }
    assert_eq!(bench.0.len(), 48);
    for number in 2000..2016 {
        assert!(bench.0.want(numbered(number), at(0)));
        bench.0.hear(&heard(numbered(number), MAC, ANSWER), at(0));
    }
    assert_eq!(bench.0.len(), 64);
    assert!(!bench.0.want(key(1), at(0)), "all are known");
    // Those that nobody uses leave early where there is little room.
    bench.events(30_001);
    bench.events(36_000);
    assert!(bench.0.len() < 64);
    assert!(bench.0.want(key(1), at(36_000)));
}

#[test]
fn a_station_that_changes_its_mind_fills_no_memory() {
    let mut bench = Bench::new(NeighbourSettings::default());
    bench.0.want(key(1), at(0));
    bench.hear(1, MAC, ANSWER, 0);
    for step in 0..20_000u64 {
        let (mac, how) = match step % 3 {
            0 => (MAC, ANNOUNCED),
            1 => (OTHER, ANNOUNCED),
            _ => (OTHER, ANSWER),
        };
        bench.hear(1, mac, how, step * 1000);
        bench.lookup(1, step * 1000 + 1);
        bench.events(step * 1000 + 2);
        assert!(
            bench.0.timers.len() <= 69,
            "step {step}: {}",
            bench.0.timers.len()
        );
    }
}
