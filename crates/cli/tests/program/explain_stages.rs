//! `--explain` of switch and router against runs of the same frames.

use serde_json::Value;

use crate::Place;
use crate::capture::{arp, frames, pcap, udp};

/// Port, length and Ethernet addresses of a frame that leaves.
type Left = (String, usize, String);

fn shown(mac: &[u8]) -> String {
    let bytes: Vec<String> = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(":")
}

/// What a run wrote, but for questions and announcements of a router.
fn ran(place: &Place, ports: &[&str]) -> Vec<Left> {
    let of_port = |port: &&str| {
        let all = frames(&place.read(&format!("{port}.pcap"))).into_iter();
        let port = (*port).to_owned();
        all.filter(|frame| frame[12..14] != [8, 6] || frame[6..12] == [2, 0, 0, 0, 0, 9])
            .map(move |frame| {
                let addresses = format!("{} > {}", shown(&frame[6..12]), shown(&frame[..6]));
                (port.clone(), frame.len(), addresses)
            })
            .collect::<Vec<Left>>()
    };
    let mut left: Vec<Left> = ports.iter().flat_map(of_port).collect();
    left.sort();
    left
}

/// What was foretold of a frame.
fn foretold(frame: &Value) -> Vec<Left> {
    let leaves = frame["leaves"].as_array().expect("what leaves");
    let mut left: Vec<Left> = leaves
        .iter()
        .map(|one| {
            let headers = one["headers"].as_array().expect("headers");
            let addresses = headers[0]["text"].as_str().expect("a text");
            let addresses = addresses.split(',').next().unwrap_or_default();
            let bytes = one["bytes"].as_u64().expect("a length") as usize;
            let port = one["port"].as_str().expect("a port");
            (port.to_owned(), bytes, addresses.to_owned())
        })
        .collect();
    left.sort();
    left
}

/// Each frame alone: what leaves, and why not, is what a run says.
fn holds(command: &str, ports: &[&str], sent: &[Vec<u8>], options: &str) {
    let place = Place::new();
    for frame in sent {
        place.write("in.pcap", pcap(std::slice::from_ref(frame)));
        let mut between = format!("{0}=pcap:in=in.pcap,out={0}.pcap", ports[0]);
        for port in &ports[1..] {
            between += &format!(" {port}=pcap:out={port}.pcap");
        }
        let words = format!("{command} {between} {options} --json");
        let explained = format!("{words} --explain pcap:in.pcap:1");
        let explained = place.run(&explained).ended(0).json();
        let told = &explained["frames"][0];
        let report = place.run(&words).ended(0).json();
        assert_eq!(foretold(told), ran(&place, ports), "{told}\n{report}");
        match told["reason"].as_str() {
            Some(reason) => assert_eq!(report["frames"]["dropped"][reason], 1, "{told}\n{report}"),
            None => assert_eq!(told["verdict"], "forward"),
        }
    }
}

fn tagged(vlan: u8) -> Vec<u8> {
    let mut frame = udp("10.0.0.9", "10.0.1.2");
    frame.splice(12..12, [0x81, 0, 0, vlan]);
    frame
}

fn to(mac: [u8; 6], mut frame: Vec<u8>) -> Vec<u8> {
    frame[..6].copy_from_slice(&mac);
    frame
}

/// A datagram whose IPv4 header has the right sum (RFC 791).
fn packet(mac: [u8; 6], src: &str, dst: &str, ttl: u8) -> Vec<u8> {
    let mut frame = to(mac, udp(src, dst));
    frame[22] = ttl;
    frame[24..26].fill(0);
    let words = frame[14..34].chunks(2);
    let sum: u32 = words
        .map(|two| u32::from(two[0]) << 8 | u32::from(two[1]))
        .sum();
    let sum = !((sum & 0xFFFF) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame
}

#[test]
fn a_switch_does_what_was_foretold() {
    let plain = udp("10.0.0.9", "10.0.1.2");
    let known = to([2, 0, 0, 0, 0, 7], plain.clone());
    let reserved = to([1, 0x80, 0xc2, 0, 0, 0], plain.clone());
    let sent = [plain, known, reserved, tagged(10), tagged(20), tagged(30)];
    for options in [
        "",
        "--static 02:00:00:00:00:07=C",
        "--vlan 10=A,Bt --vlan 20=At,C --static 02:00:00:00:00:07@10=B",
        "--group A,B --group B,C",
        "--vlan 10=At,B,C --accept A=tagged --isolated A,C",
    ] {
        holds("switch", &["A", "B", "C"], &sent, options);
    }
}

#[test]
fn a_router_does_what_was_foretold() {
    let own = |dst, ttl| packet([2, 0, 0, 0, 0, 1], "10.0.0.9", dst, ttl);
    let sent = [
        own("10.0.1.2", 64),
        own("10.9.1.1", 64),
        own("10.9.2.1", 64),
        own("10.250.0.1", 64),
        own("10.0.1.2", 1),
        udp("10.0.0.9", "10.0.1.2"),
    ];
    let options = "--interface a=A,10.0.0.1/24 --interface b=B,10.0.1.1/24 \
                   --neighbour 10.0.1.2=02:00:00:00:00:09@b \
                   --neighbour 10.0.0.9=02:00:00:00:00:09@a";
    let place = Place::new();
    place.write(
        "routes.txt",
        "10.9.0.0/16 via 10.0.1.2\nblackhole 10.9.2.0/24\n",
    );
    let routes = place.path("routes.txt");
    let options = format!("{options} --routes {}", routes.display());
    holds("route", &["A", "B"], &sent, &options);
}

#[test]
fn the_route_and_the_question_for_its_next_hop_are_shown() {
    let place = Place::new();
    let frame = packet([2, 0, 0, 0, 0, 2], "10.0.1.7", "10.0.0.5", 64);
    place.write("a.pcap", pcap(&[frame, arp()]));
    let words = "route A=null: B=null: --interface a=A,10.0.0.1/24 --interface b=B,10.0.1.1/24 \
                 --explain pcap:a.pcap:1 --explain-at";
    let told = place.run(&format!("{words} B")).ended(0);
    for part in [
        "unicast 10.0.0.0/24 dev a",
        "hold: it waits",
        "leaves by A",
        "ARP who has 10.0.0.5? tell 10.0.0.1",
    ] {
        assert!(told.text().contains(part), "{part}\n{}", told.text());
    }
    let refused = place.run(&format!("{words} C")).ended(2);
    assert!(refused.complaints().contains("no port is called 'C'"));
}
