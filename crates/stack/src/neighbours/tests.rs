//! The machine step by step.

mod bounds;
mod model;
mod random;

use std::net::IpAddr;

use super::*;

const MS: u64 = 1_000_000;
const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
const OTHER: MacAddress = MacAddress([2, 0, 0, 0, 0, 8]);
const ANSWER: How = How::Answer {
    solicited: true,
    overrides: true,
};
const ANNOUNCED: How = How::Answer {
    solicited: false,
    overrides: true,
};
const SURE: How = How::Answer {
    solicited: true,
    overrides: false,
};
const WEAK: How = How::Answer {
    solicited: false,
    overrides: false,
};

fn key(last: u8) -> Key {
    Key {
        interface: 0,
        address: IpAddr::from([10, 0, 0, last]),
    }
}

fn at(ms: u64) -> Nanos {
    Nanos(ms * MS)
}

/// A machine with the events of each step.
struct Bench(Neighbours);

impl Bench {
    fn new(settings: NeighbourSettings) -> Self {
        Self(Neighbours::new(settings, Vec::new(), [3, 5]))
    }

    fn hear(&mut self, who: u8, mac: MacAddress, how: How, ms: u64) {
        let heard = Heard {
            key: key(who),
            mac: Some(mac),
            how,
        };
        self.0.hear(&heard, at(ms));
    }

    fn events(&mut self, ms: u64) -> Vec<Event> {
        std::iter::from_fn(|| self.0.poll(at(ms))).collect()
    }

    fn state(&self, who: u8) -> Option<State> {
        let mut all = self.0.iter();
        all.find(|(found, ..)| **found == key(who)).map(|one| one.1)
    }

    fn lookup(&mut self, who: u8, ms: u64) -> Lookup {
        self.0.lookup(&key(who), at(ms))
    }
}

fn asked(who: u8, to: Option<MacAddress>) -> Event {
    Event::Ask { key: key(who), to }
}

#[test]
fn one_that_answers_is_known_until_it_is_asked_again_in_vain() {
    let mut bench = Bench::new(NeighbourSettings::default());
    assert_eq!(bench.lookup(1, 0), Lookup::Unknown);
    bench.0.want(key(1), at(0));
    bench.0.want(key(1), at(0));
    assert_eq!(bench.events(0), [asked(1, None)]);
    bench.hear(1, MAC, ANSWER, 10);
    let resolved = Event::Resolved {
        key: key(1),
        mac: MAC,
    };
    assert_eq!(bench.events(10), [resolved]);
    assert_eq!(bench.lookup(1, 20_000), Lookup::Known(MAC));
    assert_eq!(bench.events(31_000), []);
    assert_eq!(bench.state(1), Some(State::Stale));
    assert_eq!(bench.lookup(1, 31_000), Lookup::Known(MAC));
    assert_eq!(bench.state(1), Some(State::Delay));
    for second in [36, 37, 38] {
        assert_eq!(
            bench.events(second * 1000 + 1),
            [asked(1, Some(MAC))],
            "{second}"
        );
        assert_eq!(bench.lookup(1, second * 1000 + 1), Lookup::Known(MAC));
    }
    // Nothing waits for it, and all are asked by the next packet: it may have moved.
    assert_eq!(bench.events(39_002), []);
    assert_eq!(bench.lookup(1, 39_003), Lookup::Unknown);
    assert!(bench.0.is_empty());
    assert!(bench.0.want(key(1), at(39_003)));
    assert_eq!(bench.events(39_003), [asked(1, None)]);
}

#[test]
fn one_that_never_answers_fails_after_three_requests() {
    let mut bench = Bench::new(NeighbourSettings::default());
    bench.0.want(key(1), at(0));
    let mut all = Vec::new();
    (0..50).for_each(|step| all.extend(bench.events(step * 100)));
    let failed = Event::Failed { key: key(1) };
    assert_eq!(
        all,
        [asked(1, None), asked(1, None), asked(1, None), failed]
    );
    assert_eq!(bench.lookup(1, 5000), Lookup::Failed);
    assert!(!bench.0.want(key(1), at(5000)), "not again so soon");
    assert_eq!(bench.events(6001), []);
    assert_eq!(bench.lookup(1, 6001), Lookup::Unknown);
}

