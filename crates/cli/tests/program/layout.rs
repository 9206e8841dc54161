//! `linerate layout`: arithmetic on addresses, and programs with a planted cause.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use super::{Place, Ran};

/// A difference that a judge's own timing must show before the program is asked to find it.
const SHOWN: f64 = 1.1;

/// Sets used, most lines in one and lines beyond the ways, of caches that are given.
#[test]
fn check_computes() {
    let place = Place::new();
    for (words, code, l1, l2_crowded, aliases) in [
        ("0:64:512", 0, [64, 8, 0], false, [512, 0]),
        ("0:2048:512", 1, [2, 256, 496], true, [512, 512]),
        ("0:2112:512", 0, [64, 8, 0], false, [512, 0]),
        ("0:4K:8", 0, [1, 8, 0], false, [8, 0]),
        ("0:4K:9", 1, [1, 9, 1], false, [9, 0]),
        ("0:1M:14 0x100000:1M:2", 1, [1, 14, 6], true, [16, 16]),
        ("60:4K:4 --bytes 8", 0, [2, 4, 0], false, [4, 0]),
    ] {
        let caches = "--l1 32K/8/64 --l2 512K/8 --l3 32M/16";
        let ran = place.run(&format!("layout check {words} {caches} --json"));
        let found = ran.ended(code).json();
        let first = &found["caches"][0];
        let counted = ["sets_used", "lines_a_set_max", "lines_beyond_ways"];
        assert_eq!(
            counted.map(|key| first[key].as_u64()),
            l1.map(Some),
            "{words}"
        );
        assert_eq!(found["caches"][1]["crowded"], l2_crowded, "{words}");
        let shared = [0, 1].map(|at| found["aliases"][at]["objects"].as_u64());
        assert_eq!(shared, aliases.map(Some), "{words}");
    }
}

#[test]
fn check_tells_people() {
    let place = Place::new();
    let caches = "--l1 32K/8/64 --l2 1M/16/64 --l3 32M/16";
    for (words, code, text) in [
        (
            "0:2K:512",
            1,
            "L1: 496 of 512 lines have no room, though all would",
        ),
        (
            "0:64:1024",
            0,
            "L1: 512 of 1,024 lines have no room, however they are spread",
        ),
        ("0:64:512", 0, "L1: all 512 lines have room"),
        (
            "0:64:64",
            0,
            "no two objects lie a multiple of 4.0 KiB apart",
        ),
        (
            "0:2K:32768 --bytes 2K --ddio 2M",
            0,
            "DDIO: 64.0 MiB are touched and 2.0 MiB are there",
        ),
        (
            "0:2K:512 --ddio 2M",
            1,
            "DDIO: the 32.0 KiB that are touched fit into 2.0 MiB",
        ),
    ] {
        let ran = place
            .run(&format!("layout check {words} {caches}"))
            .ended(code);
        assert!(ran.text().contains(text), "{words}: {}", ran.text());
    }
}

/// Each is refused with a reason before anything runs for long.
#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    place.write("script", "#!/bin/sh\necho\n");
    place.write("text", "no program\n");
    for name in ["script", "text"] {
        mode(&place, name, 0o755);
    }
    std::fs::copy("/bin/true", place.path("setuid")).expect("a copy");
    mode(&place, "setuid", 0o4755);
    let mut rows = vec![
        ("layout -- ./none", "there is no program './none'"),
        (
            "layout -- none-of-path",
            "there is no program 'none-of-path'",
        ),
        ("layout -- ./script", "'./script' is a script"),
        ("layout -- ./text", "is no ELF program"),
        (
            "layout -- ./setuid",
            "is setuid, setgid or has capabilities",
        ),
        (
            "layout -- /bin/false",
            "failed (exit status: 1) in run 1: it printed nothing",
        ),
        (
            "layout -- /bin/ls /nonexistent",
            "in run 1: /bin/ls: cannot access",
        ),
        (
            "layout --metric x([0-9]+) -- /bin/true",
            "printed no number that 'x([0-9]+)' finds",
        ),
        (
            "layout --metric x([0-9]+) -- /bin/echo x0",
            "the figure is 0",
        ),
        (
            "layout --metric x -- /bin/true",
            "no parentheses around the number",
        ),
        ("layout --better lower -- /bin/true", "--metric"),
        ("layout --rounds 5 -- /bin/true", "5 is not in 6.."),
        ("layout --from 0 -- /bin/true", "is no size"),
        ("layout --json", "COMMAND"),
        ("layout /bin/true", "unexpected argument '/bin/true'"),
        ("layout check", "BASE:STRIDE:COUNT"),
        ("layout check 1:2", "is no BASE:STRIDE:COUNT"),
        ("layout check 0:64:0", "has 0 addresses"),
        (
            "layout check 0:64:1 --l1 1000/8/64",
            "no whole number of sets",
        ),
        ("layout check 0:64:1 --bytes 0", "is no size"),
        ("layout check 0:64:16M --bytes 1G", "check fewer"),
    ];
    if compile(&place, "neutral", "static", &["-static"]) {
        rows.push(("layout -- ./static", "is statically linked"));
    } else {
        eprintln!("skipped: no static C library here");
    }
    for (words, reason) in rows {
        let ran = place.run(words).ended(2);
        assert!(ran.stderr.contains(reason), "{words}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{words}");
    }
}

