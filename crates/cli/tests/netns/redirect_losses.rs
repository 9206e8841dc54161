//! What is lost behind a redirection is in the books: each way there is, in turn, under traffic.

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Running, Side, await_that};
use crate::drivers::REDIRECT;

/// Places of a veth's ring: what is in it is gone with it.
const RING: u64 = 256;

/// A frame that only the wire looks at, of so many bytes.
fn frame(bytes: usize) -> String {
    let header = "025400000001025300000002 88b6".replace(' ', "");
    format!("{header}{}", "00".repeat(bytes - 14))
}

/// Sends until it is dropped.
fn traffic(bench: &Bench, bytes: usize) -> Running {
    let sender = bench.role(Side::Left, &format!("send l {} 100000000", frame(bytes)));
    let crossed = || bench.counter(Side::Right, "r", "rx", "packets") > 1_000;
    await_that("frames cross", crossed);
    sender
}

/// What the books say of the interface frames were sent to.
struct Accounting {
    sent: u64,
    bytes: u64,
    refused: u64,
}

impl Accounting {
    #[track_caller]
    fn of(report: &Value) -> Self {
        assert_eq!(report["balanced"], true, "{report}");
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        let port = &report["ports"][1];
        Self {
            sent: count(&port["tx_frames"]),
            bytes: count(&port["tx_bytes"]),
            refused: count(&report["frames"]["dropped"]["tx_refused"]),
        }
    }
}

/// Frames that came to the far end, and their bytes.
fn arrived(bench: &Bench) -> (u64, u64) {
    let count = |name| bench.counter(Side::Right, "r", "rx", name);
    (count("packets"), count("bytes"))
}

#[test]
fn what_is_sent_arrives() {
    let Some(bench) = Bench::new() else { return };
    let bridge = REDIRECT.bridge(&bench, "");
    drop(traffic(&bench, 100));
    let books = Accounting::of(&bridge.stop());
    assert_eq!((books.sent, books.bytes), arrived(&bench));
    assert_eq!(books.refused, 0);
}

/// Long and short frames by turns, to an end that takes short ones: the kernel gives up the ones
/// behind the first long one, too, of those that it was given together.
#[test]
fn frames_longer_than_the_far_end_takes() {
    let Some(bench) = Bench::new() else { return };
    bench.expect(Side::Right, "ip link set dev r mtu 1000");
    let bridge = REDIRECT.bridge(&bench, "");
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("frames");
    let mut records = Vec::new();
    for number in 0..2_000_u32 {
        let length = [60, 61, 1_400, 62][number as usize % 4];
        let mut frame = vec![0x02, 0x54, 0, 0, 0, 1, 0x02, 0x53];
        frame.extend(number.to_be_bytes());
        frame.extend([0x88, 0xb6]);
        frame.resize(length, 0);
        records.extend((length as u32).to_be_bytes());
        records.extend(frame);
    }
    std::fs::write(&file, records).expect("a file");
    let passed = crate::verdicts::replayed(&bench, &file.display().to_string());
    let report = bridge.stop();
    let books = Accounting::of(&report);
    // By sockets, as frames leave after a loss, the driver alone knows.
    let unknown = bench.counter(Side::Middle, "b", "tx", "dropped") - books.refused;
    let (frames, bytes) = arrived(&bench);
    assert_eq!(books.sent, frames + unknown, "{report}");
    assert_eq!(books.bytes, bytes + unknown * 1_400, "{report}");
    assert!(books.refused > 0, "{report}");
    assert!(passed.len() > 1_000, "{} of 1,500", passed.len());
    let said = report["warnings"].to_string();
    assert!(
        said.contains("sent by redirection were not taken"),
        "{report}"
    );
}

/// An end that begins to receive elsewhere: frames are taken until its ring is full.
#[test]
fn a_far_end_that_falls_behind() {
    let Some(bench) = Bench::new() else { return };
    let bridge = REDIRECT.bridge(&bench, "");
    let sender = traffic(&bench, 60);
    let threaded = "echo 1 > /sys/class/net/r/threaded";
    let mut threaded = bench
        .command(Side::Right, "sh")
        .args(["-c", threaded])
        .spawn();
    let threaded = threaded
        .as_mut()
        .map(|child| child.wait().expect("its end"));
    if !threaded.is_ok_and(|status| status.success()) {
        println!("skipped: this kernel has no threads to receive in");
        return;
    }
    let before = arrived(&bench).0;
    await_that("frames cross", || arrived(&bench).0 > before + 5_000);
    drop(sender);
    let report = bridge.stop();
    let books = Accounting::of(&report);
    let dropped = bench.counter(Side::Middle, "b", "tx", "dropped");
    let came = || arrived(&bench).0 + dropped >= books.sent + books.refused;
    await_that("the last frames are received", came);
    let (frames, _) = arrived(&bench);
    assert_eq!(books.sent + books.refused, frames + dropped, "{report}");
}

/// The far end changes under traffic; what was in its ring is gone with it, and no more.
#[track_caller]
fn changes(cut: (Side, &str), mend: (Side, &str)) {
    let Some(bench) = Bench::new() else { return };
    let bridge = REDIRECT.bridge(&bench, "");
    let sender = traffic(&bench, 60);
    for _ in 0..3 {
        bench.expect(cut.0, cut.1);
        std::thread::sleep(std::time::Duration::from_millis(300));
        bench.expect(mend.0, mend.1);
        let before = arrived(&bench).0;
        await_that("frames cross again", || arrived(&bench).0 > before + 1_000);
    }
    drop(sender);
    let report = bridge.stop();
    let books = Accounting::of(&report);
    let (frames, _) = arrived(&bench);
    let dropped = bench.counter(Side::Middle, "b", "tx", "dropped");
    let missing = (books.sent).saturating_sub(frames);
    assert!(books.sent >= frames, "{frames} came: {report}");
    assert!(missing <= dropped + 3 * RING, "{frames} came: {report}");
}

#[test]
fn a_far_end_that_ceases_to_receive_in_bursts() {
    changes(
        (Side::Right, "ethtool -K r gro off"),
        (Side::Right, "ethtool -K r gro on"),
    );
}

#[test]
fn a_far_end_that_goes_down() {
    changes(
        (Side::Right, "ip link set dev r down"),
        (Side::Right, "ip link set dev r up"),
    );
}

#[test]
fn an_interface_that_goes_down() {
    changes(
        (Side::Middle, "ip link set dev b down"),
        (Side::Middle, "ip link set dev b up"),
    );
}

#[test]
fn an_interface_that_is_removed() {
    let Some(bench) = Bench::new() else { return };
    let bridge = REDIRECT.bridge(&bench, "");
    let sender = traffic(&bench, 60);
    bench.ip("link del dev b");
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(sender);
    let report = bridge.stop();
    // Whether a run is under way at that moment is chance: refused are the frames of one that is.
    let books = Accounting::of(&report);
    assert!(books.sent > 1_000, "{report}");
}
