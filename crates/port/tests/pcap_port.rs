//! Capture ports on real files and pipes.

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use frame::{Burst, PortId, QueueId};
use port::pcap::Format;
use port::{OpenContext, PortErrorKind, RxState};
use support::{
    Folder, Owned, frames, move_all, open, open_queue, pool, read_capture, run, write_capture,
};

#[test]
fn frames_keep_bytes_times_and_lengths_through_files() {
    let folder = Folder::new();
    let sent = frames(5_000);
    for (from, format) in [("a.pcap", Format::Pcap), ("a.pcapng", Format::Pcapng)] {
        write_capture(&folder.file(from), format, &sent);
        for to in ["b.pcap", "b.pcapng"] {
            let (input, output) = (folder.text(from), folder.text(to));
            let (input, output) = (format!("pcap:in={input}"), format!("pcap:out={output}"));
            // A start time must not touch frames that bring their own.
            let context = OpenContext {
                start_time_ns: 5,
                ..OpenContext::default()
            };
            let moved = run(&input, &output, &context);
            assert_eq!(read_capture(&folder.file(to)), sent, "{from} to {to}");
            let bytes = sent.iter().map(|frame| frame.2.len() as u64).sum::<u64>();
            assert_eq!(
                (moved.rx.rx_frames, moved.rx.rx_bytes, moved.rx.missed),
                (5_000, bytes, 0)
            );
            assert_eq!((moved.tx.tx_frames, moved.tx.tx_bytes), (5_000, bytes));
            assert_eq!((moved.rx_end, moved.tx_end), (Ok(vec![]), Ok(vec![])));
        }
    }
}

#[test]
fn records_say_where_and_when_a_frame_came_from() {
    let folder = Folder::new();
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(3));
    let spec = format!("pcap:in={}", folder.text("a.pcap"))
        .parse()
        .unwrap();
    let mut port = port::open(&spec, PortId(7), &OpenContext::default()).unwrap();
    assert_eq!(
        (port.id(), port.queues_max(), port.lossless()),
        (PortId(7), 1, true)
    );
    assert_eq!((port.rx_source(), port.tx_sink()), (true, false));
    assert_eq!(port.mode(), "pcap (nanosecond, Ethernet)");
    let mut queue = port.open_queue(QueueId(0), 1).unwrap();
    let again = port.open_queue(QueueId(0), 1).err().unwrap();
    assert_eq!(again.kind(), PortErrorKind::Queue);
    let (mut pool, mut burst) = (pool(), Burst::new());
    assert_eq!(queue.rx_burst(&mut pool, &mut burst, 10), RxState::Ended);
    for (frame, expected) in burst.frames().iter().zip(frames(3)) {
        let meta = frame.meta().unwrap();
        assert_eq!((meta.time_ns, meta.original_len), (expected.0, expected.1));
        assert_eq!((meta.port, meta.queue), (PortId(7), QueueId(0)));
    }
    // It is no sink: what it is sent stays with the sender.
    queue.tx_burst(&mut burst, &mut pool);
    assert_eq!(burst.len(), 3);
    pool.free_burst(&mut burst);
    assert_eq!(pool.free_count(), pool.total());
}

#[test]
fn one_port_reads_and_writes() {
    let folder = Folder::new();
    write_capture(&folder.file("a.pcap"), Format::PcapMicro, &frames(100));
    let (input, output) = (folder.text("a.pcap"), folder.text("b.pcap"));
    let text = format!("pcap:in={input},out={output}");
    let mut port = open(&text, &OpenContext::default()).unwrap();
    assert_eq!(
        port.mode(),
        "pcap (microsecond, Ethernet), writes pcap (nanosecond)"
    );
    assert!(port.rx_source() && port.tx_sink());
    let mut queue = port.open_queue(QueueId(0), 1).unwrap();
    let (mut pool, mut burst) = (pool(), Burst::new());
    while queue.rx_burst(&mut pool, &mut burst, 32) == RxState::Open || !burst.is_empty() {
        queue.tx_burst(&mut burst, &mut pool);
    }
    queue.finish().unwrap();
    assert_eq!(
        read_capture(&folder.file("b.pcap")),
        read_capture(&folder.file("a.pcap"))
    );
}

