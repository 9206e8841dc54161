//! Microsoft's verification suite, and the tables against the definition.

use core::net::IpAddr;

use proptest::prelude::*;

use super::*;

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
fn microsoft_vectors() {
    let toeplitz = Toeplitz::new(&Key::MICROSOFT);
    for vector in VECTORS {
        let flow = |src_port, dst_port| match (vector.src.0, vector.dst.0) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                FlowKey::v4(src.to_bits(), dst.to_bits(), src_port, dst_port, 6)
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                FlowKey::v6(src.to_bits(), dst.to_bits(), src_port, dst_port, 6)
            }
            mixed => panic!("{mixed:?}"),
        };
        let with_ports = flow(vector.src.1, vector.dst.1);
        assert_eq!(toeplitz.hash(&flow(0, 0)), vector.addresses);
        assert_eq!(toeplitz.hash(&with_ports), vector.ports);
        let definition = Key::MICROSOFT.hash_bytes(&bytes_of(&with_ports));
        assert_eq!(definition, vector.ports);
    }
}

#[test]
fn keys_as_people_write_them() {
    assert_eq!("symmetric".parse(), Ok(Key::SYMMETRIC));
    assert_eq!("Microsoft".parse(), Ok(Key::MICROSOFT));
    let bytes = Key::MICROSOFT.as_bytes();
    let plain: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(plain.parse(), Ok(Key::MICROSOFT));
    assert_eq!(pairs.join(":").parse(), Ok(Key::MICROSOFT));
    assert_eq!("6d5a".parse::<Key>(), Err(KeyText::Length(KeyLength(2))));
    for text in ["", "6", "6d:", "6d5", "6g", "+6", "é"] {
        assert!(text.parse::<Key>().is_err(), "{text}");
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
