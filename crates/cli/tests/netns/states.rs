//! What happens to interfaces while a bridge runs is a state in its report and a line on standard
//! error; what it changed is put back, also after `kill -9`; an idle one leaves its CPU alone.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, PATIENCE, RIGHT_ADDRESS, Side, await_that};
use crate::traffic::{ping, tcp_echo};

const GRO: &str = "generic-receive-offload";

/// A bridge in the middle, and what it says while it runs.
pub(crate) struct Told {
    child: Child,
    lines: BufReader<ChildStderr>,
    pub(crate) heard: String,
}

impl Told {
    pub(crate) fn start(bench: &Bench, words: &str) -> Self {
        let mut command = bench.command(Side::Middle, env!("CARGO_BIN_EXE_linerate"));
        command.args(["bridge", "--json"]);
        command.args(words.split_whitespace());
        let mut child = command.spawn().expect("ip netns exec");
        let lines = BufReader::new(child.stderr.take().expect("a pipe"));
        Self {
            child,
            lines,
            heard: String::new(),
        }
    }

    /// The same once frames cross.
    pub(crate) fn crossing(bench: &Bench, words: &str) -> Self {
        let mut told = Self::start(bench, words);
        await_that("frames cross", || {
            if told.child.try_wait().expect("its state").is_some() {
                let mut said = String::new();
                let _ = std::io::Read::read_to_string(&mut told.lines, &mut said);
                panic!("it ended at once: {said}");
            }
            pings(bench, "-c 1")
        });
        told
    }

    /// Reads on until a line says this. A bridge prints a line every ten seconds, so this ends.
    #[track_caller]
    pub(crate) fn hears(&mut self, what: &str) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let mut line = String::new();
            let bytes = self.lines.read_line(&mut line).expect("its standard error");
            self.heard += &line;
            if line.contains(what) {
                return;
            }
            assert!(
                bytes != 0,
                "it ended before it said `{what}`: {}",
                self.heard
            );
        }
        panic!("it did not say `{what}`: {}", self.heard);
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), signal).expect("a signal");
    }

    /// Ends it as Ctrl-C does: its report.
    #[track_caller]
    fn stop(self) -> Value {
        self.stop_and_say().0
    }

    /// The same, and all that it said.
    #[track_caller]
    pub(crate) fn stop_and_say(mut self) -> (Value, String) {
        self.signal(Signal::INT);
        let mut text = String::new();
        let mut stdout = self.child.stdout.take().expect("a pipe");
        std::io::Read::read_to_string(&mut stdout, &mut text).expect("its report");
        assert!(self.child.wait().expect("its end").success(), "{text}");
        let report: Value = serde_json::from_str(&text).expect("a JSON report");
        assert_eq!(report["balanced"], true, "{report}");
        let _all_of_it = std::io::Read::read_to_string(&mut self.lines, &mut self.heard);
        (report, std::mem::take(&mut self.heard))
    }

    fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("its end");
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

fn pings(bench: &Bench, options: &str) -> bool {
    let words = format!("ping {options} -W 1 {RIGHT_ADDRESS}");
    bench.succeeds(Side::Left, &words)
}

/// The state of a port, by its name in the report.
#[track_caller]
pub(crate) fn state<'a>(report: &'a Value, port: usize, name: &str) -> &'a Value {
    let states = report["ports"][port]["states"].as_array().expect("states");
    let found = states.iter().find(|state| state["state"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// Datagrams to the right host, which need no answer.
fn flood(bench: &Bench, count: u32) {
    let words = format!("ping -q -f -c {count} -W 1 -w 3 {RIGHT_ADDRESS}");
    let _unanswered = bench.on(Side::Left, &words);
}

/// Echo requests that the right host has received.
fn echoes(bench: &Bench) -> u64 {
    let counts = bench.expect(Side::Right, "cat /proc/net/snmp");
    let mut lines = counts.lines().filter(|line| line.starts_with("Icmp:"));
    let [names, values] = [lines.next(), lines.next()].map(Option::unwrap_or_default);
    let both = names.split_whitespace().zip(values.split_whitespace());
    let echoes = both.filter(|(name, _)| *name == "InEchos");
    let count = echoes.last().and_then(|(_, value)| value.parse().ok());
    count.expect("a count of echo requests")
}

fn link_goes_and_comes(driver: &str) {
    let Some(bench) = Bench::new() else { return };
    let mut told = Told::crossing(&bench, &format!("{driver}:a {driver}:b"));
    bench.ip("link set dev b down");
    told.hears(&format!("{driver}:b"));
    assert!(told.heard.contains("the link is down"), "{}", told.heard);
    let before = echoes(&bench);
    // Queues learn of it within a moment.
    sleep(Duration::from_millis(300));
    flood(&bench, 50);
    bench.ip("link set dev b up");
    told.hears("the link is up again");
    sleep(Duration::from_millis(300));
    assert_eq!(echoes(&bench), before, "nothing is kept and sent later");
    ping(&bench);
    let report = told.stop();
    let dropped = &report["frames"]["dropped"]["tx_ring_full"];
    assert!(dropped.as_u64() >= Some(50), "{report}");
    let down = state(&report, 1, "link_down");
    assert_eq!(
        (&down["count"], &down["active"]),
        (&1.into(), &false.into())
    );
    assert!(down["seconds"].as_f64() > Some(0.0), "{report}");
}

#[test]
fn a_link_that_goes_down_is_a_state_on_packet() {
    link_goes_and_comes("packet");
}

#[test]
fn a_link_that_goes_down_is_a_state_on_xdp() {
    link_goes_and_comes("xdp");
}

#[test]
fn an_interface_that_is_removed_and_made_anew_is_a_state() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        let mut told = Told::crossing(&bench, &format!("{driver}:a {driver}:b"));
        bench.ip("link del dev a");
        bench.ip("link del dev b");
        told.hears("b: the interface is gone");
        bench.join(1);
        told.hears("a: an interface of its name is there again");
        told.hears("b: an interface of its name is there again");
        await_that("frames cross again", || pings(&bench, "-c 1"));
        let report = told.stop();
        let absent = state(&report, 1, "absent");
        assert!(absent["count"].as_u64() >= Some(1), "{report}");
        assert_eq!(absent["active"], false, "{report}");
    }
}

