//! Frames cut at every byte, on the wire and in the capture, and frames with bytes changed.

mod recipes;

use proptest::prelude::*;
use recipes::case;
use wire::{Family, Parsed, Readable, parse};

/// Offsets behind the last byte of both addresses.
fn address_ends(whole: &Parsed) -> (usize, usize) {
    let at = usize::from(whole.l3_offset);
    match whole.family {
        Family::V4 => (at + 16, at + 20),
        _ => (at + 24, at + 40),
    }
}

/// Every readable address of `cut` is that of `whole`.
fn same_addresses(cut: &Parsed, whole: &Parsed) -> bool {
    let src = if cut.readable.src() { whole.src } else { 0 };
    let dst = if cut.readable.dst() { whole.dst } else { 0 };
    (cut.src, cut.dst) == (src, dst)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_frame_cut_on_the_wire_is_malformed(case in case()) {
        let frame = case.emit();
        let whole = case.expected();
        let (src_end, dst_end) = address_ends(&whole);
        let packet_end = usize::from(whole.l3_offset) + whole.l3_len as usize;
        for cut in 0..frame.len() {
            let parsed = parse(&frame[..cut], cut);
            prop_assert!(!parsed.snapped);
            prop_assert_eq!(parsed.fault.is_some(), cut < packet_end, "cut {} {:?}", cut, parsed);
            prop_assert!(same_addresses(&parsed, &whole));
            prop_assert_eq!(parsed.readable.src(), cut >= src_end);
            prop_assert_eq!(parsed.readable.dst(), cut >= dst_end);
        }
    }

    #[test]
    fn a_frame_cut_by_the_capture_is_snapped_and_sound(case in case()) {
        let frame = case.emit();
        let whole = case.expected();
        let (src_end, dst_end) = address_ends(&whole);
        for cut in 0..frame.len() {
            let parsed = parse(&frame[..cut], frame.len());
            prop_assert!(parsed.snapped);
            prop_assert_eq!(parsed.fault, None, "cut {}", cut);
            prop_assert!(same_addresses(&parsed, &whole));
            prop_assert_eq!(parsed.readable.src(), cut >= src_end);
            prop_assert_eq!(parsed.readable.dst(), cut >= dst_end);
            if parsed.readable.ports() {
                let ports = (parsed.src_port, parsed.dst_port);
                prop_assert_eq!(ports, (whole.src_port, whole.dst_port));
            }
            for (offset, sound) in
                [(parsed.l3_offset, whole.l3_offset), (parsed.l4_offset, whole.l4_offset)]
            {
                prop_assert!(usize::from(offset) <= cut);
                prop_assert!(offset == 0 || offset == sound || offset < whole.l3_offset);
            }
        }
    }
}

/// A sound frame with a few bytes changed: mostly lies in headers.
fn lying_frame() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        Just(0),
        Just(0xFF),
        Just(0x81),
        Just(0x45),
        Just(44)
    ];
    let change = (0usize..90, byte);
    (case(), proptest::collection::vec(change, 0..6)).prop_map(|(case, changes)| {
        let mut frame = case.emit();
        for (at, byte) in changes {
            let at = at % frame.len();
            frame[at] = byte;
        }
        frame
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn more_capture_reads_more_and_never_changes_a_fault(
        frame in lying_frame(), beyond in 0usize..3
    ) {
        let original = frame.len() + beyond * 40;
        let whole = parse(&frame, original);
        let mut before = Parsed::default();
        for cut in 0..=frame.len() {
            let parsed = parse(&frame[..cut], original);
            prop_assert!(parsed.readable.has(before.readable), "cut {}", cut);
            prop_assert!(same_addresses(&before, &parsed));
            prop_assert!(before.fault.is_none() || before.fault == parsed.fault, "cut {}", cut);
            before = parsed;
        }
        prop_assert_eq!(before, whole);
    }

    #[test]
    fn no_fault_hides_an_address(frame in lying_frame(), original in 0usize..300) {
        // Plain Ethernet, the version right: whatever else the frame says, the addresses count.
        let mut frame = frame;
        frame.resize(frame.len().max(60), 0);
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[14] = 0x40 | frame[14] & 15;
        let parsed = parse(&frame, original);
        prop_assert!(parsed.readable.has(Readable::ADDRESSES));
        let word = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|step| frame[at + step]));
        prop_assert_eq!((parsed.src_v4(), parsed.dst_v4()), (Some(word(26)), Some(word(30))));
    }

    #[test]
    fn any_bytes_with_any_length_give_an_answer(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        original in prop_oneof![any::<usize>(), 0usize..2000, Just(usize::MAX)],
    ) {
        let parsed = parse(&bytes, original);
        prop_assert_eq!(parsed.snapped, bytes.len() < original);
        prop_assert!(usize::from(parsed.l3_offset) <= bytes.len());
        prop_assert!(usize::from(parsed.l4_offset) <= bytes.len());
    }

    #[test]
    fn lying_frames_give_an_answer(
        frame in lying_frame(), original in prop_oneof![0usize..400, Just(usize::MAX)]
    ) {
        let parsed = parse(&frame, original);
        prop_assert!(usize::from(parsed.l4_offset) <= frame.len());
        prop_assert_eq!(parsed.flow_key().is_some(), parsed.readable.has(Readable::ADDRESSES));
    }
}
