//! Captures in, captures out, judged frame by frame by tshark and a Python program that share no
//! code with us (`tests/golden/` at the root of the repository). Skipped, with the reason printed,
//! where tshark or python3 is missing.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A run of `linerate bridge` and how the judge hears of its policy (in the same words).
struct Case {
    name: &'static str,
    capture: &'static str,
    output: &'static str,
    policy: &'static [&'static str],
    /// Arguments that change nothing about what passes.
    extra: &'static [&'static str],
}

const BLOCK: &[&str] = &["--block", "blocked.txt"];

const fn case(name: &'static str, capture: &'static str, policy: &'static [&'static str]) -> Case {
    Case {
        name,
        capture,
        output: "out.pcap",
        policy,
        extra: &[],
    }
}

const CASES: &[Case] = &[
    case("no_policy", "branches.pcap", &[]),
    case("block", "branches.pcap", BLOCK),
    case("block_big_endian_microseconds", "swapped.pcap", BLOCK),
    case("block_pcapng", "branches.pcapng", BLOCK),
    case("block_cut_on_the_wire", "cut.pcap", BLOCK),
    case("block_snapped", "snapped.pcap", BLOCK),
    Case {
        output: "out.pcapng",
        ..case("block_snapped_pcapng", "snapped.pcapng", BLOCK)
    },
    Case {
        output: "out.pcapng",
        ..case("block_pcap_to_pcapng", "cut.pcap", BLOCK)
    },
    case(
        "block_src",
        "branches.pcap",
        &["--block-src", "blocked.txt"],
    ),
    case(
        "block_dst",
        "branches.pcap",
        &["--block-dst", "blocked.txt"],
    ),
    case("count", "branches.pcap", &["--count", "blocked.txt"]),
    case(
        "allow_wins",
        "branches.pcap",
        &["--block", "blocked.txt", "--allow", "allowed.txt"],
    ),
    case(
        "default_drop",
        "branches.pcap",
        &["--allow", "allowed.txt", "--default", "drop"],
    ),
    case(
        "default_drop_snapped",
        "snapped.pcap",
        &["--allow", "allowed.txt", "--default", "drop"],
    ),
    case(
        "non_ip_drop",
        "branches.pcap",
        &["--block", "blocked.txt", "--non-ip", "drop"],
    ),
    case("non_ip_drop_cut", "cut.pcap", &["--non-ip", "drop"]),
    case(
        "malformed_forward",
        "branches.pcap",
        &["--block", "blocked.txt", "--malformed", "forward"],
    ),
    case(
        "malformed_forward_cut",
        "cut.pcap",
        &["--block", "blocked.txt", "--malformed", "forward"],
    ),
    Case {
        extra: &["--burst", "1"],
        ..case("block_burst_1", "branches.pcap", BLOCK)
    },
    Case {
        extra: &["--stride", "9728"],
        ..case("block_jumbo", "jumbo.pcap", BLOCK)
    },
];

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/golden")
        .join(path)
}

/// Whether the outside judges are here; says so when they are not.
fn judges_present() -> bool {
    let answers = |program: &&str| {
        Command::new(program)
            .arg("--version")
            .output()
            .is_ok_and(|done| done.status.success())
    };
    let missing: Vec<_> = ["tshark", "python3"]
        .into_iter()
        .filter(|name| !answers(name))
        .collect();
    if !missing.is_empty() {
        println!(
            "skipped: {} not found (./ci.sh judges installs it)",
            missing.join(" and ")
        );
    }
    missing.is_empty()
}

fn text(output: &Output) -> String {
    let part = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    part(&output.stdout) + &part(&output.stderr)
}

/// Runs the bridge and the judge; the judge's words when something is wrong.
fn run(
    name: &str,
    input: &Path,
    output: &str,
    policy: &[String],
    extra: &[&str],
) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("golden")
        .join(name);
    std::fs::create_dir_all(&folder).expect("a folder for results");
    let (output, report) = (folder.join(output), folder.join("report.json"));
    let bridge = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .arg("bridge")
        .arg(format!("pcap:in={}", input.display()))
        .arg(format!("pcap:out={}", output.display()))
        .args(policy)
        .args(extra)
        // The judges look at outer headers; tunnels have judges of their own.
        .args(["--match", "outer"])
        .arg("--json")
        .output()
        .expect("linerate runs");
    if !bridge.status.success() {
        return Some(format!(
            "{name}: linerate failed: {}\n{}",
            bridge.status,
            text(&bridge)
        ));
    }
    std::fs::write(&report, &bridge.stdout).expect("a report is written");
    let judge = Command::new("python3")
        .arg(golden("judge.py"))
        .arg("--input")
        .arg(input)
        .arg("--output")
        .arg(&output)
        .arg("--report")
        .arg(&report)
        .args(policy)
        .output()
        .expect("the judge runs");
    let wrong = !judge.status.success();
    wrong.then(|| {
        format!(
            "{name}: {}, {}\n{}",
            judge.status,
            input.display(),
            text(&judge)
        )
    })
}

#[test]
fn captures_are_filtered_as_tshark_and_the_judge_say() {
    if !judges_present() {
        return;
    }
    let complaints: Vec<String> = CASES
        .iter()
        .filter_map(|case| {
            let word = |word: &&str| match word.strip_suffix(".txt") {
                Some(_) => golden("lists").join(word).display().to_string(),
                None => (*word).to_owned(),
            };
            let policy: Vec<String> = case.policy.iter().map(word).collect();
            let input = golden("captures").join(case.capture);
            run(case.name, &input, case.output, &policy, case.extra)
        })
        .collect();
    assert!(
        complaints.is_empty(),
        "{} cases\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn a_real_block_list_is_applied_as_tshark_and_the_judge_say() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ipsum.txt");
    if !list.exists() {
        println!("skipped: ../shared/data/ipsum.txt is not there");
        return;
    }
    if !judges_present() {
        return;
    }
    let input = Path::new(env!("CARGO_TARGET_TMPDIR")).join("drawn.pcap");
    let drawn = Command::new("python3")
        .arg(golden("draw.py"))
        .args([list.as_path(), input.as_path()])
        .args(["1", "5000"])
        .output()
        .expect("python3 runs");
    assert!(drawn.status.success(), "{}", text(&drawn));
    let policy = ["--block".to_owned(), list.display().to_string()];
    let complaint = run("ipsum", &input, "out.pcap", &policy, &[]);
    assert!(complaint.is_none(), "{}", complaint.unwrap_or_default());
}

/// Where scapy has the headers of tunnels; that we have them there, too, `wire` tests.
#[test]
fn tunnels_are_where_tshark_has_them() {
    if !judges_present() {
        return;
    }
    let judge = Command::new("python3")
        .arg(golden("tunnels.py"))
        .arg("--check")
        .output()
        .expect("the judge runs");
    assert!(judge.status.success(), "{}", text(&judge));
}
