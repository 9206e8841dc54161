//! A router over captures: what leaves by which port, and what cannot be.

use std::net::Ipv4Addr;

use wire::MacAddress;
use wire::emit::{Ipv4, Network, Recipe, Transport};

use crate::Place;
use crate::capture::{frames, pcap};

const NEIGHBOUR: &str = "02:00:00:00:00:09";

/// A router between `in.pcap` and two captures that it writes, with further words.
fn route(place: &Place, words: &str) -> crate::Ran {
    place.run(&format!(
        "route A=pcap:in=in.pcap,out=a.pcap B=pcap:out=b.pcap \
         --interface a=A,10.0.0.1/24 --interface b=B,10.0.1.1/24 \
         --neighbour 10.0.1.2={NEIGHBOUR}@b --neighbour 10.0.0.9={NEIGHBOUR}@a {words} --json"
    ))
}

/// A datagram to the router's first port, as it has its Ethernet address by itself.
fn udp(src: &str, dst: &str) -> Vec<u8> {
    let address = |text: &str| text.parse::<Ipv4Addr>().expect("an address").to_bits();
    let header = Ipv4 {
        src: address(src),
        dst: address(dst),
        ..Ipv4::default()
    };
    let datagram = Transport::Udp {
        src_port: 4096,
        dst_port: 9,
    };
    let recipe = Recipe {
        dst_mac: MacAddress([2, 0, 0, 0, 0, 1]),
        src_mac: MacAddress([2, 0, 0, 0, 0, 9]),
        network: Network::Ipv4(header, datagram),
        payload: &[7; 18],
        ..Recipe::default()
    };
    let mut frame = vec![0; recipe.frame_len()];
    recipe.emit(&mut frame).expect("room for it");
    frame
}

/// The frames of a capture, but for announcements of the router's own addresses.
fn packets(place: &Place, name: &str) -> Vec<Vec<u8>> {
    let all = frames(&place.read(name)).into_iter();
    all.filter(|frame| frame[12..14] != [8, 6]).collect()
}

#[test]
fn packets_leave_by_their_routes_with_a_lower_ttl() {
    let place = Place::new();
    let sent = ["10.0.1.2", "10.9.1.1", "10.9.2.1", "10.250.0.1"];
    let sent = sent.map(|dst| udp("10.0.0.9", dst));
    place.write("in.pcap", pcap(&sent));
    place.write(
        "routes.txt",
        "# as ip route prints them\n10.9.0.0/16 via 10.0.1.2 proto bird metric 32\n\
         blackhole 10.9.2.0/24\n",
    );
    let report = route(&place, "--routes routes.txt").ended(0).json();
    let left = packets(&place, "b.pcap");
    assert_eq!(left.len(), 2, "{report}");
    for (sent, left) in sent.iter().zip(&left) {
        assert_eq!(left[..6], [2, 0, 0, 0, 0, 9], "to the neighbour");
        assert_eq!(left[6..12], [2, 0, 0, 0, 0, 2], "from port B");
        assert_eq!(left[22], sent[22] - 1, "TTL");
        assert_eq!(left[26..sent.len()], sent[26..], "all else is as it was");
    }
    let told = packets(&place, "a.pcap");
    assert_eq!(told.len(), 1, "no route is reported, a blackhole is not");
    assert_eq!((told[0][34], told[0][35]), (3, 0), "net unreachable");
    let dropped = &report["frames"]["dropped"];
    assert!(dropped.to_string().contains("blackhole"), "{dropped}");
    assert_eq!(report["router"]["forwarded_v4"], 2, "{report}");
    assert_eq!(report["router"]["icmp_errors"], 1, "{report}");
}

#[test]
fn vlans_of_one_port_are_routed_between() {
    let place = Place::new();
    let mut sent = udp("10.100.0.9", "10.100.1.130");
    sent.splice(12..12, [0x81, 0, 0, 10]);
    place.write("in.pcap", pcap(&[sent.clone()]));
    let words = format!(
        "route T=pcap:in=in.pcap,out=out.pcap --interface v10=T.10,10.100.0.1/24 \
         --interface v11=T.11,10.100.1.1/24 \
         --neighbour 10.100.1.128-10.100.1.192={NEIGHBOUR}@v11"
    );
    place.run(&words).ended(0);
    let left = frames(&place.read("out.pcap"));
    let left: Vec<_> = left
        .iter()
        .filter(|frame| frame[16..18] == [8, 0])
        .collect();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0][12..16], [0x81, 0, 0, 11], "the other VLAN");
    assert_eq!(left[0][..6], [2, 0, 0, 0, 0, 9]);
}

