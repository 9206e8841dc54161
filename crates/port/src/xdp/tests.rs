//! What can be said of AF_XDP ports without an interface to open: specs, chunks, ends.
//! `crates/cli/tests/netns` has the rest.

use frame::PoolRequest;
use proptest::prelude::*;

use super::*;
use crate::PortSpec;

fn spec(text: &str) -> XdpSpec {
    match PortSpec::parse(text).unwrap() {
        PortSpec::Xdp(spec) => spec,
        other => panic!("{other}"),
    }
}

fn refusal(text: &str) -> String {
    PortSpec::parse(text).unwrap_err().to_string()
}

#[test]
fn a_spec_is_resolved_and_read_again() {
    let resolved = "xdp:eth0,queues=all,mode=auto,ring=2048,busy-poll=0,unclaimed=pass,vlan=keep,\
                    keep-local=off,bypass=off,shortcut=off,transmit=socket,\
                    rx-hash=off,timestamps=software";
    assert_eq!(spec("xdp:eth0").to_string(), resolved);
    for text in [
        resolved,
        "xdp:eth0,queues=4,mode=zerocopy,ring=64,busy-poll=20,unclaimed=drop,vlan=ignore,\
         keep-local=on,bypass=/run/bpf\\,2,shortcut=on,transmit=auto,\
         rx-hash=on,timestamps=hardware",
        "xdp:a\\,b,queues=2-3,mode=generic,ring=32768,busy-poll=1000000,unclaimed=pass,\
         vlan=keep,keep-local=off,bypass=off,shortcut=off,transmit=redirect,\
         rx-hash=off,timestamps=auto",
    ] {
        assert_eq!(spec(text).to_string(), text);
    }
    for (text, kept) in [
        ("xdp:e", KeepLocal::Off),
        ("xdp:e,keep-local", KeepLocal::On),
        ("xdp:e,keep-local=off", KeepLocal::Off),
        ("xdp:e,keep-local=control", KeepLocal::Control),
    ] {
        assert_eq!(spec(text).keep_local, kept, "{text}");
    }
    assert!(spec("xdp:e,rx-hash").rx_hash);
    assert_eq!(
        spec("xdp:e,bypass").bypass.to_string(),
        spec("xdp:e,bypass=on").bypass.to_string()
    );
    assert_eq!(spec("xdp:e,queues=1").queues, Queues::Range(0, 0));
    assert_eq!(spec("xdp:e,queues=3-3").queues, Queues::Range(3, 3));
}

#[test]
fn refused_specs_say_what_would_do() {
    let long = format!("xdp:{}", "x".repeat(128));
    let cases = [
        (&long[..], "at most 127 bytes"),
        ("xdp:", "it names no network interface"),
        ("xdp:eth0/1", "no name of a network interface"),
        ("xdp:eth0,ring=1000", "a power of two"),
        ("xdp:eth0,ring=32", "from 64 to 32768"),
        ("xdp:eth0,queues=0", "a range as in 2-3"),
        ("xdp:eth0,queues=3-2", "a range as in 2-3"),
        ("xdp:eth0,queues=1024", "a range as in 2-3"),
        ("xdp:eth0,mode=fast", "auto, zerocopy, copy or generic"),
        ("xdp:eth0,unclaimed=keep", "pass or drop"),
        ("xdp:eth0,vlan=lose", "keep or ignore"),
        (
            "xdp:eth0,keep-local=yes",
            "keep-local takes on, off or control",
        ),
        ("xdp:eth0,bypass=yes", "a folder of a BPF file system"),
        ("xdp:eth0,transmit=fast", "auto, socket or redirect"),
        ("xdp:eth0,keep-loca", "write keep-loca=VALUE"),
        ("packet:eth0,keep-local", "`keep-local` has no value"),
        ("xdp:eth0,timestamps=on", "auto, hardware or software"),
        ("xdp:eth0,mod=auto", "did you mean mode=?"),
    ];
    for (text, expected) in cases {
        let said = refusal(text);
        assert!(said.contains(expected), "{text}: {said}");
    }
}

#[test]
fn queues_of_the_interface_go_round() {
    let wide = spec("xdp:e,queues=1-4");
    assert_eq!(queues(&wide, 5).unwrap(), 1..5);
    assert_eq!(queues(&spec("xdp:e"), 3).unwrap(), 0..3);
    let said = queues(&wide, 4).unwrap_err().to_string();
    assert!(said.contains("it has 4, numbered from 0"), "{said}");
    for workers in 1..=4 {
        let mut all: Vec<u32> = (0..workers)
            .flat_map(|queue| share(&(1..5), queue as u16, workers))
            .collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 4], "{workers} workers");
    }
}

fn region(stride_bytes: &[u32]) -> &'static Region {
    let request = |&stride_bytes: &u32| PoolRequest {
        frames: 4,
        stride_bytes,
        headroom_bytes: 128,
        node: None,
    };
    let requests: Vec<_> = stride_bytes.iter().map(request).collect();
    Region::with_pools(&requests).unwrap().0
}

#[test]
fn a_mtu_that_fits_no_chunk_is_refused_with_the_command() {
    let several = |mtu, stride| memory("e", mtu, region(&[stride])).unwrap().several_needed;
    assert!(!several(1500, 1792));
    assert!(!several(1834, 2112));
    assert!(!several(3818, 4096));
    assert!(!several(3818, 9280));
    assert!(several(3819, 4160));
    assert!(several(9000, 9280));
    assert!(several(11_498, 11_840));
    let refusal = |mtu, strides: &[u32]| memory("e", mtu, region(strides)).unwrap_err().to_string();
    let said = refusal(11_499, &[65_536]);
    assert!(said.contains("`ip link set dev e mtu 11498`"), "{said}");
    let said = refusal(3819, &[4096]);
    assert!(said.contains("give 4160 or more"), "{said}");
    let said = refusal(9000, &[4096]);
    assert!(said.contains("give 9280 or more"), "{said}");
    let said = refusal(1835, &[2112]);
    assert!(said.contains("give 2176 or more"), "{said}");
    let said = refusal(1500, &[1728]);
    assert!(said.contains("give 1792 or more"), "{said}");
    let said = refusal(1500, &[2112, 2048]);
    assert!(said.contains("one stride"), "{said}");
}

#[test]
fn the_stride_that_is_hinted_at_is_enough() {
    for mtu in (68..=xdp_mtu_max(true)).step_by(7) {
        // What is chosen for a port whose longest frame is as hinted, behind the usual headroom.
        let hinted = frame_bytes_max_hint(mtu) as u32 + 128;
        let stride = hinted.next_multiple_of(64);
        if let Some(chunks) = Chunks::of(stride) {
            assert!(
                chunks.gathered_bytes_max() >= mtu + HEADER_BYTES,
                "MTU {mtu}"
            );
        }
    }
}

proptest! {
    #[test]
    fn no_spec_panics(text in "xdp:[a-z0-9=,\\-\\\\_.]{0,40}") {
        if let Ok(spec) = PortSpec::parse(&text) {
            prop_assert_eq!(PortSpec::parse(&spec.to_string()).unwrap(), spec);
        }
    }
}
