//! Packets inside packets.

use std::ops::ControlFlow;

use wire::parse::TUNNELS_MAX;
use wire::{HashHeader, Malformed, Parsed, Placing, Tunnel, TunnelPorts};

/// What a frame carries, however deep.
fn inside(
    frame: &[u8],
    original_len: usize,
    ports: &TunnelPorts,
) -> (Vec<Tunnel>, Option<Malformed>) {
    let (outer, mut tunnels) = (wire::parse(frame, original_len), Vec::new());
    let fault = ports.each(frame, &outer, |tunnel| {
        tunnels.push(*tunnel);
        ControlFlow::Continue(())
    });
    (tunnels, fault)
}

/// Each packet lies behind the headers around it and inside what was captured.
fn check(outer: &Parsed, tunnels: &[Tunnel], len: usize) {
    let mut around = *outer;
    for tunnel in tunnels {
        let inner = &tunnel.inner;
        assert!(
            around.fault.is_none(),
            "nothing is read in what is malformed"
        );
        assert!(tunnel.offset >= around.l4_offset || around.l4_offset == 0);
        for offset in [inner.l3_offset, inner.l4_offset] {
            assert!(usize::from(offset) <= len);
            assert!(offset == 0 || offset >= tunnel.offset + tunnel.len);
        }
        let end = usize::from(around.l3_offset) + around.l3_len as usize;
        let inner_end = usize::from(inner.l3_offset) + inner.l3_len as usize;
        let whole = around.fragment == wire::Fragment::Whole;
        assert!(
            !whole || inner.l3_len == 0 || inner_end <= end,
            "reaches beyond"
        );
        around = *inner;
    }
}

/// A frame with tunnels, on ports that the first two bytes choose and cut as the third says:
/// whatever is in it, depth is bounded, offsets lie inside, and a cut changes no address.
pub fn tunnel(bytes: &[u8]) {
    let Some((&[ports, cut, more], frame)) = bytes.split_first_chunk::<3>() else {
        return;
    };
    let words = [
        format!("vxlan={}", 4789 + u16::from(ports & 1)),
        "geneve=6081".to_owned(),
    ];
    let words = words.iter().map(String::as_str);
    let ports = TunnelPorts::from_words(words).expect("two ports");
    let original_len = frame.len() + usize::from(more);
    let outer = wire::parse(frame, original_len);
    let (whole, _) = inside(frame, original_len, &ports);
    assert!(whole.len() <= TUNNELS_MAX);
    check(&outer, &whole, frame.len());
    let cut = &frame[..frame.len().saturating_sub(usize::from(cut))];
    let (fewer, _) = inside(cut, original_len, &ports);
    assert!(fewer.len() <= whole.len(), "a cut shows more");
    for (cut, whole) in fewer.iter().zip(&whole) {
        let readable = cut.inner.readable;
        assert!(
            !readable.src() || cut.inner.src == whole.inner.src,
            "a cut changed the source"
        );
        assert!(
            !readable.dst() || cut.inner.dst == whole.inner.dst,
            "a cut changed the target"
        );
    }
    for header in [HashHeader::Inner, HashHeader::Outer] {
        let placing = Placing {
            header,
            spi: true,
            ports,
        };
        let key = placing.flow_key(frame, &outer);
        assert_eq!(key.is_some(), outer.flow_key().is_some());
    }
}
