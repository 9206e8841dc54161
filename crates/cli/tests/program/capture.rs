//! Small captures, byte by byte, independent of the program's own writers.

use std::net::Ipv4Addr;

/// A microsecond pcap, little-endian, Ethernet, of these frames at one second's distance.
pub(crate) fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(0xa1b2_c3d4_u32.to_le_bytes());
    bytes.extend([2, 0, 4, 0]);
    bytes.extend([0; 8]);
    bytes.extend(262_144_u32.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    for (second, frame) in (1_700_000_000_u32..).zip(frames) {
        let length = (frame.len() as u32).to_le_bytes();
        bytes.extend(second.to_le_bytes());
        bytes.extend(500_u32.to_le_bytes());
        bytes.extend(length);
        bytes.extend(length);
        bytes.extend(frame);
    }
    bytes
}

/// The frames of a little-endian pcap, whatever its resolution.
pub(crate) fn frames(pcap: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = &pcap[24..];
    let mut frames = Vec::new();
    while let Some((record, after)) = rest.split_at_checked(16) {
        let length = u32::from_le_bytes(record[8..12].try_into().expect("four bytes")) as usize;
        frames.push(after[..length].to_vec());
        rest = &after[length..];
    }
    frames
}

/// A UDP datagram in IPv4 in Ethernet, 60 bytes.
pub(crate) fn udp(src: &str, dst: &str) -> Vec<u8> {
    let address = |text: &str| text.parse::<Ipv4Addr>().expect("an address").octets();
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend(address(src));
    frame.extend(address(dst));
    frame.extend([0x10, 0, 0x20, 0, 0, 26, 0, 0]);
    frame.extend([0; 18]);
    frame
}

/// An ARP request, 60 bytes.
pub(crate) fn arp() -> Vec<u8> {
    let mut frame = vec![255; 6];
    frame.extend([2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.resize(60, 0);
    frame
}

/// Six frames: one with a listed source, one with a listed destination, three others, one ARP.
/// Listed are 198.18.77.1 and 198.51.100.0/24, see [`LIST`].
pub(crate) fn mixed() -> Vec<Vec<u8>> {
    vec![
        udp("198.18.77.1", "203.0.113.1"),
        udp("203.0.113.1", "198.51.100.77"),
        udp("203.0.113.1", "203.0.113.2"),
        arp(),
        udp("203.0.113.3", "192.0.2.2"),
        udp("203.0.113.4", "203.0.113.1"),
    ]
}

/// What [`mixed`] has two frames of.
pub(crate) const LIST: &str = "# bad ones\n198.18.77.1\n198.51.100.0/24 ; SBL1\n";