const OF_US: How = How::Request { of_us: true };
const OF_OTHERS: How = How::Request { of_us: false };

const INCOMPLETE: Option<State> = Some(State::Incomplete);
const REACHABLE: Option<State> = Some(State::Reachable);
const STALE: Option<State> = Some(State::Stale);
const DELAY: Option<State> = Some(State::Delay);
const PROBE: Option<State> = Some(State::Probe);
const FAILED: Option<State> = Some(State::Failed);

/// The state before, what is heard, the state and Ethernet address after.
type Row = (
    Option<State>,
    MacAddress,
    How,
    Option<State>,
    Option<MacAddress>,
);

const HEARD: &[Row] = &[
    (None, MAC, ANSWER, None, None),
    (None, MAC, ANNOUNCED, None, None),
    (None, MAC, OF_OTHERS, None, None),
    (None, MAC, OF_US, STALE, Some(MAC)),
    (INCOMPLETE, MAC, ANSWER, REACHABLE, Some(MAC)),
    (INCOMPLETE, MAC, WEAK, STALE, Some(MAC)),
    (INCOMPLETE, MAC, OF_OTHERS, STALE, Some(MAC)),
    (REACHABLE, OTHER, WEAK, STALE, Some(MAC)),
    (REACHABLE, OTHER, ANNOUNCED, STALE, Some(OTHER)),
    (REACHABLE, OTHER, ANSWER, REACHABLE, Some(OTHER)),
    (REACHABLE, MAC, WEAK, REACHABLE, Some(MAC)),
    (REACHABLE, MAC, OF_US, REACHABLE, Some(MAC)),
    (REACHABLE, OTHER, OF_OTHERS, STALE, Some(OTHER)),
    (STALE, OTHER, WEAK, STALE, Some(MAC)),
    (STALE, MAC, ANSWER, REACHABLE, Some(MAC)),
    (PROBE, MAC, ANSWER, REACHABLE, Some(MAC)),
    (PROBE, OTHER, ANNOUNCED, STALE, Some(OTHER)),
    (STALE, OTHER, SURE, STALE, Some(MAC)),
    (DELAY, OTHER, WEAK, DELAY, Some(MAC)),
    (DELAY, MAC, SURE, REACHABLE, Some(MAC)),
    (FAILED, OTHER, OF_OTHERS, STALE, Some(OTHER)),
    (
        REACHABLE,
        MacAddress([1, 0, 0x5E, 0, 0, 1]),
        ANSWER,
        REACHABLE,
        Some(MAC),
    ),
    (FAILED, MAC, ANSWER, REACHABLE, Some(MAC)),
    (INCOMPLETE, MacAddress::BROADCAST, ANSWER, INCOMPLETE, None),
    (INCOMPLETE, MacAddress([0; 6]), ANSWER, INCOMPLETE, None),
];

#[test]
fn what_is_heard_changes_states_as_the_rfc_says() {
    for &(before, mac, how, after, known) in HEARD {
        let mut bench = Bench::new(NeighbourSettings::default());
        let ms = brought_to(&mut bench, before);
        bench.hear(1, mac, how, ms);
        let found = bench.0.iter().next().map(|(_, state, mac, _)| (state, mac));
        let expected = after.map(|after| (after, known));
        assert_eq!(found, expected, "{before:?} hears {mac} {how:?}");
    }
}

