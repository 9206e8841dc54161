//! `tap:`: the host that the program runs on, through the bridge.

use crate::bench::{Bench, Side, await_that};

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

#[test]
fn a_name_that_is_taken_is_refused() {
    let Some(bench) = Bench::new() else { return };
    let said = bench.refusal("bridge tap:a packet:b");
    assert!(said.contains("choose another name"), "{said}");
}
