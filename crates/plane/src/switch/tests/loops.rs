//! Two ports that are joined by a cable: what leaves by one comes in by the other.

use std::time::Duration;

use super::bench::{A, B, BROADCAST, Bench, C, MS, config, frame, station};
use crate::DropReason;
use crate::switch::VlanMode;

/// Three seconds: another move may be counted in the first.
const MOST: usize = 3_000;
const QUIET: Duration = Duration::from_secs(60);

/// Rounds of the cable until nothing goes round any more: a frame to all comes in by A, and what
/// leaves by B comes in by C and the other way round, a millisecond later. So many rounds at most.
fn rounds(bench: &mut Bench, most: usize) -> usize {
    let bytes = frame(BROADCAST, station(1), &[]);
    let mut comes = vec![(A, bytes)];
    for round in 0..most {
        let mut next = Vec::new();
        for (from, bytes) in &comes {
            let sent = bench.one(*from, bytes).unwrap_or_default();
            let others = sent.into_iter().filter(|(to, _)| *to != A);
            next.extend(others.map(|(to, bytes)| (if to == B { C } else { B }, bytes)));
        }
        bench.now.0 += MS;
        if next.is_empty() {
            return round;
        }
        comes = next;
    }
    most
}

#[test]
fn a_loop_ends_where_a_port_may_be_left_out() {
    for quiet in [None, Some(QUIET)] {
        let mut settings = config(VlanMode::Default, 3);
        settings.loop_quiet = quiet;
        let mut bench = Bench::new(settings);
        let goes_on = rounds(&mut bench, MOST) == MOST;
        assert_eq!(goes_on, quiet.is_none(), "{quiet:?}");
        assert_eq!(bench.switch.counts().quietened, u64::from(quiet.is_some()));
    }
}

#[test]
fn a_port_is_left_out_in_both_directions_and_for_its_time() {
    let mut settings = config(VlanMode::Default, 3);
    settings.loop_quiet = Some(QUIET);
    let mut bench = Bench::new(settings);
    assert!(rounds(&mut bench, MOST) < MOST);
    let hello = |number| frame(BROADCAST, station(number), &[]);
    assert_eq!(bench.one(C, &hello(3)), Err(DropReason::LoopQuiet));
    let left = |bench: &mut Bench| {
        let sent = bench.one(A, &hello(4)).expect("it may pass");
        sent.into_iter().map(|(to, _)| to).collect::<Vec<_>>()
    };
    assert_eq!(left(&mut bench), [B], "none leaves by C");
    bench.now.0 += u64::try_from(QUIET.as_nanos()).expect("a minute");
    assert_eq!(left(&mut bench), [B, C], "its time is over");
    assert!(bench.one(C, &hello(3)).is_ok());
    assert!(rounds(&mut bench, MOST) < MOST, "the loop is noticed again");
    assert_eq!(bench.switch.counts().quietened, 2);
}
