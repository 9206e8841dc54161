//! From records of the ring to frames of the wire; what the kernel does is tested between
//! namespaces, beside the program.

use frame::{Frame, FrameMeta, FramePool, PortId, QueueId};
use libc::{
    TP_STATUS_TS_RAW_HARDWARE, TP_STATUS_TS_SOFTWARE, TP_STATUS_VLAN_TPID_VALID,
    TP_STATUS_VLAN_VALID,
};
use wire::checksum;

use super::receive::{Taking, Unfit, fill};
use crate::PortSpec;
use crate::nic_clock::nic_clock_at;
use crate::sys::packet_ring::{CHECKSUM_UNFINISHED, Offload, Received};
use crate::tests_support::pool;

fn received(bytes: &[u8]) -> Received<'_> {
    Received {
        bytes,
        len: bytes.len(),
        status: 0,
        vlan_tci: 0,
        vlan_tpid: 0,
        time_ns: 77,
        offload: Offload::default(),
        outgoing: false,
        hash: 0,
    }
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index * 7 + 1) as u8).collect()
}

const TAKING: Taking<'static> = Taking {
    sees_outgoing: true,
    clock: None,
    meta: FrameMeta {
        time_ns: 0,
        original_len: 0,
        rss_hash: 0,
        port: PortId(0),
        queue: QueueId(0),
        vlan_tpid: 0,
        vlan_tci: 0,
        by_nic: false,
        datagram: 0,
    },
};

/// Fills a frame and gives what came of it, the frame's memory put back.
fn filled(pool: &mut FramePool, received: &Received<'_>) -> Result<(Vec<u8>, bool), Unfit> {
    let mut frame = pool.alloc().unwrap();
    let filled = fill(&mut frame, received, &TAKING);
    let copy = Frame::bytes(&frame).to_vec();
    if filled.is_ok() {
        assert_eq!(frame.meta().unwrap().time_ns, received.time_ns);
    }
    pool.free(frame);
    filled.map(|finished| (copy, finished))
}

#[test]
fn a_tag_beside_the_frame_goes_back_between_addresses_and_type() {
    let (mut pool, plain) = (pool(1), bytes(60));
    let tagged = |tag: [u8; 4]| [&plain[..12], &tag[..], &plain[12..]].concat();
    let valid = TP_STATUS_VLAN_VALID | TP_STATUS_VLAN_TPID_VALID;
    let cases = [
        (0, plain.clone()),
        (TP_STATUS_VLAN_TPID_VALID, plain.clone()),
        // A kernel that does not tell the TPID.
        (TP_STATUS_VLAN_VALID, tagged([0x81, 0x00, 0xe0, 0x05])),
        (valid, tagged([0x88, 0xa8, 0xe0, 0x05])),
    ];
    for (status, expect) in cases {
        let record = Received {
            status,
            vlan_tci: 0xe005,
            vlan_tpid: 0x88a8,
            ..received(&plain)
        };
        assert_eq!(filled(&mut pool, &record), Ok((expect, false)), "{status}");
    }
}

#[test]
fn a_checksum_left_to_the_receiver_is_finished_wherever_a_tag_moved_it() {
    let mut pool = pool(1);
    for (status, moved) in [(0, 0), (TP_STATUS_VLAN_VALID, 4)] {
        // The field holds the sum of a pseudo header, as stacks leave it; 16 is TCP's place.
        let (start, offset, pseudo) = (34, 16, 0x1234_u16);
        let mut sent = bytes(99);
        sent[start + offset..][..2].copy_from_slice(&pseudo.to_be_bytes());
        let record = Received {
            status,
            offload: Offload {
                flags: CHECKSUM_UNFINISHED,
                checksum_start: start as u16,
                checksum_offset: offset as u16,
                ..Offload::default()
            },
            ..received(&sent)
        };
        let (frame, finished) = filled(&mut pool, &record).unwrap();
        assert!(finished);
        let segment = &frame[start + moved..];
        let whole = checksum::combine(pseudo, checksum::ones_complement(segment));
        assert_eq!(whole, 0xFFFF, "a receiver finds it right");
    }
}

#[test]
fn offsets_beyond_the_frame_change_nothing() {
    let (mut pool, sent) = (pool(1), bytes(60));
    for (start, offset) in [(60, 0), (59, 0), (u16::MAX, u16::MAX), (0, 59)] {
        let record = Received {
            offload: Offload {
                flags: CHECKSUM_UNFINISHED,
                checksum_start: start,
                checksum_offset: offset,
                ..Offload::default()
            },
            ..received(&sent)
        };
        assert_eq!(filled(&mut pool, &record).unwrap().0, sent);
    }
}

