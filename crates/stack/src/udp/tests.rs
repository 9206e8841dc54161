//! UDP by sections of RFC 768, RFC 1122, RFC 8085 and RFC 8200.

use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

use super::*;

const LINK: usize = 14;
const SECOND: u64 = 1_000_000_000;

fn end(text: &str) -> SocketAddr {
    text.parse().expect("an end")
}

/// A packet with a datagram, as wire makes it.
fn packet(from: SocketAddr, to: SocketAddr, payload: &[u8]) -> Vec<u8> {
    let transport = Transport::Udp {
        src_port: from.port(),
        dst_port: to.port(),
    };
    let network = match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let header = Ipv4 {
                src: from.to_bits(),
                dst: to.to_bits(),
                ..Ipv4::default()
            };
            Network::Ipv4(header, transport)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let header = Ipv6 {
                src: from.to_bits(),
                dst: to.to_bits(),
                ..Ipv6::default()
            };
            Network::Ipv6(header, transport)
        }
        _ => panic!("two families"),
    };
    let recipe = Recipe {
        network,
        payload,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("room");
    bytes.split_off(LINK)
}

fn header_len(packet: &[u8]) -> usize {
    if packet[0] >> 4 == 4 { 20 } else { 40 }
}

/// A host with a server at port 9 and a client of 192.0.2.1:7 at ports 40000 to 40009.
fn host() -> Udp {
    let mut udp = Udp::new([0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03]);
    let listening = Socket {
        ports: 9..=9,
        remote: None,
    };
    let connected = Socket {
        ports: 40_000..=40_009,
        remote: Some(end("192.0.2.1:7")),
    };
    assert_eq!(udp.bind(listening), Ok(SocketId(0)));
    assert_eq!(udp.bind(connected), Ok(SocketId(1)));
    udp
}

fn arrive<'a>(udp: &mut Udp, from: &str, to: &str, packet: &'a [u8], now: u64) -> Arrival<'a> {
    let ends = (end(from).ip(), end(to).ip());
    udp.receive(ends, packet, header_len(packet), Nanos(now))
}

/// RFC 1122 section 4.1.3.1 (ports), RFC 768 (source port 0).
#[test]
fn a_datagram_is_for_the_socket_of_its_port_and_sender() {
    for (from, to, socket) in [
        ("192.0.2.1:1000", "192.0.2.2:9", Some(0)),
        ("192.0.2.1:0", "192.0.2.2:9", Some(0)),
        ("[fd00::1]:1000", "[fd00::2]:9", Some(0)),
        ("192.0.2.1:7", "192.0.2.2:40000", Some(1)),
        ("192.0.2.1:7", "192.0.2.2:40009", Some(1)),
        ("192.0.2.1:7", "192.0.2.2:40010", None),
        ("192.0.2.1:8", "192.0.2.2:40000", None),
        ("192.0.2.3:7", "192.0.2.2:40000", None),
        ("192.0.2.1:1000", "192.0.2.2:10", None),
        ("[fd00::1]:1000", "[fd00::2]:10", None),
    ] {
        let mut udp = host();
        let packet = packet(end(from), end(to), b"hello");
        let expected = match socket {
            Some(id) => Arrival::Taken(
                SocketId(id),
                Datagram {
                    source: end(from),
                    destination: end(to),
                    payload: b"hello",
                },
            ),
            None => Arrival::Unreachable,
        };
        assert_eq!(arrive(&mut udp, from, to, &packet, 0), expected, "{from}");
        let told = u64::from(socket.is_none());
        let counts = UdpCounts {
            received: 1,
            no_socket: told,
            unreachable: told,
            ..UdpCounts::default()
        };
        assert_eq!(udp.counts(), counts, "{from} to {to}");
    }
}

