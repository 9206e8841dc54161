//! Two hosts and a machine between them, each a network namespace, joined by veth pairs; and the
//! program run on the machine in the middle.

use std::fs::File;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;

/// How long anything may take that takes milliseconds on an idle machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The addresses of the two hosts.
pub(crate) const LEFT_ADDRESS: &str = "10.201.0.1";
pub(crate) const RIGHT_ADDRESS: &str = "10.201.0.2";

/// `left` has interface `l`, the other end of which is `a` in the middle; `right` has `r`, and `b`.
pub(crate) struct Bench {
    prefix: String,
}

/// One of the three namespaces.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Left,
    Middle,
    Right,
}

impl Bench {
    /// `None`, with the reason printed, where namespaces cannot be made.
    pub(crate) fn new() -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            println!("skipped: network namespaces need root");
            return None;
        }
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let bench = Self {
            prefix: format!("lr{}-{number}", std::process::id()),
        };
        if let Err(error) = bench.build() {
            println!("skipped: no network namespaces here: {error}");
            return None;
        }
        Some(bench)
    }

    fn build(&self) -> Result<(), String> {
        for side in [Side::Left, Side::Middle, Side::Right] {
            let name = self.name(side);
            ip(&format!("netns add {name}"))?;
            ip(&format!("-n {name} link set dev lo up"))?;
            // Neighbour discovery of hosts that nobody asked would mix with what tests count.
            let quiet = "sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 \
                         net.ipv6.conf.default.disable_ipv6=1";
            let _without_ipv6 = ip(&format!("netns exec {name} {quiet}"));
        }
        self.try_join(1)
    }

    /// Joins the three by veth pairs with as many queues each way.
    pub(crate) fn try_join(&self, queues: u32) -> Result<(), String> {
        let sides = [
            (Side::Left, "l", "a", LEFT_ADDRESS),
            (Side::Right, "r", "b", RIGHT_ADDRESS),
        ];
        let middle = self.name(Side::Middle);
        let rings = format!("numrxqueues {queues} numtxqueues {queues}");
        for (side, far, near, address) in sides {
            let name = self.name(side);
            ip(&format!(
                "-n {middle} link add name {near} {rings} type veth \
                 peer name {far} {rings} netns {name}"
            ))?;
            ip(&format!("-n {name} addr add {address}/24 dev {far}"))?;
            // A veth end leaves checksums to its peer, which a bridge is not.
            self.turn_checksums_off(side, far)?;
            ip(&format!("-n {name} link set dev {far} up"))?;
            ip(&format!("-n {middle} link set dev {near} up"))?;
        }
        Ok(())
    }

    /// As [`Bench::try_join`], which worked before.
    #[track_caller]
    pub(crate) fn join(&self, queues: u32) {
        self.try_join(queues).expect("veth pairs");
    }

    fn turn_checksums_off(&self, side: Side, interface: &str) -> Result<(), String> {
        ip(&format!(
            "netns exec {} ethtool -K {interface} tx off",
            self.name(side)
        ))
    }

    pub(crate) fn name(&self, side: Side) -> String {
        format!("{}{side:?}", self.prefix)
    }

    /// Runs `ip` with these words on the machine in the middle.
    #[track_caller]
    pub(crate) fn ip(&self, words: &str) -> String {
        let words = format!("-n {} {words}", self.name(Side::Middle));
        let output = run("ip", &words);
        assert!(output.status.success(), "ip {words}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether an XDP program is on an interface in the middle.
    pub(crate) fn has_program(&self, interface: &str) -> bool {
        self.ip(&format!("link show dev {interface}"))
            .contains("prog/xdp")
    }

    /// Starts the program on the machine in the middle.
    pub(crate) fn start(&self, words: &str) -> Running {
        let child = self.command(words).spawn().expect("ip netns exec");
        Running(Some(child))
    }

    /// Starts a bridge and waits until both interfaces have its program.
    #[track_caller]
    pub(crate) fn bridge(&self, words: &str) -> Running {
        let mut running = self.start(&format!("bridge --json {words}"));
        await_that("the bridge attaches its programs", || {
            running.must_run();
            self.has_program("a") && self.has_program("b")
        });
        running
    }

    /// Runs the program on the machine in the middle to its end.
    pub(crate) fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("ip netns exec")
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.name(Side::Middle)])
            .arg(env!("CARGO_BIN_EXE_linerate"))
            .args(words.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command on a host.
    pub(crate) fn on(&self, side: Side, words: &str) -> Output {
        run("ip", &format!("netns exec {} {words}", self.name(side)))
    }

    /// Moves this thread to a host: its sockets are the host's from here on.
    pub(crate) fn enter(&self, side: Side) {
        let place = File::open(format!("/run/netns/{}", self.name(side))).expect("a namespace");
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(std::os::fd::AsFd::as_fd(&place), kind).expect("setns");
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for side in [Side::Left, Side::Middle, Side::Right] {
            let _gone_already = ip(&format!("netns del {}", self.name(side)));
        }
    }
}

/// The program while it runs; killed when the test ends before it does.
pub(crate) struct Running(Option<Child>);

impl Running {
    #[track_caller]
    pub(crate) fn must_run(&mut self) {
        let child = self.0.as_mut().expect("it runs");
        if child.try_wait().expect("its state").is_some() {
            let output = self.0.take().map(Child::wait_with_output);
            panic!("the program has ended: {output:?}");
        }
    }

    /// Asks it to end, as Ctrl-C does, and returns its report.
    #[track_caller]
    pub(crate) fn stop(mut self) -> Value {
        let child = self.0.take().expect("it runs");
        kill_process(pid(&child), Signal::INT).expect("a signal");
        let output = child.wait_with_output().expect("its output");
        assert!(output.status.success(), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
        assert_eq!(report["balanced"], true, "{report}");
        report
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(mut self) {
        let mut child = self.0.take().expect("it runs");
        child.kill().expect("SIGKILL");
        child.wait().expect("its end");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ended_already = child.kill();
            let _ended_already = child.wait();
        }
    }
}

fn pid(child: &Child) -> Pid {
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process")
}

/// Waits for what takes a moment.
#[track_caller]
pub(crate) fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "not in time: {what}");
        sleep(Duration::from_millis(5));
    }
}

fn ip(words: &str) -> Result<(), String> {
    let output = run("ip", words);
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {words}: {}", said.trim()))
}

fn run(program: &str, words: &str) -> Output {
    match Command::new(program)
        .args(words.split_whitespace())
        .output()
    {
        Ok(output) => output,
        Err(error) => Output {
            status: std::os::unix::process::ExitStatusExt::from_raw(127 << 8),
            stdout: Vec::new(),
            stderr: error.to_string().into_bytes(),
        },
    }
}
