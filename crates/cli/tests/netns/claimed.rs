//! Two bridges on one interface would undo each other's filter: the second is refused by name.

use crate::bench::{Bench, Side, await_that};

#[test]
fn a_second_bridge_on_an_interface_is_refused_and_names_the_first() {
    let table = [
        ("packet:a", "packet:b", "packet:a", "packet:c"),
        ("packet:a", "packet:b", "packet:c", "packet:b"),
        (
            "packet:a",
            "packet:b",
            "packet:a-by-another-name",
            "packet:c",
        ),
        ("packet:a", "packet:b", "xdp:a", "xdp:c"),
        ("xdp:a", "xdp:b", "packet:a", "packet:c"),
        ("xdp:a", "xdp:b", "xdp:a", "xdp:c"),
        ("packet:b", "tap:t", "tap:t", "packet:c"),
    ];
    for (one, other, second, third) in table {
        let Some(bench) = Bench::new() else { return };
        bench.ip("link add c type veth peer name d");
        bench.ip("link property add dev a altname a-by-another-name");
        let first = bench.bridge(&format!("{one} {other}"));
        let number = format!("process {} has this interface", first.id());
        let second = format!("bridge {second} {third}");
        let said = bench.refusal(&second);
        assert!(
            said.contains(&number),
            "{second} behind {one} {other}: {said}"
        );
        first.stop();
    }
}

#[test]
fn what_filters_nothing_shares_the_interface_of_a_bridge() {
    let Some(bench) = Bench::new() else { return };
    let bridge = bench.bridge("packet:a packet:b");
    for words in [
        "sink packet:a --duration 100ms",
        "gen packet:a --rate 100pps --count 5 --no-trial",
    ] {
        let ran = bench.run(words);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{words}: {said}");
        assert!(!said.contains("has this interface"), "{words}: {said}");
    }
    bridge.stop();
}

#[test]
fn a_bridge_that_ended_however_it_did_is_in_nobodys_way() {
    let Some(bench) = Bench::new() else { return };
    for kill in [true, false] {
        let first = bench.bridge("packet:a packet:b");
        match kill {
            true => first.kill(),
            false => drop(first.stop()),
        }
        bench.bridge("packet:a packet:b").stop();
    }
}

/// One that is made anew is the bridge's, too, although it has another number.
#[test]
fn an_interface_that_was_made_anew_is_refused_as_well() {
    let Some(bench) = Bench::apart() else { return };
    for pair in ["x type veth peer name y", "c type veth peer name d"] {
        bench.ip(&format!("link add {pair}"));
    }
    let first = bench.bridge("packet:x packet:y");
    bench.ip("link del dev x");
    bench.ip("link add x type veth peer name y");
    await_that("the bridge takes it up", || bench.is_taken("packet:x"));
    let said = bench.refusal("bridge packet:x packet:c");
    assert!(said.contains(&format!("process {}", first.id())), "{said}");
    assert!(bench.succeeds(Side::Middle, "ip link show x"));
    first.stop();
}