#[test]
fn a_figure_that_is_printed_is_measured() {
    let place = Place::new();
    for (better, words) in [("higher", ""), ("lower", "--better lower")] {
        let words =
            format!("layout --only stack --rounds 6 --metric rate.([0-9.]+) {words} --json");
        let found = place
            .run(&format!("{words} -- /bin/echo rate 2.5"))
            .ended(0)
            .json();
        assert_eq!(found["measured"], "figure", "{better}");
        assert_eq!(found["default_median"], 2.5, "{better}");
        assert_eq!(found["neutral"], true, "{better}");
        let speed = &found["layouts"][0]["speed"];
        assert_eq!(speed["median"], 1.0, "{better}");
    }
}

/// What the answer is of is said with it.
#[test]
fn what_was_not_moved_is_named() {
    let place = Place::new();
    place.write("work", "i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done\n");
    place.write("apart", "(. ./work); true\n");
    place.write("replaced", "exec /bin/true\n");
    for (script, said) in [
        ("work", None),
        (
            "apart",
            Some("programs that it starts compute more than it does itself"),
        ),
        ("replaced", Some("time by the clock is measured")),
    ] {
        let words = "layout --only stack --rounds 6 --json -- /bin/sh";
        let found = place.run(&format!("{words} ./{script}")).ended(0).json();
        let findings = found["findings"].as_array().expect("sentences");
        let notes = findings.iter().filter_map(Value::as_str);
        let about = |note: &&str| note.contains("it starts") || note.contains("by the clock");
        let found: Vec<&str> = notes.filter(about).collect();
        assert_eq!(found.is_empty(), said.is_none(), "{script}: {found:?}");
        assert!(
            said.is_none_or(|said| found[0].contains(said)),
            "{script}: {found:?}"
        );
    }
}

/// What the program started ends with it, however that ends.
#[test]
fn nothing_is_left_after_a_signal() {
    let place = Place::new();
    for signal in [Signal::TERM, Signal::KILL] {
        let mut child = place
            .command("layout -- /bin/sleep 1000")
            .spawn()
            .expect("it starts");
        let ours = Pid::from_child(&child);
        let sleep = within(|| {
            let path = format!("/proc/{0}/task/{0}/children", ours.as_raw_nonzero());
            let listed = std::fs::read_to_string(path).ok()?;
            let pid = listed.split_whitespace().next()?.parse().ok()?;
            let words = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            // A moment after it began it is not ours to look at, or has no library yet.
            (!words.is_empty()).then(|| Pid::from_raw(pid))?
        });
        thread::sleep(Duration::from_millis(500));
        kill_process(ours, signal).expect("it runs");
        let status = child.wait().expect("it ends");
        let code = if signal == Signal::TERM {
            Some(1)
        } else {
            None
        };
        assert_eq!(status.code(), code);
        within(|| gone(sleep).then_some(()));
    }
}

/// Whether there is no such process, or it only waits to be asked how it ended.
fn gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

fn within<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < until, "not within 20 s");
        thread::sleep(Duration::from_millis(20));
    }
}

fn mode(place: &Place, name: &str, mode: u32) {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(place.path(name), permissions).expect("a mode");
}

/// Compiles one of the judges; false without a compiler for it.
fn compile(place: &Place, source: &str, name: &str, options: &[&str]) -> bool {
    let source = format!(
        "{}/tests/program/layout/{source}.c",
        env!("CARGO_MANIFEST_DIR")
    );
    let compiler = Command::new("cc")
        .args(["-O1", "-g", "-o"])
        .arg(place.path(name))
        .arg(source)
        .args(options)
        .stderr(Stdio::null())
        .status();
    compiler.is_ok_and(|status| status.success())
}