/// Each row: further words, and what the refusal says.
#[test]
fn what_a_router_cannot_have_is_refused() {
    let place = Place::new();
    place.write("in.pcap", pcap(&[udp("10.0.0.9", "10.0.1.2")]));
    place.write(
        "bad.txt",
        "10.9.0.0/16 via 10.0.1.2\n10.8.0.0/16 10.0.1.2\n",
    );
    for (words, said) in [
        (
            "--interface c=C,10.0.2.1/24",
            "--interface: no port is called 'C'",
        ),
        ("--interface c=A,10.0.2.1/24", "a and c"),
        ("--interface c=A.0,10.0.2.1/24", "VLAN"),
        ("--interface c=A.5,10.0.2.1", "no address with a length"),
        ("--interface c=A.5,10.0.2.1/24,mtu=60", "MTU"),
        (
            "--interface c=A.5,10.0.2.1/24,mtu=1400,mtu=1500",
            "mtu= is there twice",
        ),
        (
            "--interface c=A.5,mac=02:00:00:00:00:05,mac=02:00:00:00:00:05",
            "mac= is there twice",
        ),
        ("--interface c=A.5,10.0.0.1/24", "10.0.0.1"),
        ("--routes bad.txt", "bad.txt:2: \"10.0.1.2\" is not known"),
        ("--routes none.txt", "none.txt"),
        ("--neighbour 10.0.1.3=02:00@b", "MAC address"),
        (
            "--neighbour 10.0.1.3=02:00:00:00:00:01@c",
            "no interface is called 'c'",
        ),
        ("--neighbour 10.7.1.3=02:00:00:00:00:01@b", "10.7.1.3"),
        ("--reverse-path maybe", "maybe"),
        ("--stateful allow-new=A", "between two ports alone"),
    ] {
        let ran = route(&place, words).ended(2);
        let complaints = ran.complaints();
        assert!(complaints.contains(said), "{words}: {complaints}");
    }
    for (routes, said) in [
        ("10.9.0.0/16 via 10.7.0.1", "10.7.0.1"),
        ("10.9.0.0/16 via 10.0.1.1", "10.0.1.1"),
        ("10.9.0.0/16 via fd00::1", "IPv6 gateway of an IPv4 route"),
        ("10.9.0.1/16 via 10.0.1.2", "probably 10.9.0.0/16"),
        ("10.9.0.0/16 dev c", "no interface is called 'c'"),
        ("default via 10.0.1.2\n10.9.0.0/16 dev c", "one.txt:2: 10.9"),
        // A link-local gateway may be behind any interface.
        ("fd09::/16 via fe80::9 dev c", "no interface is called 'c'"),
        (
            "throw 10.9.0.0/16",
            "one.txt:1: 10.9.0.0/16: a route of the kind throw",
        ),
    ] {
        place.write("one.txt", routes);
        let ran = route(&place, "--routes one.txt").ended(2);
        let complaints = ran.complaints();
        assert!(complaints.contains(said), "{routes}: {complaints}");
    }
}

/// Each row: a file of routes, and what is said of it although it is taken.
#[test]
fn what_of_routes_is_left_out_is_said() {
    let place = Place::new();
    place.write("in.pcap", pcap(&[udp("10.0.0.9", "10.0.1.2")]));
    let twice = "10.9.0.0/16 via 10.0.1.2\n".repeat(30);
    for (routes, said) in [
        ("", "one.txt holds no routes"),
        ("# none\r\n\r\n", "one.txt holds no routes"),
        (&twice, "one.txt:2: the route to 10.9.0.0/16 is left out"),
        (&twice, "one.txt: 9 more such routes are left out"),
    ] {
        place.write("one.txt", routes);
        let ran = route(&place, "--routes one.txt").ended(0);
        let complaints = ran.complaints();
        assert!(complaints.contains(said), "{routes}: {complaints}");
    }
}