#[test]
fn what_is_not_the_wires_is_left_out() {
    let (mut pool, sent) = (pool(1), bytes(60));
    let merged = Offload {
        segmentation: 1,
        ..Offload::default()
    };
    let long = bytes(1793);
    let room = bytes(1789);
    let tag = TP_STATUS_VLAN_VALID;
    let cases = [
        (
            Received {
                offload: merged,
                ..received(&sent)
            },
            Unfit::Merged,
        ),
        (
            Received {
                len: 61,
                ..received(&sent)
            },
            Unfit::TooLong,
        ),
        (received(&long), Unfit::TooLong),
        (
            Received {
                status: tag,
                ..received(&room)
            },
            Unfit::TooLong,
        ),
        (
            Received {
                outgoing: true,
                ..received(&sent)
            },
            Unfit::Outgoing,
        ),
    ];
    for (record, expect) in cases {
        assert_eq!(filled(&mut pool, &record), Err(expect));
    }
    let tags_alone = Received {
        status: tag,
        ..received(&sent[..11])
    };
    assert_eq!(filled(&mut pool, &tags_alone).unwrap().0, sent[..11]);
}

#[test]
fn times_are_the_nics_where_a_record_says_so() {
    let (mut pool, sent) = (pool(1), bytes(60));
    // 1,000,000 ns of the NIC's clock are 5,000 of the kernel's.
    let clock = nic_clock_at(1_000_000, 5_000);
    let taking = Taking {
        clock: Some(&clock),
        ..TAKING
    };
    let by_nic = TP_STATUS_TS_RAW_HARDWARE;
    for (status, time_ns, taking, expect) in [
        (by_nic, 1_000_300, &taking, (5_300, true)),
        (
            by_nic | TP_STATUS_VLAN_VALID,
            999_999,
            &taking,
            (4_999, true),
        ),
        // Stamped by software, among others that are not.
        (0, 77, &taking, (77, false)),
        (TP_STATUS_TS_SOFTWARE, 77, &taking, (77, false)),
        // Before the kernel's clock began, and beyond its end.
        (by_nic, 1, &taking, (0, true)),
        (by_nic, u64::MAX, &taking, (0, true)),
        // Nobody asked.
        (by_nic, 77, &TAKING, (77, false)),
    ] {
        let record = Received {
            status,
            time_ns,
            ..received(&sent)
        };
        let mut frame = pool.alloc().unwrap();
        fill(&mut frame, &record, taking).unwrap();
        let meta = frame.meta().unwrap();
        assert_eq!((meta.time_ns, meta.by_nic), expect, "{status:x} {time_ns}");
        pool.free(frame);
    }
}

#[test]
fn specs_are_read_and_written() {
    let texts = [
        "packet:eth0",
        "packet:eth0,queues=4",
        "packet:eth0,timestamps=auto",
        "packet:eth0,queues=4,qdisc=on,fanout=queue,timestamps=hardware",
        "tap:tap0",
        "tap:t\\,0,queues=2",
    ];
    for text in texts {
        let spec = PortSpec::parse(text).unwrap();
        assert_eq!(spec.to_string(), text);
        assert!(text.starts_with(spec.driver()));
    }
    for (text, part) in [
        ("packet:", "names no interface; write packet:eth0"),
        ("tap:", "names no interface; write tap:tap0"),
        ("packet:eth0,queues=0", "from 1 to 256"),
        ("packet:eth0,timestamps=NIC", "auto, hardware or software"),
        ("tap:t,timestamps=auto", "tap has no setting `timestamps`"),
        ("gen:timestamps=auto", "gen has no setting `timestamps`"),
        (
            "pcap:in=a,timestamps=auto",
            "pcap has no setting `timestamps`",
        ),
        ("null:timestamps=auto", "null has no setting `timestamps`"),
        ("ring:x,timestamps=auto", "ring has no setting `timestamps`"),
        (
            "memif:/x,timestamps=auto",
            "memif has no setting `timestamps`",
        ),
        ("packet:eth0,queue=2", "did you mean queues=?"),
        ("tap:t,mode=x", "takes queues"),
    ] {
        let error = PortSpec::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
