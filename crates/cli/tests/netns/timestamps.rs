//! Timestamps of hardware on interfaces that have none: refused or done without, and said so. (No
//! machine that runs these tests is known to have a NIC that stamps; `port` and `engine` have
//! tests of what is made of such times.)

use serde_json::Value;

use crate::bench::{Bench, Side, await_that, must_end_well};

#[test]
fn hardware_alone_is_refused_before_anything_is_changed() {
    let Some(bench) = Bench::pair() else { return };
    for port in ["packet:y", "xdp:y", "xdp:y,mode=generic,vlan=ignore"] {
        let said = bench.refusal(&format!("sink {port},timestamps=hardware --duration 1s"));
        let driver = port.split([',']).next().unwrap_or_default();
        for part in [
            driver,
            "timestamps=hardware",
            "`ethtool -T y`",
            "timestamps=auto",
        ] {
            assert!(said.contains(part), "{port}: {said}");
        }
    }
    assert!(!bench.has_program("y"));
    assert_eq!(bench.promiscuity("y"), Some(0));
}

#[test]
fn auto_does_without_and_says_why_everywhere() {
    let Some(bench) = Bench::pair() else { return };
    for driver in ["packet", "xdp"] {
        let words = format!(
            "gen packet:x --sink {driver}:y,timestamps=auto --count 500 --rate 2kpps --no-trial \
             --drain 5s --json"
        );
        let ran = bench.run(&words);
        let report: Value = serde_json::from_slice(&ran.stdout).expect("a JSON report");
        must_end_well(ran.status.code().unwrap_or(-1), &report);
        assert_eq!(report["arrived"]["frames"], 500, "{report}");
        let clock = &report["clock"];
        assert_eq!(clock["hardware_timestamps"], false, "{clock}");
        assert_eq!(clock["hardware_frames"], 0, "{clock}");
        let remark = clock["remarks"][0].as_str().expect("a remark");
        let begin = format!("{driver}:y: times are those of software, since its driver (veth)");
        assert!(remark.starts_with(&begin), "{remark}");
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(told.contains(remark), "{told}");
    }
}

#[test]
fn without_being_asked_nothing_is_said_of_nics_that_have_none() {
    let Some(bench) = Bench::pair() else { return };
    let words = "gen packet:x --sink packet:y --count 100 --no-trial --drain 5s --json";
    let report: Value = serde_json::from_slice(&bench.run(words).stdout).expect("a JSON report");
    assert_eq!(
        report["clock"]["remarks"],
        serde_json::json!([]),
        "{report}"
    );
    assert!(report["clock"]["source"].as_str().is_some());
}

/// Whether the sink is through with opening its port.
fn is_open(bench: &Bench, port: &str) -> bool {
    if port.starts_with("xdp") {
        return bench.is_taken(port);
    }
    // Of each socket, the fifth word is the interface it is bound to: one receives, one sends.
    let sockets = bench.expect(Side::Middle, "cat /proc/net/packet");
    let interfaces = sockets.lines().skip(1);
    let interfaces = interfaces.filter_map(|line| line.split_whitespace().nth(4));
    interfaces.filter(|&interface| interface != "0").count() >= 2
}

/// The interface goes away and another comes by its name, while times were asked for.
#[test]
fn an_interface_that_goes_and_comes_back_goes_on_with_software() {
    let Some(bench) = Bench::pair() else { return };
    for port in ["packet:y", "xdp:y"] {
        let words = format!("sink {port},timestamps=auto --count 50 --json");
        let mut sink = bench.start(&words);
        await_that("the sink has the interface", || is_open(&bench, port));
        bench.expect(Side::Middle, "ip link del x");
        bench.expect(Side::Middle, "ip link add x type veth peer name y");
        for end in ["x", "y"] {
            bench.expect(Side::Middle, &format!("ip link set {end} up"));
        }
        // Until the sink has had enough, whenever it came back.
        await_that("the sink ends", || {
            bench.run("gen packet:x --count 50 --rate 1kpps --no-trial -q");
            sink.has_ended()
        });
        let (_, report, said) = sink.ended();
        let report: Value = serde_json::from_str(&report).expect("a JSON report");
        assert!(
            said.contains("made anew") || said.contains("came back"),
            "{said}"
        );
        assert!(report["frames"]["rx"].as_u64() >= Some(50), "{report}");
        assert_eq!(report["clock"]["hardware_timestamps"], false, "{report}");
    }
}