/// RFC 1122 section 4.1.3.4 (no checksum in IPv4), RFC 8200 section 8.1 (none in IPv6 is wrong),
/// RFC 768 (lengths). Each row: bytes of the UDP header that are written over.
#[test]
fn checksums_and_lengths() {
    let (v4, v6) = ("192.0.2.1:7", "[fd00::1]:7");
    for (from, at, bytes, expected) in [
        (v4, 6, [0, 0], Ok(b"hello".as_slice())),
        (v6, 6, [0, 0], Err(BadDatagram::NoChecksum)),
        (v4, 6, [1, 1], Err(BadDatagram::Checksum)),
        (v6, 6, [1, 1], Err(BadDatagram::Checksum)),
        (v4, 0, [0, 8], Err(BadDatagram::Checksum)),
        (v6, 8, [0, 8], Err(BadDatagram::Checksum)),
        (v4, 4, [0, 7], Err(BadDatagram::Length)),
        (v4, 4, [0, 0], Err(BadDatagram::Length)),
        (v6, 4, [0, 0], Err(BadDatagram::Length)),
        (v4, 4, [0, 14], Err(BadDatagram::Length)),
        (v4, 4, [255, 255], Err(BadDatagram::Length)),
        (v4, 4, [0, 12], Err(BadDatagram::Checksum)),
    ] {
        let to = if from == v4 {
            "192.0.2.2:9"
        } else {
            "[fd00::2]:9"
        };
        let mut packet = packet(end(from), end(to), b"hello");
        let begin = header_len(&packet);
        packet[begin + at..begin + at + 2].copy_from_slice(&bytes);
        let read = Datagram::read(end(from).ip(), end(to).ip(), &packet[begin..]);
        let found = read.map(|datagram| datagram.payload);
        assert_eq!(found, expected, "{from}, {bytes:?} at {at}");
        let mut udp = host();
        let is_taken = matches!(
            arrive(&mut udp, from, to, &packet, 0),
            Arrival::Taken(SocketId(0), _)
        );
        assert_eq!(is_taken, expected.is_ok());
        assert_eq!(udp.counts().bad, u64::from(expected.is_err()));
    }
}

#[test]
fn bytes_behind_the_datagram_are_not_of_it() {
    let (from, to) = (end("192.0.2.1:7"), end("192.0.2.2:9"));
    let mut bytes = packet(from, to, b"hello").split_off(20);
    bytes.extend([0xEE; 13]);
    let read = Datagram::read(from.ip(), to.ip(), &bytes).expect("right");
    assert_eq!(read.payload, b"hello");
}

/// RFC 768: a checksum of 0 is sent as all ones. A payload is chosen for which it would be 0.
#[test]
fn what_is_written_is_read_and_a_sum_of_zero_is_all_ones() {
    let ends = [
        (end("192.0.2.1:7"), end("192.0.2.2:9")),
        (end("[fd00::1]:7"), end("[fd00::2]:9")),
    ];
    for (from, to) in ends {
        for len in [0, 1, 2, 18, 510, 1471] {
            let mut bytes = vec![0xAB; HEADER_BYTES + len];
            assert!(fill_header(from, to, &mut bytes));
            let same = packet(from, to, &vec![0xAB; len]);
            assert_eq!(bytes, same[header_len(&same)..], "{len} bytes");
        }
        let mut bytes = [0; HEADER_BYTES + 2];
        assert!(fill_header(from, to, &mut bytes));
        let rest = [bytes[6], bytes[7]];
        bytes[HEADER_BYTES..].copy_from_slice(&rest);
        assert!(fill_header(from, to, &mut bytes));
        assert_eq!(bytes[6..8], [0xFF, 0xFF], "the sum is 0");
        assert!(Datagram::read(from.ip(), to.ip(), &bytes).is_ok());
    }
    let [(v4, _), (v6, _)] = ends;
    assert!(!fill_header(v4, v6, &mut [0; 20]), "two families");
    assert!(!fill_header(v4, v4, &mut [0; 7]), "no room");
    assert!(!fill_header(v4, v4, &mut vec![0; 65_536]), "too long");
}

/// RFC 1122 section 4.1.3.6: what does not come from one host, or is cut, is bad.
#[test]
fn bad_addresses_and_cut_datagrams() {
    let whole = packet(end("192.0.2.1:7"), end("192.0.2.2:9"), b"hello").split_off(20);
    for (from, to) in [
        ("0.0.0.0", "192.0.2.2"),
        ("255.255.255.255", "192.0.2.2"),
        ("224.0.0.1", "192.0.2.2"),
        ("192.0.2.1", "224.0.0.1"),
        ("::", "fd00::2"),
        ("ff02::1", "fd00::2"),
        ("192.0.2.1", "fd00::2"),
    ] {
        let [from, to] = [from, to].map(|text| text.parse().expect("an address"));
        let read = Datagram::read(from, to, &whole);
        assert_eq!(read, Err(BadDatagram::Address), "{from} to {to}");
    }
    let [from, to] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().expect("an address"));
    for len in 0..whole.len() {
        assert!(Datagram::read(from, to, &whole[..len]).is_err(), "{len}");
    }
    let to_nobody = packet(end("192.0.2.1:7"), end("192.0.2.2:0"), b"hello");
    let read = Datagram::read(from, to, &to_nobody[20..]);
    assert_eq!(read, Err(BadDatagram::Port));
}

