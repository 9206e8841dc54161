//! The kernel's own stack across the bridge, on each driver and mode.

use crate::bench::{Bench, LEFT_ADDRESS_6, RIGHT_ADDRESS, RIGHT_ADDRESS_6, Side, await_that};
use crate::drivers::{Driver, PACKET, XDP, on_each_driver};
use crate::traffic::{Ends, ping_between, tcp_both_ways, udp_mirrored};

on_each_driver!(
    neighbours_are_found_and_answer,
    streams_cross_whole,
    datagrams_cross_whole,
    groups_are_reached,
    frames_of_the_mtu_pass_and_no_longer_ones,
);

/// Lengths of datagrams over IPv4 whose frames are 60 to 1,514 bytes, the edges of the default MTU
/// among them; the last goes as two fragments. Over IPv6 the edges are 20 bytes lower.
const LENGTHS: [usize; 9] = [0, 1, 18, 19, 1_451, 1_452, 1_453, 1_472, 1_473];
/// Of two, three and 45 fragments.
const FRAGMENTED: [usize; 3] = [1_480, 4_000, 65_000];

/// By ARP and by neighbour discovery, both of which begin with a group.
fn neighbours_are_found_and_answer(driver: Driver) {
    let Some(bench) = Bench::dual() else { return };
    let bridge = driver.bridge(&bench, "");
    for (family, address) in [("-4", RIGHT_ADDRESS), ("-6", RIGHT_ADDRESS_6)] {
        ping_between(&bench, Ends::across(address));
        let words = format!("ip {family} neigh show {address} dev l");
        let neighbour = bench.expect(Side::Left, &words);
        assert!(neighbour.contains("lladdr"), "{neighbour}");
        // Once more by the bridge as it runs now, and the other way round.
        bench.expect(Side::Left, &format!("ip {family} neigh flush dev l"));
        bench.expect(Side::Right, &format!("ip {family} neigh flush dev r"));
        ping_between(&bench, Ends::across(address));
    }
    let back = Ends {
        from: Side::Right,
        to: Side::Left,
        address: LEFT_ADDRESS_6,
    };
    ping_between(&bench, back);
    bridge.stop();
}

fn streams_cross_whole(driver: Driver) {
    let Some(bench) = Bench::dual() else { return };
    let bridge = driver.bridge(&bench, "");
    for address in [RIGHT_ADDRESS, RIGHT_ADDRESS_6] {
        tcp_both_ways(&bench, Ends::across(address), 4 << 20);
    }
    let report = bridge.stop();
    let frames = report["frames"]["rx"].as_u64().expect("a count");
    assert!(frames > 4 * (4 << 20) / 1_460, "{report}");
}

fn datagrams_cross_whole(driver: Driver) {
    let Some(bench) = Bench::dual() else { return };
    let bridge = driver.bridge(&bench, "");
    for address in [RIGHT_ADDRESS, RIGHT_ADDRESS_6] {
        udp_mirrored(&bench, Ends::across(address), &LENGTHS);
        udp_mirrored(&bench, Ends::across(address), &FRAGMENTED);
    }
    bridge.stop();
}

/// Broadcast over IPv4 and all nodes over IPv6, answered by the other host.
fn groups_are_reached(driver: Driver) {
    let Some(bench) = Bench::dual() else { return };
    let answer = "sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0";
    bench.expect(Side::Right, answer);
    let bridge = driver.bridge(&bench, "");
    let everybody = "ping -b -c 3 -i 0.1 -w 20 10.201.0.255";
    let said = bench.expect(Side::Left, everybody);
    assert!(said.contains("from 10.201.0.2"), "{said}");
    // The host itself would answer too.
    let keep_still = "sysctl -qw net.ipv6.icmp.echo_ignore_multicast=1";
    bench.expect(Side::Left, keep_still);
    await_that(
        "the other node answers, once it has a link-local address",
        || bench.succeeds(Side::Left, "ping -6 -c 3 -i 0.1 -w 1 ff02::1%l"),
    );
    bridge.stop();
}

fn frames_of_the_mtu_pass_and_no_longer_ones(driver: Driver) {
    let Some(bench) = Bench::dual() else { return };
    let bridge = driver.bridge(&bench, "");
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    for (address, longest) in [(RIGHT_ADDRESS, 1_472), (RIGHT_ADDRESS_6, 1_452)] {
        let ping = |bytes: u32| format!("ping -M do -c 3 -i 0.05 -w 20 -s {bytes} {address}");
        for bytes in [longest - 1, longest] {
            bench.expect(Side::Left, &ping(bytes));
        }
        // The sender's own stack refuses it, whatever is beyond.
        let refused = bench.on(Side::Left, &ping(longest + 1).replace("-w 20", "-w 1"));
        assert!(!refused.status.success(), "{refused:?}");
    }
    let report = bridge.stop();
    assert_eq!(
        report["frames"]["dropped"],
        serde_json::json!({}),
        "{report}"
    );
}

/// A sender whose MTU is greater than the bridge's interface carries: nothing is cut, nothing is
/// sent on, and everything shorter goes on passing.
#[test]
fn frames_longer_than_the_mtu_do_not_disturb_others() {
    for driver in [XDP, PACKET] {
        let Some(bench) = Bench::new() else { return };
        bench.expect(Side::Left, "ip link set dev l mtu 1600");
        let bridge = driver.bridge(&bench, "");
        ping_between(&bench, Ends::across(RIGHT_ADDRESS));
        // What is no longer than a frame of the MTU with a tag may pass, as on any wire.
        for bytes in 1_477..1_490 {
            let ping = format!("ping -M do -c 1 -W 0.05 -s {bytes} {RIGHT_ADDRESS}");
            assert!(!bench.succeeds(Side::Left, &ping), "{driver}: {bytes}");
        }
        ping_between(&bench, Ends::across(RIGHT_ADDRESS));
        udp_mirrored(&bench, Ends::across(RIGHT_ADDRESS), &LENGTHS[..8]);
        bridge.stop();
    }
}