#[test]
fn a_capture_is_read_as_often_as_asked() {
    let folder = Folder::new();
    let sent = frames(700);
    for name in ["a.pcap", "a.pcapng", "a.pcap.gz"] {
        if name.ends_with("gz") {
            let bytes = std::fs::read(folder.file("a.pcap")).unwrap();
            let file = std::fs::File::create(folder.file(name)).unwrap();
            let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            gzip.write_all(&bytes).unwrap();
            gzip.finish().unwrap();
        } else {
            let format = if name == "a.pcap" {
                Format::Pcap
            } else {
                Format::Pcapng
            };
            write_capture(&folder.file(name), format, &sent);
        }
        let input = format!("pcap:in={},loop=3", folder.text(name));
        let output = format!("pcap:out={}", folder.text("b.pcap"));
        let moved = run(&input, &output, &OpenContext::default());
        assert_eq!(moved.rx.rx_frames, 2_100);
        let read = read_capture(&folder.file("b.pcap"));
        let lasts = sent[699].0 - sent[0].0;
        for (turn, round) in read.chunks(700).zip(0..) {
            let later = |frame: &Owned| (frame.0 + round * lasts, frame.1, frame.2.clone());
            let wanted: Vec<Owned> = sent.iter().map(later).collect();
            assert_eq!(turn, wanted, "{name}, round {round}");
        }
    }
}

/// Times of a capture that is read three times: what `loop=` adds never sets them back.
#[test]
fn times_never_go_back_because_of_a_loop() {
    let folder = Folder::new();
    for (what, times, wanted) in [
        (
            "in order",
            &[5, 7, 9][..],
            &[5, 7, 9, 9, 11, 13, 13, 15, 17][..],
        ),
        ("one frame", &[7], &[7, 7, 7]),
        ("the same time", &[7, 7], &[7, 7, 7, 7, 7, 7]),
        ("from 0", &[0, 2], &[0, 2, 2, 4, 4, 6]),
        ("no time", &[0, 0], &[0; 6]),
        (
            "its own clock goes back",
            &[5, 9, 3, 7],
            &[5, 9, 3, 7, 9, 13, 7, 11, 13, 17, 11, 15],
        ),
        (
            "a frame without a time",
            &[5, 0, 9],
            &[5, 0, 9, 9, 0, 13, 13, 0, 17],
        ),
    ] {
        let frames: Vec<Owned> = times.iter().map(|&time| (time, 60, vec![1; 60])).collect();
        write_capture(&folder.file("a.pcap"), Format::Pcap, &frames);
        let input = format!("pcap:in={},loop=3", folder.text("a.pcap"));
        let output = format!("pcap:out={}", folder.text("b.pcap"));
        run(&input, &output, &OpenContext::default());
        let read = read_capture(&folder.file("b.pcap"));
        let read: Vec<u64> = read.iter().map(|frame| frame.0).collect();
        assert_eq!(read, wanted, "{what}");
    }
}