/// Brings neighbour 1, known as [`MAC`], into a state; when that is, milliseconds.
fn brought_to(bench: &mut Bench, state: Option<State>) -> u64 {
    let Some(state) = state else {
        return 0;
    };
    bench.0.want(key(1), at(0));
    if state == State::Failed {
        (0..40).for_each(|step| drop(bench.events(step * 100)));
        return 4000;
    }
    if state == State::Incomplete {
        return 0;
    }
    bench.hear(1, MAC, ANSWER, 0);
    let ms = match state {
        State::Reachable => 1,
        _ => 31_000,
    };
    bench.events(ms);
    if state == State::Delay {
        bench.lookup(1, ms);
    }
    if state == State::Probe {
        bench.lookup(1, ms);
        bench.events(ms + 5001);
        return ms + 5001;
    }
    ms
}

/// Each row: state before the link went down, what a packet finds behind it.
#[test]
fn what_was_heard_on_a_link_that_went_down_is_forgotten() {
    for (state, found) in [
        (None, None),
        (Some(State::Incomplete), Some(State::Incomplete)),
        (Some(State::Failed), None),
        (Some(State::Reachable), None),
        (Some(State::Stale), None),
        (Some(State::Delay), None),
        (Some(State::Probe), None),
    ] {
        let mut bench = Bench::new(NeighbourSettings::default());
        let now = brought_to(&mut bench, state);
        bench.0.forget(1);
        assert_eq!(bench.state(1), state, "another interface");
        bench.0.forget(0);
        assert_eq!(bench.state(1), found, "{state:?}");
        assert_eq!(bench.lookup(1, now), Lookup::Unknown, "{state:?}");
        // The next packet asks anew, and its answer holds.
        assert!(bench.0.want(key(1), at(now)));
        bench.hear(1, OTHER, ANSWER, now);
        assert_eq!(bench.lookup(1, now), Lookup::Known(OTHER), "{state:?}");
    }
}

#[test]
fn static_ranges_are_known_and_never_told_otherwise() {
    let range = |first: u8, last: u8, mac| StaticRange {
        interface: 0,
        first: key(first).address,
        last: key(last).address,
        mac,
    };
    let statics = vec![range(128, 192, MAC), range(5, 5, OTHER)];
    let mut bench = Bench(Neighbours::new(
        NeighbourSettings::default(),
        statics,
        [1, 1],
    ));
    bench.hear(130, OTHER, ANSWER, 0);
    bench.0.want(key(130), at(0));
    for (who, expected) in [
        (4, Lookup::Unknown),
        (5, Lookup::Known(OTHER)),
        (6, Lookup::Unknown),
        (127, Lookup::Unknown),
        (128, Lookup::Known(MAC)),
        (130, Lookup::Known(MAC)),
        (192, Lookup::Known(MAC)),
        (193, Lookup::Unknown),
    ] {
        assert_eq!(bench.lookup(who, 0), expected, "{who}");
    }
    assert!(bench.0.is_empty() && bench.events(0).is_empty());
    let elsewhere = Key {
        interface: 1,
        ..key(130)
    };
    assert_eq!(bench.0.lookup(&elsewhere, at(0)), Lookup::Unknown);
}

/// Each row: the state before, the flags of an advertisement without an Ethernet address, the
/// state after (RFC 4861 section 7.2.5).
#[test]
fn an_answer_without_an_ethernet_address_is_about_the_one_that_is_known() {
    for (before, how, after) in [
        (State::Incomplete, ANSWER, State::Incomplete),
        (State::Failed, ANSWER, State::Failed),
        (State::Reachable, WEAK, State::Reachable),
        (State::Stale, WEAK, State::Stale),
        (State::Stale, ANNOUNCED, State::Stale),
        (State::Stale, SURE, State::Reachable),
        (State::Probe, SURE, State::Reachable),
    ] {
        let mut bench = Bench::new(NeighbourSettings::default());
        let ms = brought_to(&mut bench, Some(before));
        let heard = Heard {
            key: key(1),
            mac: None,
            how,
        };
        bench.0.hear(&heard, at(ms));
        assert_eq!(bench.state(1), Some(after), "{before:?} hears {how:?}");
    }
}
