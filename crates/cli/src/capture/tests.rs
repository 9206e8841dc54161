//! What is written, read by tshark and by a JSON parser; receivers that are slow or gone.

use std::io::{self, Write};
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::sync::mpsc::{self, Receiver};

use daemon::capture::{CapturedFrame, CapturedSet, HexBytes};
use serde_json::Value;

use super::destination;
use super::entries::Entries;
use super::line::JsonLines;
use super::pcapng::Pcapng;
use super::writer::{Format, Writer};

/// UDP from 192.0.2.1:1000 to 198.51.100.2:53 in VLAN 42, 4 bytes of payload.
fn udp() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0x20, 42, 8, 0];
    frame.extend([0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend([192, 0, 2, 1, 198, 51, 100, 2]);
    frame.extend([3, 232, 0, 53, 0, 12, 0, 0, 1, 2, 3, 4]);
    frame
}

fn dropped() -> CapturedFrame {
    CapturedFrame {
        time_ns: 1_700_000_000_123_456_789,
        port: "left".to_owned(),
        reason: Some("blocked_src".to_owned()),
        sets: vec![CapturedSet {
            set: "spamhaus".to_owned(),
            side: "src".to_owned(),
            action: "block".to_owned(),
        }],
        stands_for: 12,
        original_len: udp().len() as u32,
        bytes: HexBytes(udp()),
    }
}

fn forwarded() -> CapturedFrame {
    CapturedFrame {
        port: "right".to_owned(),
        reason: None,
        stands_for: 1,
        original_len: 1_000,
        ..dropped()
    }
}

fn written(format: &mut dyn Format) -> Vec<u8> {
    let mut out = Vec::new();
    format.begin(&mut out);
    format.sample(&dropped(), &mut out);
    format.sample(&forwarded(), &mut out);
    out
}

#[test]
fn tshark_reads_the_capture_and_its_comments() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("drops.pcapng");
    std::fs::write(&path, written(&mut Pcapng::new(1536))).expect("a file");
    let mut tshark = Command::new("tshark");
    tshark
        .arg("-r")
        .arg(&path)
        .args(["-T", "fields", "-E", "separator=|"]);
    for field in [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.len",
        "frame.cap_len",
        "ip.src",
        "udp.dstport",
        "frame.comment",
    ] {
        tshark.args(["-e", field]);
    }
    let Ok(output) = tshark.output() else {
        eprintln!("skipped: no tshark here");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().collect();
    let dropped = "1700000000.123456789|left|50|50|192.0.2.1|53|\
                   dropped: blocked_src; set spamhaus (src, block); stands for 12 frames";
    let forwarded = "1700000000.123456789|right|1000|50|192.0.2.1|53|\
                     forwarded; set spamhaus (src, block)";
    assert_eq!(lines, [dropped, forwarded], "{complaints}");
}

#[test]
fn lines_are_json() {
    let text = written(&mut JsonLines::new(Entries::none()));
    let text = String::from_utf8(text).expect("text");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 2);
    let expected = serde_json::json!({
        "time": "2023-11-14T22:13:20.123456789Z",
        "port": "left",
        "verdict": "drop",
        "reason": "blocked_src",
        "src": "192.0.2.1",
        "dst": "198.51.100.2",
        "protocol": 17,
        "src_port": 1000,
        "dst_port": 53,
        "vlan": 42,
        "length": 50,
        "sets": [{"set": "spamhaus", "side": "src", "action": "block"}],
        "stands_for": 12,
    });
    assert_eq!(lines[0], expected);
    assert_eq!(lines[1]["verdict"], "forward");
    assert!(lines[1].get("reason").is_none());
}

#[test]
fn names_choose_the_format() {
    for (file, lines) in [
        ("a.pcapng", false),
        ("-", false),
        ("a.json", true),
        ("a.jsonl", true),
        ("unix:x", true),
        ("syslog:", true),
    ] {
        assert_eq!(destination::takes_lines(file), lines, "{file}");
    }
}

#[test]
fn a_log_gets_a_message_a_sample() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("log");
    let log = UnixDatagram::bind(&path).expect("a socket");
    for (scheme, head) in [("syslog:", "<134>linerate["), ("unix:", "{\"time\"")] {
        let name = format!("{scheme}{}", path.display());
        let to = destination::open(&name, "JSON").expect("a destination");
        let writer = Writer::start(Box::new(JsonLines::new(Entries::none())), to);
        let writer = writer.expect("a writer");
        writer.give(dropped());
        writer.give(forwarded());
        assert_eq!(writer.finish().expect("written").samples, 2);
        for _ in 0..2 {
            let mut message = [0; 4096];
            let len = log.recv(&mut message).expect("a message");
            let text = String::from_utf8_lossy(&message[..len]);
            assert!(text.starts_with(head) && text.ends_with('}'), "{text}");
        }
    }
}

/// Writes when it is told to.
struct Gate(Receiver<()>, Vec<u8>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // When nobody tells any more, all goes through.
        let _ = self.0.recv();
        self.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_slow_receiver_loses_samples_and_no_frame_goes_uncounted() {
    let (open, gate) = mpsc::channel();
    let format = Box::new(Pcapng::new(1536));
    let writer = Writer::start(format, Box::new(Gate(gate, Vec::new()))).expect("a writer");
    for _ in 0..5_000 {
        writer.give(dropped());
    }
    drop(open);
    // One that goes through takes along what those before it stood for.
    let mut given = 5_000;
    while writer.owes() {
        writer.give(dropped());
        given += 1;
        std::thread::yield_now();
    }
    let tally = writer.finish().expect("written");
    assert!(tally.lost > 3_000, "{tally:?}");
    assert_eq!(tally.samples + tally.lost, given);
    assert_eq!(tally.frames, given * 12);
}

/// Takes nothing.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_went_away_is_no_fault_and_a_full_disk_is() {
    let write_to = |kind| {
        let to = Box::new(Broken(kind));
        let writer = Writer::start(Box::new(Pcapng::new(64)), to).expect("a writer");
        while !writer.has_ended() {
            writer.give(dropped());
            std::thread::yield_now();
        }
        writer.finish()
    };
    assert!(write_to(io::ErrorKind::BrokenPipe).is_ok());
    assert!(write_to(io::ErrorKind::StorageFull).is_err());
}