/// RFC 1122 section 3.2.2 and RFC 4443 section 2.4 f: errors are limited, to all and to each.
#[test]
fn unreachable_ports_are_told_at_a_limited_rate() {
    let mut udp = host();
    let to = "192.0.2.2:10";
    let mut told = |from: &str, now| {
        let packet = packet(end(from), end(to), b"hello");
        arrive(&mut udp, from, to, &packet, now) == Arrival::Unreachable
    };
    let of_one = (0..1000).filter(|_| told("192.0.2.1:7", 0)).count();
    assert_eq!(of_one, 100, "a tenth to each");
    let from = |at: u32| format!("10.0.{}.{}:7", at / 200, at % 200 + 1);
    let of_all = (0..5000).filter(|&at| told(&from(at), 0)).count();
    assert_eq!(of_all, 900, "the rest to all others");
    let later = (0..5000).filter(|&at| told(&from(at), SECOND)).count();
    assert_eq!(later, 1000, "a second later");
    let counts = udp.counts();
    assert_eq!((counts.no_socket, counts.unreachable), (11_000, 2000));
}

/// RFC 1122 section 4.1.3.3 and RFC 8085 section 5.2: errors reach the socket that they are about,
/// and others are not believed.
#[test]
fn errors_are_held_against_sockets() {
    let (udp_protocol, tcp_protocol) = (protocol::UDP, protocol::TCP);
    let unreachable = IcmpErrorKind::PortUnreachable;
    for (kind, protocol, local, remote, socket) in [
        (unreachable, udp_protocol, 40_000, "192.0.2.1:7", Some(1)),
        (unreachable, udp_protocol, 40_010, "192.0.2.1:7", None),
        (unreachable, udp_protocol, 40_000, "192.0.2.1:8", None),
        (unreachable, udp_protocol, 40_000, "192.0.2.9:7", None),
        (unreachable, udp_protocol, 9, "192.0.2.9:7", Some(0)),
        (unreachable, tcp_protocol, 40_000, "192.0.2.1:7", None),
        (
            IcmpErrorKind::TooBig,
            udp_protocol,
            9,
            "192.0.2.9:7",
            Some(0),
        ),
    ] {
        let mut udp = host();
        let error = ErrorAbout {
            kind,
            protocol,
            local: SocketAddr::new(end("192.0.2.2:1").ip(), local),
            remote: end(remote),
        };
        assert_eq!(udp.receive_error(&error), socket.map(SocketId), "{error:?}");
        let is_udp = protocol == udp_protocol;
        let expected = UdpCounts {
            refused: u64::from(socket.is_some() && kind == unreachable),
            errors: u64::from(socket.is_some() && kind != unreachable),
            strange_errors: u64::from(socket.is_none() && is_udp),
            ..UdpCounts::default()
        };
        assert_eq!(udp.counts(), expected, "{error:?}");
    }
}

#[test]
fn sockets_that_cannot_be() {
    let mut udp = host();
    let socket = |ports, remote: Option<&str>| Socket {
        ports,
        remote: remote.map(end),
    };
    for (wanted, expected) in [
        (socket(9..=9, None), BindError::Taken),
        (socket(1..=100, None), BindError::Taken),
        (
            socket(40_005..=40_005, Some("192.0.2.1:7")),
            BindError::Taken,
        ),
        (socket(0..=5, None), BindError::Port),
        #[expect(clippy::reversed_empty_ranges)]
        (socket(5..=4, None), BindError::Port),
    ] {
        assert_eq!(udp.bind(wanted.clone()), Err(expected), "{wanted:?}");
    }
    for port in 0..SOCKETS_MAX as u16 - 2 {
        let bound = udp.bind(socket(100 + port..=100 + port, None));
        assert!(bound.is_ok(), "{port}");
    }
    assert_eq!(udp.bind(socket(99..=99, None)), Err(BindError::Full));
    // A connected socket may share a port with one that is not.
    let mut udp = host();
    let shared = socket(9..=9, Some("192.0.2.1:7"));
    assert_eq!(udp.bind(shared), Ok(SocketId(2)));
    let packet = packet(end("192.0.2.1:7"), end("192.0.2.2:9"), b"x");
    let arrival = arrive(&mut udp, "192.0.2.1:7", "192.0.2.2:9", &packet, 0);
    assert!(matches!(arrival, Arrival::Taken(SocketId(2), _)));
}
