//! Columns against the hash of one flow, which has the published vectors.

use super::*;
use proptest::{collection::vec, prelude::*};
use wire::toeplitz::Toeplitz;

type Flow<A> = (A, A, u32);

fn columns<A: Copy>(flows: &[Flow<A>]) -> (Vec<A>, Vec<A>, Vec<u32>) {
    let src = flows.iter().map(|flow| flow.0).collect();
    let dst = flows.iter().map(|flow| flow.1).collect();
    (src, dst, flows.iter().map(|flow| flow.2).collect())
}

/// Each way this machine has.
fn ways(key: &Key) -> Vec<RssHash> {
    let mut ways = vec![RssHash::portable(key), RssHash::new(key)];
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(unit) = Carryless::narrow() {
        let vectors = Some(Vectors::new(unit, key));
        ways.push(RssHash {
            vectors,
            ..RssHash::portable(key)
        });
    }
    ways
}

fn any_key() -> impl Strategy<Value = Key> {
    let random = vec(any::<u8>(), 52);
    let short = vec(any::<u8>(), 40);
    let bytes = prop_oneof![random, short];
    bytes.prop_map(|bytes| Key::new(&bytes).expect("40 or 52 bytes"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code that Miri can run, and minutes of tables")]
    fn columns_v4(key in any_key(), flows in vec(any::<Flow<u32>>(), 0..40)) {
        let (src, dst, ports) = columns(&flows);
        let oracle = Toeplitz::new(&key);
        let wanted = flows.iter().map(|flow| oracle.hash_v4(flow.0, flow.1, flow.2));
        let wanted: Vec<u32> = wanted.collect();
        for way in ways(&key) {
            let mut hashes = vec![1; flows.len()];
            let flows = FlowColumns { src: &src, dst: &dst, ports: &ports };
            prop_assert_eq!(way.hash_v4(flows, &mut hashes), wanted.len());
            prop_assert_eq!(&hashes, &wanted, "{:?}", way);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code that Miri can run, and minutes of tables")]
    fn columns_v6(key in any_key(), flows in vec(any::<Flow<u128>>(), 0..20)) {
        let (src, dst, ports) = columns(&flows);
        let oracle = Toeplitz::new(&key);
        let wanted = flows.iter().map(|flow| oracle.hash_v6(flow.0, flow.1, flow.2));
        let wanted: Vec<u32> = wanted.collect();
        for way in ways(&key) {
            let mut hashes = vec![1; flows.len()];
            let flows = FlowColumns { src: &src, dst: &dst, ports: &ports };
            prop_assert_eq!(way.hash_v6(flows, &mut hashes), wanted.len());
            prop_assert_eq!(&hashes, &wanted, "{:?}", way);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "as above")]
fn the_shortest_column_counts() {
    let hash = RssHash::new(&Key::MICROSOFT);
    let mut hashes = [7; 4];
    let flows = FlowColumns {
        src: &[1, 2, 3],
        dst: &[1, 2],
        ports: &[0; 9],
    };
    assert_eq!(hash.hash_v4(flows, &mut hashes), 2);
    assert_eq!(hashes[2..], [7, 7]);
}

#[test]
#[cfg_attr(miri, ignore = "as above")]
fn one_source_a_bucket() {
    let hash = RssHash::new(&Key::MICROSOFT);
    let (dst, ports) = (0xC0A8_0001, 0x1234_0050);
    let plan = SourcePlan {
        network: crate::Network::new(0x0A00_0000, 16).expect("a network"),
        dst,
        ports,
        buckets: 128,
    };
    let found = hash.sources(&plan);
    for (bucket, src) in found.iter().enumerate() {
        let src = src.expect("65,536 addresses are enough");
        assert_eq!(hash.one().hash_v4(src, dst, ports) as usize % 128, bucket);
        assert_eq!(src >> 16, 0x0A00);
    }
    let network = crate::Network::new(0xFFFF_FFFE, 31).expect("a network");
    let few = hash.sources(&SourcePlan { network, ..plan });
    assert_eq!(few.iter().flatten().count(), 2);
}
