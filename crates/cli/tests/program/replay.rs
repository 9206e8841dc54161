//! `linerate gen --replay`: captures sent again, and those that cannot be.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::drive::{FILE_HEADER, RECORD, capture, report};
use crate::{Place, Ran};

#[test]
fn a_capture_is_replayed_as_it_is() {
    let place = Place::new();
    capture(&place);
    let words = "gen pcap:out=b.pcap --replay a.pcap --speed max";
    let said = report(&place, words, 0);
    assert_eq!(said["sent"]["frames"], 1000, "{said}");
    assert_eq!(said["frames"]["rx"], 1000);
    assert_eq!(said["frames"]["originated"], 0);
    let frames = |file: &str| {
        let bytes = place.read(file);
        let records = bytes[FILE_HEADER..].chunks(RECORD);
        records
            .map(|record| record[16..].to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(frames("a.pcap"), frames("b.pcap"));
    let said = report(
        &place,
        "gen ring:x --sink ring:x --replay a.pcap --speed 1000000x",
        0,
    );
    assert_eq!(said["sent"]["frames"], 1000, "{said}");
    assert!(said["sent"]["pacing"]["late_max_ns"].is_u64(), "{said}");
}

#[test]
fn a_replay_is_repeated_as_the_help_says() {
    let place = Place::new();
    capture(&place);
    for (loops, frames) in [("", 1000), (",loop=1", 1000), (",loop=3", 3000)] {
        let words = format!("gen null: --replay a.pcap{loops} --speed max");
        let said = report(&place, &words, 0);
        assert_eq!(said["sent"]["frames"], frames, "{said}");
    }
    for loops in [",loop=0", ",loop=x", ",loop="] {
        let ran = place.run(&format!("gen null: --replay a.pcap{loops}"));
        assert!(ran.ended(2).stderr.contains("loop="));
    }
    std::fs::copy(place.path("a.pcap"), place.path("a,b:c.pcap")).expect("a copy");
    let said = report(
        &place,
        "gen null: --replay a,b:c.pcap,loop=2 --speed max",
        0,
    );
    assert_eq!(said["sent"]["frames"], 2000, "{said}");
}

#[test]
fn a_capture_with_fewer_frames_than_were_asked_for_is_no_result() {
    let place = Place::new();
    place.write("three.pcap", snapped(&[(60, 60), (60, 60), (60, 60)]));
    // Options, frames sent, exit code.
    for (options, frames, code) in [
        ("three.pcap --count 2", 2, 0),
        ("three.pcap --count 3", 3, 0),
        ("three.pcap --count 4", 3, 1),
        ("three.pcap --count 1000000", 3, 1),
        ("three.pcap,loop=2 --count 6", 6, 0),
        ("three.pcap,loop=2 --count 7", 6, 1),
        ("three.pcap,loop=forever --count 700", 700, 0),
        ("three.pcap", 3, 0),
    ] {
        for speed in ["max", "1x"] {
            let words = format!("gen null: --replay {options} --speed {speed}");
            let said = report(&place, &words, code);
            assert_eq!(said["sent"]["frames"], frames, "{words}: {said}");
            let why = said["no_result"].as_str().unwrap_or_default();
            assert_eq!(why.contains("loop=N"), code == 1, "{words}: {said}");
        }
    }
}

#[test]
fn a_pause_of_a_capture_is_told() {
    let place = Place::new();
    let mut frames = snapped(&[(60, 60), (60, 60)]);
    let second = FILE_HEADER + RECORD;
    let seconds = u32::from_le_bytes(frames[second..second + 4].try_into().expect("four bytes"));
    frames[second..second + 4].copy_from_slice(&(seconds + 65_536).to_le_bytes());
    place.write("gap.pcap", frames);
    let ran = place.run("gen null: --replay gap.pcap --duration 2s");
    let told = ran.ended(0).stderr;
    assert!(
        told.contains("its next frame is due in 18 h 12 min"),
        "{told}"
    );
}

/// Ten frames, a tenth of a second from each other.
fn paced() -> Vec<u8> {
    let mut bytes = snapped(&[])[..FILE_HEADER].to_vec();
    for number in 0..10 {
        for word in [9, number * 100_000, 60, 60] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes.extend([7; 60]);
    }
    bytes
}

#[test]
fn what_a_replay_was_asked_for_is_said() {
    let place = Place::new();
    place.write("paced.pcap", paced());
    for (options, said, not) in [
        ("--speed 10x", "pace of the capture", "as the port takes"),
        (
            "--speed max",
            "as much as the port takes",
            "pace of the capture",
        ),
        (
            "--speed max --rate 100pps",
            "Asked for 100pps",
            "pace of the capture",
        ),
    ] {
        let words = format!("gen null: --replay paced.pcap {options} --count 10");
        let ran = place.run(&words);
        let told = ran.text().split_whitespace().collect::<Vec<_>>().join(" ");
        let asked = told.split("Asked for").nth(1).unwrap_or_default();
        let asked = format!("Asked for{}", asked.split('.').next().unwrap_or_default());
        assert!(
            asked.contains(said) && !asked.contains(not),
            "{words}: {told}"
        );
    }
}

/// A worker that stood still does not catch up: the pace is missed by as much, and no result.
#[test]
fn a_replay_that_was_held_up_has_no_result() {
    let place = Place::new();
    place.write("paced.pcap", paced());
    let words = "gen null: --replay paced.pcap --json -q";
    let child = place.command(words).spawn().expect("it starts");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = |signal| kill_process(pid.expect("a process"), signal).expect("a signal");
    sleep(Duration::from_millis(400));
    signal(Signal::STOP);
    sleep(Duration::from_secs(1));
    signal(Signal::CONT);
    let ran = Ran::of(child.wait_with_output().expect("it ends")).ended(1);
    let said = ran.json();
    let why = said["no_result"].as_str().unwrap_or_default();
    assert!(
        why.starts_with("the pace of the capture was not kept"),
        "{said}"
    );
    assert!(said["sent"]["lag_ns"].as_u64() > Some(50_000_000), "{said}");
    assert_eq!(said["sent"]["frames"], 10, "{said}");
}

/// A replay goes on behind a clock that was set, at its own pace, and says how often it was.
#[test]
fn a_clock_that_steps_back_is_told_and_pauses_go_on() {
    let place = Place::new();
    for (what, seconds, told, back) in [
        ("once", &[9, 2][..], "back 1 time", 1),
        ("often", &[9, 8, 7, 6], "back 3 times", 3),
        ("by years", &[1_700_000_000, 5], "back 1 time", 1),
        (
            "and ahead",
            &[9, 1_700_000_000, 5],
            "back 1 time and ahead by more than a year 1 time",
            1,
        ),
    ] {
        let mut bytes = snapped(&[(60, 60)])[..FILE_HEADER].to_vec();
        // Two frames a tenth of a second apart at each time.
        for (&second, micros) in seconds
            .iter()
            .flat_map(|second| [(second, 0), (second, 100_000)])
        {
            for word in [second, micros, 60, 60] {
                bytes.extend(u32::to_le_bytes(word));
            }
            bytes.extend([7; 60]);
        }
        place.write("steps.pcap", bytes);
        let ran = place.run("gen null: --replay steps.pcap --json");
        let said = ran.json();
        // A busy machine may not keep the pace, which this is not about; nothing else may be wrong.
        let late = said["no_result"].as_str();
        let pace = |why: &str| why.starts_with("the pace of the capture was not kept");
        assert!(late.is_none_or(pace), "{what}: {said}");
        let ran = ran.ended(i32::from(late.is_some()));
        assert_eq!(
            said["sent"]["pacing"]["clock_steps_back"], back,
            "{what}: {said}"
        );
        let pauses = seconds.len() as f64 * 0.1;
        let took = said["seconds"].as_f64().expect("seconds");
        assert!((pauses..pauses + 2.0).contains(&took), "{what}: {took}");
        assert!(ran.stderr.contains(told), "{what}: {}", ran.stderr);
        let flat_out = place
            .run("gen null: --replay steps.pcap --speed max")
            .ended(0);
        assert!(!flat_out.stderr.contains("clock of the capture"), "{what}");
    }
}

#[test]
fn a_capture_without_a_frame_is_why_nothing_was_sent() {
    let place = Place::new();
    place.write("none.pcap", &snapped(&[])[..]);
    place.write("wireless.pcap", {
        let mut bytes = snapped(&[(60, 60)]);
        bytes[20] = 105;
        bytes
    });
    for words in ["gen null: --replay none.pcap", "sink pcap:in=none.pcap"] {
        let ran = place.run(words).ended(1);
        let told = ran.text();
        assert!(
            told.contains("NO RESULT") && told.contains("it has 0 records"),
            "{told}"
        );
        assert!(!told.contains("the port's states"), "{told}");
    }
    let bridged = place.run("bridge pcap:in=none.pcap null:").ended(0).stderr;
    assert!(
        bridged.contains("none.pcap holds no frames: it has 0 records"),
        "{bridged}"
    );
    let refused = place
        .run("gen null: --replay wireless.pcap")
        .ended(2)
        .stderr;
    assert!(refused.contains("802.11"), "{refused}");
}

/// A capture of frames with (bytes kept, bytes there were).
fn snapped(frames: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (number, &(kept, whole)) in (0_u32..).zip(frames) {
        for word in [1, number, kept, whole] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(vec![7; kept as usize]);
    }
    bytes
}

#[test]
fn frames_that_a_capture_cut_are_told_whatever_its_name() {
    let place = Place::new();
    let name = "office,monday=1.pcap";
    place.write(name, snapped(&[(60, 60), (40, 1500), (64, 64), (14, 60)]));
    let ran = place.run(&format!("gen null: --replay {name} --speed max --json"));
    let ran = ran.ended(0);
    assert_eq!(ran.json()["sent"]["frames"], 4);
    assert!(
        ran.stderr
            .contains("2 frames were cut when they were recorded"),
        "{}",
        ran.stderr
    );
    place.write("whole.pcap", snapped(&[(60, 60)]));
    let whole = place
        .run("gen null: --replay whole.pcap --speed max --json")
        .ended(0);
    assert!(whole.complaints().is_empty(), "{}", whole.stderr);
}

/// Each ends by itself, with books that balance and a sentence where something is wrong.
#[test]
fn odd_captures_end_well() {
    let place = Place::new();
    let mut lies = snapped(&[(60, 60)]);
    lies.extend([0xFF; 40]);
    let cut = snapped(&[(60, 60), (60, 60)]);
    let cases = [
        ("none.pcap", snapped(&[]), 1, 0, ""),
        ("zero.pcap", snapped(&[(0, 0), (60, 60)]), 0, 2, ""),
        ("jumbo.pcap", snapped(&[(9000, 9000)]), 0, 1, ""),
        ("lies.pcap", lies, 1, 1, "damaged"),
        ("cut.pcap", cut[..cut.len() - 3].to_vec(), 1, 1, "cut off"),
    ];
    for (name, bytes, code, frames, told) in cases {
        place.write(name, bytes);
        for speed in ["max", "original"] {
            let words = format!("gen null: --replay {name} --speed {speed} --json");
            let ran = place.run(&words).ended(code);
            let report = ran.json();
            assert_eq!(report["sent"]["frames"], frames, "{name}: {report}");
            assert_eq!(report["balanced"], true, "{name}: {report}");
            assert_eq!(report["ledger"]["closes"], true, "{name}: {report}");
            assert!(ran.stderr.contains(told), "{name}: {}", ran.stderr);
        }
    }
}