#[test]
fn queues_that_come_are_taken_up_and_those_in_use_cannot_go() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link del dev a");
    bench.ip("link del dev b");
    bench.join(4);
    // Native XDP wants as many queues as the other end has to send by.
    let sends = |queues: u32| {
        let words = format!("ethtool -L r tx {queues}");
        bench.succeeds(Side::Right, &words)
    };
    let set = |queues: u32| {
        let words = format!("ethtool -L b rx {queues}");
        bench.succeeds(Side::Middle, &words)
    };
    if !sends(1) || !set(1) {
        println!("skipped: no ethtool here, or it cannot change the queues of a veth");
        return;
    }
    let mut told = Told::crossing(&bench, "xdp:a xdp:b");
    assert!(set(3), "queues are added");
    told.hears("it has 3 receive queues now, and had 1");
    assert!(sends(3));
    await_that("frames cross", || pings(&bench, "-c 1"));
    // The kernel chooses the queue of an answer by its connection: of twenty each queue has some.
    for _ in 0..20 {
        tcp_echo(&bench, 1 << 10);
    }
    tcp_echo(&bench, 1 << 20);
    assert!(sends(1));
    assert!(!set(1), "the kernel keeps queues that have sockets");
    ping(&bench);
    let report = told.stop();
    let changed = state(&report, 1, "queues_changed");
    assert_eq!(changed["detail"], "3, at the start 1", "{report}");
    let warnings = report["warnings"].to_string();
    assert!(!warnings.contains("are not used"), "{report}");
}

/// Frames that find no way out while the link is down are explained by the link, and by no ring.
#[test]
fn a_ring_that_fills_while_the_link_is_down_is_told_as_the_link() {
    let Some(bench) = Bench::new() else { return };
    let mut told = Told::crossing(&bench, "xdp:a,ring=64 xdp:b,ring=64");
    // A socket of an interface that is down keeps its frames.
    bench.ip("link set dev b down");
    told.hears("the link is down");
    flood(&bench, 2000);
    // Longer than a ring takes to be called stuck.
    sleep(Duration::from_secs(1));
    bench.ip("link set dev b up");
    told.hears("the link is up again");
    await_that("frames cross again", || pings(&bench, "-c 1"));
    assert!(!told.heard.contains("transmit ring"), "{}", told.heard);
    let report = told.stop();
    assert_eq!(state(&report, 1, "link_down")["active"], false, "{report}");
    let states = report["ports"][1]["states"].to_string();
    assert!(!states.contains("ring_full"), "{report}");
    assert!(report["frames"]["dropped"]["tx_ring_full"].as_u64() > Some(0));
}

#[test]
fn checksums_left_to_the_receiver_are_told_of_at_the_first_such_frame() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        let on = bench.on(Side::Left, "ethtool -K l tx on tso off gso off");
        if !on.status.success() {
            println!("skipped: no ethtool here");
            return;
        }
        let mut told = Told::crossing(&bench, &format!("{driver}:a {driver}:b"));
        let words = format!(
            "python3 -c exec('import|socket,time;s=socket.socket(2,2);[(s.sendto(b\"x\"*50,\
             (\"{RIGHT_ADDRESS}\",9)),time.sleep(0.001))for|i|in|range(400)]'.replace('|','\\x20'))"
        );
        let sent = bench.on(Side::Left, &words);
        if !sent.status.success() {
            println!("skipped: no python3 to send with: {sent:?}");
            return;
        }
        told.hears("left to the receiver");
        assert!(
            told.heard.contains(&format!("{driver}:a")),
            "{}",
            told.heard
        );
        let report = told.stop();
        assert_eq!(state(&report, 0, "checksums_left")["count"], 1, "{report}");
    }
}