#[test]
fn a_dry_run_names_interfaces_routes_and_neighbours() {
    let place = Place::new();
    place.write("in.pcap", pcap(&[udp("10.0.0.9", "10.0.1.2")]));
    let many: Vec<String> = (0..12)
        .map(|at| format!("10.{}.0.0/16 via 10.0.1.2\n", 20 + at))
        .collect();
    place.write("many.txt", many.concat());
    let words = "--interface q=B.10.20,fd01::1/64 --routes many.txt --dry-run";
    let json = route(&place, words).ended(0).json();
    let set = &json["route"];
    assert_eq!(set["interfaces"][2]["port"], "B");
    assert_eq!(set["interfaces"][2]["vlans"], serde_json::json!([10, 20]));
    assert_eq!(set["routes"][11], "10.31.0.0/16 via 10.0.1.2 dev b");
    assert_eq!(set["neighbours"][0]["mac"], NEIGHBOUR);
    let text = format!(
        "route A=pcap:in=in.pcap B=null: --interface a=A,10.0.0.1/24 \
         --interface b=B.7,10.0.1.1/24 --neighbour 10.0.1.2-10.0.1.9={NEIGHBOUR}@b \
         --routes many.txt --dry-run"
    );
    let ran = place.run(&text).ended(0);
    let text = ran.text();
    for said in [
        "b on port B VLAN 7: 10.0.1.1/24",
        "10.20.0.0/16 via 10.0.1.2 dev b",
        "and 2 more",
        "10.0.1.2-10.0.1.9 is 02:00:00:00:00:09 behind b",
        "port A and port B",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// Two VRFs behind VLANs of one port have the same addresses, and each its own routes.
#[test]
fn vrfs_have_routes_of_their_own() {
    let place = Place::new();
    let tagged = |vlan: u8, dst| {
        let frame = udp("10.0.0.9", dst);
        [&frame[..12], &[0x81, 0, 0, vlan], &frame[12..]].concat()
    };
    let sent = [
        tagged(10, "10.9.1.1"),
        tagged(11, "10.9.1.1"),
        tagged(11, "10.8.1.1"),
        tagged(10, "10.8.1.1"),
    ];
    place.write("in.pcap", pcap(&sent));
    place.write(
        "routes.txt",
        "10.9.0.0/16 via 10.0.1.2\n10.8.0.0/16 via 10.0.1.3 table red\n",
    );
    let words = format!(
        "route A=pcap:in=in.pcap,out=a.pcap B=pcap:out=b.pcap --vrf red=A.11,B.11 \
         --interface a10=A.10,10.0.0.1/24 --interface b10=B.10,10.0.1.1/24 \
         --interface a11=A.11,10.0.0.1/24 --interface b11=B.11,10.0.1.1/24 --routes routes.txt \
         --neighbour 10.0.1.2={NEIGHBOUR}@b10 --neighbour 10.0.1.3=02:00:00:00:00:0a@b11 \
         --neighbour 10.0.0.9={NEIGHBOUR}@a10 --neighbour 10.0.0.9={NEIGHBOUR}@a11"
    );
    let dry = place
        .run(&format!("{words} --dry-run --json"))
        .ended(0)
        .json();
    let route = &dry["route"];
    assert_eq!(route["interfaces"][2]["vrf"], "red", "{route}");
    assert!(route["interfaces"][0]["vrf"].is_null(), "{route}");
    assert_eq!(
        route["routes"][0],
        "10.8.0.0/16 via 10.0.1.3 dev b11 table red"
    );
    assert_eq!(route["routes"][1], "10.9.0.0/16 via 10.0.1.2 dev b10");
    let report = place.run(&format!("{words} --json")).ended(0).json();
    let of_packets = |name: &str| {
        let all = frames(&place.read(name)).into_iter();
        all.filter(|frame| frame[16..18] != [8, 6])
            .collect::<Vec<_>>()
    };
    let left = of_packets("b.pcap");
    let left: Vec<_> = left
        .iter()
        .map(|frame| (frame[5], frame[15], frame[35]))
        .collect();
    // By VLAN 10 to 10.9, by VLAN 11 to 10.8.
    assert_eq!(left, [(0x09, 10, 9), (0x0a, 11, 8)], "{report}");
    let told = of_packets("a.pcap");
    let told: Vec<_> = told
        .iter()
        .map(|frame| (frame[15], frame[38], frame[39]))
        .collect();
    assert_eq!(
        told,
        [(11, 3, 0), (10, 3, 0)],
        "each in its VLAN: network unreachable"
    );
}

#[test]
fn what_is_for_the_router_goes_to_a_tap_port_alone() {
    let place = Place::new();
    let run = |words: &str| {
        place.run(&format!(
            "route A=null: P=tap:lin0 --interface a=A,10.0.0.1/24 \
             --interface host=P,169.254.0.1/30 {words} --dry-run --json"
        ))
    };
    assert_eq!(run("--punt P").ended(0).json()["route"]["punt"], "host");
    assert!(run("").ended(0).json()["route"]["punt"].is_null());
    for (words, said) in [
        ("--punt A", "'A' is null:, and what is for the router"),
        ("--punt X", "needs a tap: port among them"),
    ] {
        let refused = run(words).ended(2);
        let complaints = refused.complaints();
        assert!(complaints.contains(said), "{complaints}");
    }
}
