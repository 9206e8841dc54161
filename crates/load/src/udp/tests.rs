//! Kernel sockets at both ends over the loopback interface, and what the kernel's files say.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use traffic::Rate;

use super::counters::{cpu_ticks, interfaces, snmp, snmp6, socket_drops, softnet};
use super::limits::{Allowed, judge};
use super::*;

fn client(server: SocketAddr, sources: Vec<IpAddr>) -> UdpClientOptions {
    UdpClientOptions {
        server,
        sources,
        threads: 2,
        size: 510,
        rate: Rate::Frames(2000),
        key: [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03],
    }
}

fn sum(sent: &[UdpSent]) -> (u64, u64, u64) {
    let counts = sent.iter().map(|one| one.echoes);
    counts.fold((0, 0, 0), |(sent, back, foreign), one| {
        (sent + one.sent, back + one.back, foreign + one.foreign)
    })
}

#[test]
fn datagrams_are_accounted_for_by_both_ends() {
    let v4 = |last| IpAddr::V4(Ipv4Addr::new(127, 1, 0, last));
    let v6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
    for (address, sources, responds) in [
        (v4(1), vec![v4(2), v4(3), v4(4)], true),
        (v4(1), vec![v4(2)], false),
        (v6, vec![v6, v6], true),
    ] {
        let options = UdpServerOptions {
            address: SocketAddr::new(address, 0),
            threads: 2,
            responds,
        };
        let (serving, address) = match start_server(&options) {
            Ok(started) => started,
            Err(error) if address.is_ipv6() => {
                println!("skipped: no IPv6 here: {error}");
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let sending = start_client(&client(address, sources)).expect("it starts");
        std::thread::sleep(Duration::from_millis(300));
        let sent = sending.stop().expect("it ends");
        let taken = serving.stop().expect("it ends");
        let (made, back, foreign) = sum(&sent);
        let received: u64 = taken.iter().map(|one| one.received).sum();
        let answered: u64 = taken.iter().map(|one| one.answered).sum();
        let bytes: u64 = taken.iter().map(|one| one.bytes).sum();
        assert!(
            made > 0 && received > 0 && received <= made,
            "{received} of {made}"
        );
        assert_eq!((foreign, bytes), (0, 510 * received));
        assert_eq!(answered, if responds { received } else { 0 });
        assert!(back <= answered && (back > 0) == responds, "{back} back");
        let times: u64 = sent.iter().map(|one| one.times.count()).sum();
        assert_eq!(times, back);
    }
}

#[test]
fn a_port_that_nobody_has_is_refused() {
    let own = IpAddr::V4(Ipv4Addr::new(127, 1, 0, 5));
    let free = std::net::UdpSocket::bind((own, 0)).expect("a port");
    let nobody = free.local_addr().expect("an address");
    drop(free);
    let sending = start_client(&client(nobody, vec![own])).expect("it starts");
    let until = Instant::now() + Duration::from_millis(300);
    while Instant::now() < until && !sending.has_failed() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = sending.stop().expect("it ends");
    assert!(sent.iter().any(|one| one.refused > 0));
}

#[test]
fn addresses_that_cannot_be_had_are_refused_with_what_helps() {
    let other: SocketAddr = "192.0.2.77:9".parse().expect("an address");
    let taken = std::net::UdpSocket::bind("127.1.0.6:0").expect("a port");
    let taken = taken
        .local_addr()
        .map(|at| (taken, at))
        .expect("an address");
    for (address, said) in [(other, "ip route add local"), (taken.1, "another port")] {
        let options = UdpServerOptions {
            address,
            threads: 1,
            responds: true,
        };
        let error = start_server(&options).expect_err("it cannot").to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn files_of_the_kernel() {
    let v4 =
        "Ip: A B\nIp: 1 2\nUdp: InDatagrams NoPorts RcvbufErrors\nUdp: 7 8 9\nUdpLite: NoPorts\n";
    for (name, expected) in [("NoPorts", 8), ("RcvbufErrors", 9), ("Absent", 0)] {
        assert_eq!(snmp(v4, name), expected, "{name}");
    }
    assert_eq!(snmp("", "NoPorts"), 0);
    let v6 = "Udp6InDatagrams                 \t5\nUdp6RcvbufErrors                \t6\n";
    assert_eq!((snmp6(v6, "RcvbufErrors"), snmp6(v6, "NoPorts")), (6, 0));
    let cpus = "00000010 0000000a 00000001 0\n00000001 00000001 00000002 0\n";
    assert_eq!(softnet(cpus), (11, 3));
    let dev = "Inter-|   Receive\n face |bytes packets\n    lo: 1 10 0 0 0 0 0 0 1 20 0 0 0 0 0 0\n\
               veth0: 1 5 0 0 0 0 0 0 1 6 0 0 0 0 0 0\n";
    assert_eq!(interfaces(dev), (15, 26));
    let stat = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt 99\n";
    assert_eq!(cpu_ticks(stat), (36, 7));
    let udp = "  sl  local_address rem_address   st drops\n\
               1: 00000000:0009 00000000:0000 07 0 12\n2: 00000000:0009 00000000:0000 07 0 3\n\
               3: 00000000:0019 00000000:0000 07 0 100\n";
    assert_eq!(
        socket_drops(udp, "0.0.0.0:9".parse().expect("an address")),
        15
    );
}

#[test]
fn limits_that_are_too_low_are_named_with_what_helps() {
    let enough = Allowed {
        files: 1000,
        receive_buffer: Some(1 << 30),
        backlog: Some(10_000),
        conntrack: None,
    };
    let few = Allowed { files: 1, ..enough };
    let small = Allowed {
        receive_buffer: Some(212_992),
        ..enough
    };
    let short = Allowed {
        backlog: Some(1000),
        ..enough
    };
    let tracked = Allowed {
        conntrack: Some(65_536),
        ..enough
    };
    for (allowed, said) in [
        (enough, None),
        (few, Some("ulimit -n")),
        (small, Some("net.core.rmem_max=4194304")),
        (short, Some("netdev_max_backlog=4096")),
        (tracked, Some("notrack")),
    ] {
        let found = judge(&LimitsAsked { sockets: 10 }, &allowed);
        assert_eq!(found.len(), usize::from(said.is_some()), "{found:?}");
        if let Some(said) = said {
            assert!(found[0].contains(said), "{}", found[0]);
        }
    }
}