#[test]
fn a_killed_bridge_is_put_back_by_restore_and_by_the_next_start() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        let middle = Side::Middle;
        let all_on = "ethtool -K a gro on rxvlan on";
        if !bench.succeeds(middle, all_on) {
            println!("skipped: no ethtool here");
            return;
        }
        let was = bench.offload("a", "rx-vlan-offload");
        let words = format!("{driver}:a {driver}:b");
        let told = Told::crossing(&bench, &words);
        assert!(!bench.offload("a", GRO));
        // A bridge that runs is left alone.
        let said = bench.run("restore a");
        assert_eq!(said.stdout, b"nothing to restore\n", "{said:?}");
        assert!(!bench.offload("a", GRO));
        told.kill();
        assert!(!bench.offload("a", GRO), "nobody is left to do it");
        let page = bench.run("doctor a --json");
        let page = String::from_utf8_lossy(&page.stdout).into_owned();
        assert!(page.contains("linerate restore a"), "{page}");
        let said = bench.run("restore a");
        assert_eq!(said.status.code(), Some(0), "{said:?}");
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(text.contains("rx-gro on"), "{text}");
        assert!(bench.offload("a", GRO));
        assert_eq!(bench.offload("a", "rx-vlan-offload"), was);
        let again = bench.run("restore");
        assert_eq!(again.status.code(), Some(0), "{again:?}");

        Told::crossing(&bench, &words).kill();
        assert!(!bench.offload("a", GRO));
        let mut next = Told::start(&bench, &words);
        next.hears("had left it changed");
        await_that("frames cross", || pings(&bench, "-c 1"));
        assert!(!bench.offload("a", GRO), "off while it runs");
        let process = next.child.id();
        assert!(!records(process).is_empty());
        next.stop();
        assert!(bench.offload("a", GRO), "and as found behind it");
        assert_eq!(records(process), Vec::<String>::new());
    }
}

/// The records of a process.
fn records(process: u32) -> Vec<String> {
    let entries = fs::read_dir("/run/linerate-0");
    let paths = entries.into_iter().flatten().flatten();
    let paths = paths.filter_map(|entry| entry.path().into_os_string().into_string().ok());
    let says = format!("process {process}\n");
    paths
        .filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(&says)))
        .collect()
}

#[test]
fn a_garbled_record_is_named_and_nothing_follows_from_it() {
    let Some(bench) = Bench::new() else { return };
    let on = bench.on(Side::Middle, "ethtool -K a gro on");
    if !on.status.success() {
        println!("skipped: no ethtool here");
        return;
    }
    let told = Told::crossing(&bench, "packet:a packet:b");
    let process = told.child.id();
    told.kill();
    let mut records = records(process);
    let text_of = |path: &_| fs::read_to_string(path).expect("a record");
    // Those that only say whose an interface is have nothing to put back.
    records.retain(|path| text_of(path).contains("rx-gro on"));
    assert!(!records.is_empty());
    for path in &records {
        let text = text_of(path);
        fs::write(path, text.replace("rx-gro on", "tx-checksumming on")).expect("a file");
    }
    let said = bench.run("restore");
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    for part in [
        "is not believed",
        "no offload that this program",
        "/run/linerate-0/",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // A bridge starts all the same, and says it too.
    let mut told = Told::start(&bench, "packet:a packet:b");
    told.hears("is not believed");
    await_that("frames cross", || pings(&bench, "-c 1"));
    told.stop();
    for path in &records {
        fs::remove_file(path).expect("it is still there");
    }
}

#[test]
fn an_idle_bridge_dozes_and_one_that_spins_does_not() {
    let Some(bench) = Bench::new() else { return };
    let idle = |mode: &str| {
        let told = Told::crossing(&bench, &format!("--idle {mode} packet:a packet:b"));
        sleep(Duration::from_secs(1));
        let report = told.stop();
        let worker = &report["workers"][0];
        let seconds = worker["cpu_seconds"].as_f64().expect("CPU time");
        let sleeps = worker["sleeps"].as_u64().expect("a count");
        println!("--idle {mode}: {seconds:.3} s of CPU time, {sleeps} sleeps");
        (seconds, sleeps)
    };
    let (doze, spin) = (idle("doze"), idle("spin"));
    assert!(doze.0 * 3.0 < spin.0, "{doze:?} {spin:?}");
    assert!(doze.1 > 0);
    assert_eq!(spin.1, 0, "it never calls the kernel to rest");
}

#[test]
fn interfaces_without_interrupts_are_said_to_have_none() {
    let Some(bench) = Bench::new() else { return };
    let mut told = Told::start(&bench, "--pin-irqs packet:a packet:b");
    told.hears("a has no interrupts of its own");
    told.hears("b has no interrupts of its own");
    await_that("frames cross", || pings(&bench, "-c 1"));
    told.stop();
}
