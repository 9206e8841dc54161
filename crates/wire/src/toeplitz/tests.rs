//! Microsoft's verification suite, and the tables against the definition.

use core::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;

/// Destination and port, source and port, hash of the addresses, hash with TCP ports: all of
/// "Verifying the RSS hash calculation", Microsoft.
const V4: [(&str, u16, &str, u16, u32, u32); 5] = [
    (
        "161.142.100.80",
        1766,
        "66.9.149.187",
        2794,
        0x323E_8FC2,
        0x51CC_C178,
    ),
    (
        "65.69.140.83",
        4739,
        "199.92.111.2",
        14230,
        0xD718_262A,
        0xC626_B0EA,
    ),
    (
        "12.22.207.184",
        38024,
        "24.19.198.95",
        12898,
        0xD2D0_A5DE,
        0x5C2B_394A,
    ),
    (
        "209.142.163.6",
        2217,
        "38.27.205.30",
        48228,
        0x8298_9176,
        0xAFC7_327F,
    ),
    (
        "202.188.127.2",
        1303,
        "153.39.163.191",
        44251,
        0x5D18_09C5,
        0x10E8_28A2,
    ),
];

const V6: [(&str, u16, &str, u16, u32, u32); 3] = [
    (
        "3ffe:2501:200:3::1",
        1766,
        "3ffe:2501:200:1fff::7",
        2794,
        0x2CC1_8CD5,
        0x4020_7D3D,
    ),
    (
        "ff02::1",
        4739,
        "3ffe:501:8::260:97ff:fe40:efab",
        14230,
        0x0F0C_461C,
        0xDDE5_1BBF,
    ),
    (
        "fe80::200:f8ff:fe21:67cf",
        38024,
        "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
        44251,
        0x4B61_E985,
        0x02D1_FEEF,
    ),
];

fn v4(text: &str) -> u32 {
    text.parse::<Ipv4Addr>().expect("an address").to_bits()
}

fn v6(text: &str) -> u128 {
    text.parse::<Ipv6Addr>().expect("an address").to_bits()
}

fn bytes_of(key: &FlowKey) -> Vec<u8> {
    let mut bytes = match key.family {
        Family::V6 => [key.src.to_be_bytes(), key.dst.to_be_bytes()].concat(),
        _ => [
            (key.src as u32).to_be_bytes(),
            (key.dst as u32).to_be_bytes(),
        ]
        .concat(),
    };
    bytes.extend_from_slice(&key.src_port.to_be_bytes());
    bytes.extend_from_slice(&key.dst_port.to_be_bytes());
    bytes
}

#[test]
fn microsoft_vectors_ipv4() {
    let toeplitz = Toeplitz::new(&Key::MICROSOFT);
    for (dst, dst_port, src, src_port, addresses, with_ports) in V4 {
        let bare = FlowKey::v4(v4(src), v4(dst), 0, 0, 1);
        assert_eq!(toeplitz.hash(&bare), addresses);
        let tcp = FlowKey::v4(v4(src), v4(dst), src_port, dst_port, 6);
        assert_eq!(toeplitz.hash(&tcp), with_ports);
        assert_eq!(Key::MICROSOFT.hash_bytes(&bytes_of(&tcp)), with_ports);
    }
}

#[test]
fn microsoft_vectors_ipv6() {
    let toeplitz = Toeplitz::new(&Key::MICROSOFT);
    for (dst, dst_port, src, src_port, addresses, with_ports) in V6 {
        let bare = FlowKey::v6(v6(src), v6(dst), 0, 0, 58);
        assert_eq!(toeplitz.hash(&bare), addresses);
        let tcp = FlowKey::v6(v6(src), v6(dst), src_port, dst_port, 6);
        assert_eq!(toeplitz.hash(&tcp), with_ports);
        assert_eq!(Key::MICROSOFT.hash_bytes(&bytes_of(&tcp)), with_ports);
    }
}

#[test]
fn key_lengths() {
    assert_eq!(Key::new(&[1; 40]).map(|key| key.as_bytes().len()), Ok(40));
    assert_eq!(Key::new(&[1; 52]).map(|key| key.as_bytes().len()), Ok(52));
    for len in [0, 39, 41, 53, 1000] {
        assert_eq!(Key::new(&vec![0; len]), Err(KeyLength(len)));
    }
    let prefix = Key::new(&Key::SYMMETRIC.as_bytes()[..40]).expect("40 bytes");
    assert!(Toeplitz::new(&prefix).word.is_some());
    assert!(Toeplitz::new(&Key::MICROSOFT).word.is_none());
}

fn flow() -> impl Strategy<Value = FlowKey> {
    any::<(bool, u128, u128, u16, u16)>().prop_map(|(six, src, dst, src_port, dst_port)| {
        if six {
            FlowKey::v6(src, dst, src_port, dst_port, 17)
        } else {
            FlowKey::v4(src as u32, dst as u32, src_port, dst_port, 17)
        }
    })
}

fn any_key() -> impl Strategy<Value = Key> {
    let random = proptest::collection::vec(any::<u8>(), 52);
    let repeated = any::<[u8; 2]>().prop_map(|word| word.repeat(26));
    prop_oneof![random, repeated].prop_map(|bytes| Key::new(&bytes).expect("52 bytes"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tables_are_the_definition(key in any_key(), flow in flow()) {
        prop_assert_eq!(Toeplitz::new(&key).hash(&flow), key.hash_bytes(&bytes_of(&flow)));
    }

    #[test]
    fn symmetric_key_hashes_both_directions_alike(flow in flow()) {
        let toeplitz = Toeplitz::new(&Key::SYMMETRIC);
        let hash = toeplitz.hash(&flow);
        prop_assert_eq!(hash, toeplitz.hash(&flow.reversed()));
        prop_assert_eq!(hash >> 16, hash & 0xFFFF);
    }

    #[test]
    fn hash_is_linear(key in any_key(), src: u32, dst: u32, ports: u32, change: u32) {
        let toeplitz = Toeplitz::new(&key);
        prop_assert_eq!(
            toeplitz.hash_v4(src, dst, ports ^ change),
            toeplitz.hash_v4(src, dst, ports) ^ toeplitz.hash_v4(0, 0, change)
        );
    }
}