/// The shortest time of some runs that the program printed itself, microseconds.
fn timed(place: &Place, name: &str, argument: &str) -> f64 {
    let time = |_| {
        let mut command = Command::new(place.path(name));
        let output = command.arg(argument).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let number = text.split_whitespace().nth(1).expect("a number");
        number.parse::<f64>().expect("a number")
    };
    (0..7).map(time).fold(f64::INFINITY, f64::min)
}

/// A program with a planted cause.
struct Judge {
    name: &'static str,
    options: &'static str,
    /// Arguments of which some make it slow, for a timing of its own; none for a neutral program.
    direct: &'static [&'static str],
    /// What must be found.
    is_right: fn(&Value) -> bool,
}

const JUDGES: [Judge; 4] = [
    Judge {
        name: "two_streams",
        options: "--only blocks --rounds 7",
        direct: &["0", "64"],
        is_right: |found| {
            let blame = &found["blame"];
            let mut pair = [&blame["blocks"][0], &blame["partners"][0]].map(Value::as_u64);
            pair.sort_unstable();
            let site = found["blocks"][11]["site"].as_str().unwrap_or_default();
            pair == [Some(11), Some(29)]
                && blame["cause"] == "alias_4k"
                && blame["remedy"]["works"] == true
                && site.starts_with(if addr2line() {
                    "allocate"
                } else {
                    "two_streams+0x"
                })
        },
    },
    Judge {
        name: "one_set",
        options: "--only blocks --rounds 7",
        direct: &["0", "64"],
        is_right: |found| {
            let blame = &found["blame"];
            blame["cause"] == "same_l1_set" && blame["remedy"]["works"] == true
        },
    },
    Judge {
        name: "stack",
        options: "--only stack",
        direct: &["0", "16", "32", "48"],
        is_right: |found| {
            let said = found["findings"].to_string();
            found["neutral"] == false && said.contains("size of the environment decides")
        },
    },
    Judge {
        name: "neutral",
        options: "--rounds 7",
        direct: &[],
        is_right: |found| found["neutral"] == true,
    },
];

fn addr2line() -> bool {
    let asked = Command::new("addr2line")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// So many runs of each judge are made (`LINERATE_LAYOUT_RUNS`, twice as many of neutral programs),
/// of which nine in ten must find the cause, and nineteen in twenty must find none where there is
/// none. Without that, one of two.
#[test]
fn planted_causes_are_found() {
    let runs = std::env::var("LINERATE_LAYOUT_RUNS").ok();
    let runs: Option<usize> = runs.map(|runs| runs.parse().expect("a number"));
    let place = Place::new();
    for judge in &JUDGES {
        if !compile(&place, judge.name, judge.name, &[]) {
            eprintln!("skipped: no C compiler for {}", judge.name);
            continue;
        }
        let shown = shown(&place, judge);
        if shown < SHOWN {
            eprintln!("skipped: {} shows a factor of {shown:.2} here", judge.name);
            continue;
        }
        judged(&place, judge, runs);
    }
}

/// By how much layout changes the time that the judge takes itself.
fn shown(place: &Place, judge: &Judge) -> f64 {
    if judge.direct.is_empty() {
        return f64::INFINITY;
    }
    let times = judge
        .direct
        .iter()
        .map(|argument| timed(place, judge.name, argument));
    let (fast, slow) = times.fold((f64::INFINITY, 0.0), |(fast, slow): (f64, f64), time| {
        (fast.min(time), slow.max(time))
    });
    slow / fast
}

fn judged(place: &Place, judge: &Judge, runs: Option<usize>) {
    let (share, tries) = match (runs, judge.direct.is_empty()) {
        (None, _) => (2, 2),
        (Some(runs), false) => (10, runs),
        (Some(runs), true) => (20, 2 * runs),
    };
    let (mut right, mut wrong) = (0, Vec::new());
    for _ in 0..tries {
        let ran: Ran = place.run(&format!(
            "layout {} --json -- ./{}",
            judge.options, judge.name
        ));
        let found = ran.ended(0).json();
        match (judge.is_right)(&found) {
            true => right += 1,
            false => wrong.push(found["findings"].to_string()),
        }
        if runs.is_none() && right > 0 {
            break;
        }
    }
    println!("{}: {right} right, {} wrong", judge.name, wrong.len());
    let allowed = tries / share;
    assert!(
        right > 0 && wrong.len() <= allowed,
        "{}: {wrong:#?}",
        judge.name
    );
}