/// Frames that were cut within their addresses are told where they are looked up, and there only.
#[test]
fn addresses_that_were_cut_off_are_told_where_lists_are_asked() {
    let folder = Folder::new();
    let ethernet = |ether_type: [u8; 2]| [&[2; 12][..], &ether_type].concat();
    let ipv4 = |len, protocol| {
        let head = [0x45, 0, 0, len, 0, 0, 0, 0, 64, protocol, 0, 0];
        [&head[..], &[192, 0, 2, 1, 192, 0, 2, 2]].concat()
    };
    let ipip = [ethernet([8, 0]), ipv4(80, 4), ipv4(60, 17), vec![0; 40]].concat();
    let ipv6_head = [0x60, 0, 0, 0, 0, 40, 17, 64];
    let ipv6 = [ethernet([0x86, 0xdd]), ipv6_head.to_vec(), vec![1; 72]].concat();
    let arp = [ethernet([8, 6]), vec![0; 80]].concat();
    for (what, frame, len, told) in [
        ("within Ethernet", &ipip, 13, true),
        ("before IPv4", &ipip, 14, true),
        ("before the source", &ipip, 26, true),
        ("before the destination", &ipip, 30, true),
        ("before the packet inside", &ipip, 34, true),
        ("within addresses inside", &ipip, 53, true),
        ("behind addresses inside", &ipip, 54, false),
        ("not at all", &ipip, 94, false),
        ("within IPv6", &ipv6, 40, true),
        ("behind addresses of IPv6", &ipv6, 54, false),
        ("an ARP", &arp, 20, false),
    ] {
        let cut = vec![(1, frame.len() as u32, frame[..len].to_vec())];
        write_capture(&folder.file("a.pcap"), Format::Pcap, &cut);
        for looks_up in [true, false] {
            let context = OpenContext {
                looks_up,
                ..OpenContext::default()
            };
            let moved = run(
                &format!("pcap:in={}", folder.text("a.pcap")),
                "null:",
                &context,
            );
            let warnings = moved.rx_end.expect("an end").join("\n");
            let said =
                warnings.contains("1 frames of") && warnings.contains("within their addresses");
            assert_eq!(said, told && looks_up, "{what}: {warnings}");
        }
    }
}

#[test]
fn for_ever_goes_on_and_an_empty_capture_ends_all_the_same() {
    let folder = Folder::new();
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(3));
    write_capture(&folder.file("empty.pcap"), Format::Pcap, &[]);
    let (mut pool, mut burst) = (pool(), Burst::new());
    let context = OpenContext::default();
    let mut queue = open_queue(
        &format!("pcap:in={},loop=forever", folder.text("a.pcap")),
        &context,
    );
    // A burst ends with a round.
    for round in 1..=60 {
        assert_eq!(queue.rx_burst(&mut pool, &mut burst, 200), RxState::Open);
        assert_eq!(burst.len(), 3 * round);
    }
    pool.free_burst(&mut burst);
    let empty = format!("pcap:in={},loop=forever", folder.text("empty.pcap"));
    let mut queue = open_queue(&empty, &context);
    assert_eq!(queue.rx_burst(&mut pool, &mut burst, 200), RxState::Ended);
    assert!(burst.is_empty());
}

#[test]
fn a_cut_capture_is_moved_as_far_as_it_goes() {
    let folder = Folder::new();
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(100));
    let bytes = std::fs::read(folder.file("a.pcap")).unwrap();
    std::fs::write(folder.file("cut.pcap"), &bytes[..bytes.len() - 1]).unwrap();
    let input = format!("pcap:in={}", folder.text("cut.pcap"));
    let moved = run(&input, "null:", &OpenContext::default());
    assert_eq!(moved.tx.tx_frames, 99);
    let error = moved.rx_end.unwrap_err();
    assert_eq!(error.kind(), PortErrorKind::Read);
    let sentence = error.to_string();
    assert!(sentence.contains("cut.pcap is cut off") && sentence.contains("99 frames"));
}

#[test]
fn frames_longer_than_a_chunk_are_missed_and_the_hint_says_so_before() {
    let folder = Folder::new();
    let mut sent = frames(10);
    sent[4].2 = vec![4; 9_000];
    sent[6].2 = vec![6; 65_535];
    sent[8].2 = vec![8; 1_792];
    for format in [Format::Pcap, Format::Pcapng] {
        write_capture(&folder.file("a.pcap"), format, &sent);
        let text = format!("pcap:in={}", folder.text("a.pcap"));
        let hint = open(&text, &OpenContext::default())
            .unwrap()
            .frame_bytes_max_hint();
        assert_eq!(hint, 65_535);
        let moved = run(&text, "null:", &OpenContext::default());
        assert_eq!((moved.rx.rx_frames, moved.rx.missed), (8, 2));
        let warnings = moved.rx_end.unwrap();
        assert!(warnings[0].contains("2 frames") && warnings[0].contains("the longest 65535"));
    }
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(10));
    let text = format!("pcap:in={}", folder.text("a.pcap"));
    assert_eq!(
        open(&text, &OpenContext::default())
            .unwrap()
            .frame_bytes_max_hint(),
        69
    );
}

