//! `tap:`: the host that the program runs on, through the bridge.

use crate::bench::{Bench, RIGHT_ADDRESS, RIGHT_ADDRESS_6, Side, await_that};
use crate::traffic::{Ends, ping_between, tcp_both_ways, udp_mirrored};

const ADDRESS: &str = "ip addr add 10.201.0.3/24 dev host0";
const PING: &str = "ping -c 5 -i 0.05 -W 5 10.201.0.2";

/// The host on one end reaches beyond the bridge, whatever the other end is.
fn host_reaches_beyond(port: &str) {
    let Some(bench) = Bench::new() else { return };
    let bridge = bench.bridge(&format!("tap:host0 {port} --workers 2"));
    bench.expect(Side::Middle, ADDRESS);
    await_that("the host is answered", || {
        bench.succeeds(Side::Middle, PING)
    });
    for (from, to, address) in [
        (Side::Middle, Side::Right, "10.201.0.2"),
        (Side::Right, Side::Middle, "10.201.0.3"),
    ] {
        let receiver = bench.role(to, "tcp-receive 5001 500000");
        let sent = bench.role_says(from, &format!("tcp-send {address} 5001 500000"));
        let (code, received, said) = receiver.ended();
        assert_eq!((code, &received), (0, &sent), "{said}");
    }
    // Deleted under the bridge, it is made again.
    bench.ip("link del dev host0");
    await_that("host0 comes back", || bench.succeeds(Side::Middle, ADDRESS));
    await_that("the host is answered again", || {
        bench.succeeds(Side::Middle, PING)
    });
    let (report, said) = bridge.stop_and_say();
    assert_eq!(report["ports"][0]["mode"], "tap, 2 queues by flow");
    assert!(said.contains("host0: the interface"), "{said}");
    await_that("the tap goes", || bench.promiscuity("host0").is_none());
}

#[test]
fn the_host_reaches_beyond_packet() {
    host_reaches_beyond("packet:b");
}

#[test]
fn the_host_reaches_beyond_xdp() {
    host_reaches_beyond("xdp:b");
}

/// Both families, streams both ways and datagrams of all edges.
#[test]
fn the_hosts_own_stack_is_at_the_other_end() {
    for port in ["packet:b", "xdp:b"] {
        let Some(bench) = Bench::dual() else { return };
        let bridge = bench.bridge(&format!("tap:host0 {port}"));
        let on = "sysctl -qw net.ipv6.conf.host0.disable_ipv6=0";
        bench.expect(Side::Middle, on);
        bench.ip("addr add 10.201.0.3/24 dev host0");
        bench.ip("addr add fd00:201::3/64 dev host0 nodad");
        for address in [RIGHT_ADDRESS, RIGHT_ADDRESS_6] {
            let ends = Ends {
                from: Side::Middle,
                to: Side::Right,
                address,
            };
            ping_between(&bench, ends);
            tcp_both_ways(&bench, ends, 1 << 20);
            let lengths = [0, 1, 18, 19, 1_452, 1_453, 1_472, 1_473, 65_000];
            udp_mirrored(&bench, ends, &lengths);
        }
        bridge.stop();
    }
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let Some(bench) = Bench::new() else { return };
    let said = bench.refusal("bridge tap:a packet:b");
    assert!(said.contains("choose another name"), "{said}");
}
