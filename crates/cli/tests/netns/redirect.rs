//! Frames that leave by redirection, and what happens where that ceases to be possible.

use crate::bench::{Bench, Side, await_that};
use crate::bypass::with_gro_at_the_ends;
use crate::drivers::REDIRECT;
use crate::traffic::{ping, tcp_echo, udp_echo};

/// What the report says of a port that sends so.
const SAID: &str = "sends by redirection";

/// Datagrams whose frames are 60 to 1,514 bytes.
const LENGTHS: [usize; 8] = [0, 1, 18, 19, 100, 1_471, 1_472, 1_473];

#[test]
fn frames_of_every_length_leave_so() {
    let Some(bench) = Bench::new() else { return };
    let running = REDIRECT.bridge(&bench, "");
    ping(&bench);
    udp_echo(&bench, &LENGTHS);
    tcp_echo(&bench, 4 << 20);
    let report = running.stop();
    for port in 0..2 {
        let said = report["ports"][port]["mode"].as_str().expect("a mode");
        assert!(said.contains(SAID), "{report}");
    }
    assert_eq!(report["balanced"], true, "{report}");
}

#[test]
fn auto_goes_this_way_where_the_far_end_lets_it() {
    let Some(bench) = Bench::new() else { return };
    for (gro, goes) in [("off", false), ("on", true)] {
        bench.expect(Side::Left, &format!("ethtool -K l gro {gro}"));
        bench.expect(Side::Right, &format!("ethtool -K r gro {gro}"));
        let running = bench.bridge("xdp:a,transmit=auto xdp:b,transmit=auto");
        ping(&bench);
        tcp_echo(&bench, 1 << 20);
        let report = running.stop();
        let said = report["ports"][1]["mode"].as_str().expect("a mode");
        assert_eq!(said.contains(SAID), goes, "{report}");
        assert_eq!(report["balanced"], true, "{report}");
    }
}

#[test]
fn traffic_goes_on_when_the_far_end_changes() {
    let Some(bench) = Bench::new() else { return };
    let _running = REDIRECT.bridge(&bench, "");
    for gro in ["off", "on"] {
        bench.expect(Side::Right, &format!("ethtool -K r gro {gro}"));
        await_that("a packet crosses", || {
            let crossed = bench.on(Side::Left, "ping -c 1 -W 1 10.201.0.2");
            crossed.status.success()
        });
        tcp_echo(&bench, 1 << 20);
    }
}

#[test]
fn sockets_are_the_usual_way() {
    let Some(bench) = Bench::new() else { return };
    with_gro_at_the_ends(&bench);
    let running = bench.bridge("xdp:a xdp:b");
    tcp_echo(&bench, 1 << 20);
    let report = running.stop();
    let said = report["ports"][1]["mode"].as_str().expect("a mode");
    assert!(!said.contains(SAID), "{report}");
}

#[test]
fn an_interface_that_goes_down_and_away_is_survived() {
    let Some(bench) = Bench::new() else { return };
    let running = REDIRECT.bridge(&bench, "");
    ping(&bench);
    bench.ip("link set dev b down");
    let _nobody_answers = bench.on(Side::Left, "ping -c 5 -i 0.1 -W 1 10.201.0.2");
    bench.ip("link set dev b up");
    ping(&bench);
    bench.ip("link del dev b");
    let _nobody_answers = bench.on(Side::Left, "ping -c 5 -i 0.1 -W 1 10.201.0.2");
    bench.try_join_one(Side::Right, 1).expect("a veth pair");
    bench.expect(Side::Right, "ethtool -K r gro on");
    // The new one has another Ethernet address.
    bench.expect(Side::Left, "ip neigh flush dev l");
    await_that("it is back", || {
        bench
            .on(Side::Left, "ping -c 1 -W 1 10.201.0.2")
            .status
            .success()
    });
    tcp_echo(&bench, 1 << 20);
    drop(running);
}

#[test]
fn frames_too_long_for_it_go_by_sockets_or_are_refused() {
    let Some(bench) = Bench::new() else { return };
    with_gro_at_the_ends(&bench);
    for (side, end) in [
        (Side::Left, "l"),
        (Side::Middle, "a"),
        (Side::Middle, "b"),
        (Side::Right, "r"),
    ] {
        bench.expect(side, &format!("ip link set dev {end} mtu 3800"));
    }
    let running = bench.bridge("xdp:a,transmit=auto xdp:b,transmit=auto");
    udp_echo(&bench, &[3_700]);
    let report = running.stop();
    let said = report["ports"][1]["mode"].as_str().expect("a mode");
    assert!(!said.contains(SAID), "{report}");
    let output = bench.run("bridge xdp:a,transmit=redirect null:");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("mtu 3178"), "{said}");
}