#[test]
fn no_input_is_overwritten_by_whatever_name() {
    let folder = Folder::new();
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(10));
    std::fs::hard_link(folder.file("a.pcap"), folder.file("hard.pcap")).unwrap();
    std::os::unix::fs::symlink(folder.file("a.pcap"), folder.file("soft.pcap")).unwrap();
    let input = format!("pcap:in={}", folder.text("a.pcap"));
    for name in ["a.pcap", "hard.pcap", "soft.pcap"] {
        let output = folder.text(name);
        let one = open(&format!("{input},out={output}"), &OpenContext::default())
            .err()
            .unwrap();
        assert_eq!(one.kind(), PortErrorKind::SameFile);
        assert!(
            one.to_string()
                .contains("would overwrite what this run reads"),
            "{one}"
        );
        // Two ports of one run, in either order.
        let context = OpenContext::default();
        let _reading = open(&input, &context).unwrap();
        assert!(open(&format!("pcap:out={output}"), &context).is_err());
        let context = OpenContext::default();
        let _writing = open(&format!("pcap:out={output}"), &context).unwrap();
        assert!(open(&input, &context).is_err());
        assert!(
            open(&format!("pcap:out={output}"), &context).is_err(),
            "written twice"
        );
    }
    assert_eq!(
        read_capture(&folder.file("a.pcap")),
        frames(10),
        "and nothing was harmed"
    );
}

#[test]
fn an_older_output_is_replaced_as_a_whole() {
    let folder = Folder::new();
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(3));
    write_capture(&folder.file("b.pcap"), Format::Pcap, &frames(3_000));
    let (input, output) = (folder.text("a.pcap"), folder.text("b.pcap"));
    let context = OpenContext::default();
    run(
        &format!("pcap:in={input}"),
        &format!("pcap:out={output}"),
        &context,
    );
    assert_eq!(read_capture(&folder.file("b.pcap")), frames(3));
}

#[test]
fn a_full_disk_is_told_and_ends_the_work() {
    let folder = Folder::new();
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(5_000));
    let input = format!("pcap:in={},loop=forever", folder.text("a.pcap"));
    let moved = run(&input, "pcap:out=/dev/full", &OpenContext::default());
    let error = moved.tx_end.unwrap_err();
    assert_eq!(error.kind(), PortErrorKind::Write);
    let sentence = error.to_string();
    assert!(
        sentence.contains("/dev/full") && sentence.contains("make room"),
        "{sentence}"
    );
    // Few frames: the error comes at the end, and still comes.
    let input = format!("pcap:in={}", folder.text("a.pcap"));
    let moved = run(
        &input,
        "pcap:out=/dev/full,format=pcapng",
        &OpenContext::default(),
    );
    assert!(moved.tx_end.is_err());
}

#[test]
fn what_cannot_be_opened_is_named_with_a_remedy() {
    let folder = Folder::new();
    std::fs::write(folder.file("notes.txt"), "no capture at all").unwrap();
    let error = |text: &str| {
        open(text, &OpenContext::default())
            .err()
            .unwrap()
            .to_string()
    };
    let missing = error("pcap:in=/nowhere/a.pcap");
    assert!(missing.contains("cannot read /nowhere/a.pcap") && missing.contains("check the path"));
    assert!(error("pcap:out=/nowhere/a.pcap").contains("cannot write /nowhere/a.pcap"));
    assert!(error("pcap:in=/").contains("name a file"));
    let notes = error(&format!("pcap:in={}", folder.text("notes.txt")));
    assert!(notes.contains("is no capture that can be read"), "{notes}");
    assert!(error("pcap:in=/dev/null").contains("is empty"));
}

#[test]
fn generated_frames_get_the_start_of_the_run() {
    let folder = Folder::new();
    let context = OpenContext {
        start_time_ns: 1_234_567_890,
        ..OpenContext::default()
    };
    let output = format!("pcap:out={}", folder.text("b.pcap"));
    run("gen:frames=10", &output, &context);
    let read = read_capture(&folder.file("b.pcap"));
    assert_eq!(read.len(), 10);
    assert!(
        read.iter()
            .all(|frame| (frame.0, frame.1) == (1_234_567_890, 60))
    );
}

/// A pipe gives what it has and does not make the worker wait; both ends see its end.
#[test]
fn pipes_do_not_make_a_worker_wait() {
    let folder = Folder::new();
    let fifo = folder.file("fifo");
    let made = Command::new("mkfifo")
        .arg(&fifo)
        .stderr(Stdio::null())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: no mkfifo here");
        return;
    }
    write_capture(&folder.file("a.pcap"), Format::Pcap, &frames(20));
    let bytes = std::fs::read(folder.file("a.pcap")).unwrap();
    let (said, hear) = std::sync::mpsc::channel::<()>();
    let path = fifo.clone();
    let writer = std::thread::spawn(move || {
        let mut pipe = std::fs::File::create(path).unwrap();
        pipe.write_all(&bytes[..24 + 16 + 60 + 5]).unwrap(); // one frame and a piece
        hear.recv().unwrap();
        pipe.write_all(&bytes[24 + 16 + 60 + 5..]).unwrap();
    });
    let mut queue = open_queue(
        &format!("pcap:in={}", fifo.display()),
        &OpenContext::default(),
    );
    let (mut pool, mut burst) = (pool(), Burst::new());
    while burst.is_empty() {
        assert_eq!(queue.rx_burst(&mut pool, &mut burst, 32), RxState::Open);
    }
    assert_eq!((burst.len(), pool.free_count()), (1, pool.total() - 1));
    assert_eq!(queue.rx_burst(&mut pool, &mut burst, 32), RxState::Open); // and does not hang
    said.send(()).unwrap();
    while queue.rx_burst(&mut pool, &mut burst, 32) == RxState::Open {}
    writer.join().unwrap();
    let times: Vec<u64> = burst
        .frames()
        .iter()
        .map(|frame| frame.meta().unwrap().time_ns)
        .collect();
    assert_eq!(
        times,
        frames(20).iter().map(|frame| frame.0).collect::<Vec<_>>()
    );
    pool.free_burst(&mut burst);
    // A pipe cannot be read twice, and it is said before anything runs.
    let text = format!("pcap:in={},loop=2", fifo.display());
    let path = fifo.clone();
    let header = std::fs::read(folder.file("a.pcap")).unwrap();
    let writer = std::thread::spawn(move || {
        let _ = std::fs::File::create(path).unwrap().write_all(&header);
    });
    let error = open(&text, &OpenContext::default())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("no file that can be read again"), "{error}");
    writer.join().unwrap();
}

#[test]
fn faults_and_taps_stand_between_port_and_worker() {
    use port::{FaultPlan, Faults, Faulty, Share, Tap, pcap::CaptureWriter};
    let folder = Folder::new();
    let tap_file = std::fs::File::create(folder.file("tap.pcap")).unwrap();
    let writer = CaptureWriter::new("tap.pcap", Box::new(tap_file), Format::Pcap);
    let faults = Faults {
        loss: Share::new(0.5).unwrap(),
        ..Faults::default()
    };
    let plan = FaultPlan {
        rx: faults,
        seed: 9,
        ..FaultPlan::default()
    };
    let context = OpenContext::default();
    // Worker <- tap <- faults <- generator: the tap sees what the worker sees.
    let faulty = Faulty::new(open_queue("gen:frames=1000", &context), &plan);
    let mut input = Tap::new(faulty, writer, 0);
    let mut output = open_queue("null:", &context);
    let moved = move_all(&mut input, output.as_mut());
    assert_eq!(moved.rx.rx_frames + moved.rx.missed, 1_000);
    assert!((400..600).contains(&moved.rx.missed));
    assert_eq!(
        read_capture(&folder.file("tap.pcap")).len() as u64,
        moved.rx.rx_frames
    );
}
