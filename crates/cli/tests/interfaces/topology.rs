//! Namespaces, veth pairs, programs in them. All of it is gone when the test is over.

use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything may take that comes by itself.
const PATIENCE: Duration = Duration::from_secs(20);

/// What plays the hosts.
const HOST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interfaces/host.py");

static COUNT: AtomicU32 = AtomicU32::new(0);

/// `left -- middle -- right`: `left` and `right` have one interface `e0` each with 10.9.0.1 and
/// 10.9.0.2, `middle` has `m1` and `m2`, which nothing joins.
pub(crate) struct Topology {
    name: String,
}

/// A program in a namespace; killed when it is dropped.
pub(crate) struct Running {
    child: Option<Child>,
}

impl Topology {
    /// `None`, and a printed reason, where it cannot be made.
    pub(crate) fn new() -> Option<Self> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lr{:x}-{count}", std::process::id());
        let topology = Self { name };
        for tool in ["ip", "ethtool", "ping", "python3"] {
            let found = Command::new("sh")
                .args(["-c", &format!("command -v {tool}")])
                .output();
            if !found.is_ok_and(|output| output.status.success()) {
                println!("skipped: `{tool}` is not installed");
                return None;
            }
        }
        for host in ["left", "middle", "right"] {
            let made = run(&["ip", "netns", "add", &topology.namespace(host)]);
            if !made.status.success() {
                let why = String::from_utf8_lossy(&made.stderr);
                println!("skipped: no network namespace can be made: {}", why.trim());
                return None;
            }
            for scope in ["all", "default"] {
                let setting = format!("net.ipv6.conf.{scope}.disable_ipv6=1");
                topology.run_in(host, &format!("sysctl -qw {setting}"));
            }
        }
        topology.join("left", "m1", "10.9.0.1/24");
        topology.join("right", "m2", "10.9.0.2/24");
        Some(topology)
    }

    pub(crate) fn namespace(&self, host: &str) -> String {
        format!("{}-{host}", self.name)
    }

    /// A veth pair from a host's `e0` to `middle`. Segments stay as long as the wire's.
    pub(crate) fn join(&self, host: &str, interface: &str, address: &str) {
        let middle = self.namespace("middle");
        let words = format!("ip link add e0 type veth peer name {interface} netns {middle}");
        self.expect(host, &words);
        self.expect(host, &format!("ip addr add {address} dev e0"));
        self.expect(host, "ethtool -K e0 tso off gso off");
        self.expect(host, "ip link set e0 up");
        self.expect("middle", &format!("ip link set {interface} up"));
    }

    pub(crate) fn command(&self, host: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(host), program]);
        command.stdin(Stdio::null());
        command
    }

    fn run_in(&self, host: &str, words: &str) -> Output {
        let mut words = words.split_whitespace();
        let program = words.next().expect("a program");
        let command = &mut self.command(host, program);
        command.args(words).output().expect("it starts")
    }

    /// Runs to a good end; what it printed.
    #[track_caller]
    pub(crate) fn expect(&self, host: &str, words: &str) -> String {
        let output = self.run_in(host, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{words}` on {host}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether it runs to a good end within some attempts.
    pub(crate) fn comes_to(&self, host: &str, words: &str) -> bool {
        eventually(|| self.run_in(host, words).status.success())
    }

    /// Whether it runs to a good end at once: what it printed.
    pub(crate) fn succeeds(&self, host: &str, words: &str) -> Option<String> {
        let output = self.run_in(host, words);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    }

    /// A role of `host.py`.
    pub(crate) fn host(&self, host: &str, words: &str) -> Running {
        let mut command = self.command(host, "python3");
        command.arg(HOST).args(words.split_whitespace());
        Running::start(&mut command)
    }

    /// The same to its end; what it printed.
    #[track_caller]
    pub(crate) fn host_says(&self, host: &str, words: &str) -> String {
        self.expect(host, &format!("python3 {HOST} {words}"))
    }

    /// The bridge in `middle`, once its ports are open: the last thing it does before it runs is
    /// to make the last interface promiscuous.
    pub(crate) fn bridge(&self, words: &str, last: &str) -> Running {
        let running = self.linerate("middle", &format!("bridge {words} --json"));
        assert!(
            eventually(|| self.promiscuity(last) > Some(0)),
            "{words}: {}",
            running.kill().1
        );
        running
    }

    /// The program, anywhere.
    pub(crate) fn linerate(&self, host: &str, words: &str) -> Running {
        let mut command = self.command(host, env!("CARGO_BIN_EXE_linerate"));
        command.args(words.split_whitespace());
        Running::start(&mut command)
    }

    /// How many sockets keep an interface of `middle` promiscuous; `None` where it is not there.
    pub(crate) fn promiscuity(&self, interface: &str) -> Option<u64> {
        let output = self.run_in("middle", &format!("ip -j -d link show dev {interface}"));
        let json: Value = serde_json::from_slice(&output.stdout).ok()?;
        json[0]["promiscuity"].as_u64()
    }

    /// Whether an offload of an interface of `middle` is on.
    pub(crate) fn offload(&self, interface: &str, name: &str) -> bool {
        let text = self.expect("middle", &format!("ethtool -k {interface}"));
        text.lines()
            .any(|line| line.trim().starts_with(&format!("{name}: on")))
    }

    /// One counter of the kernel's for an interface.
    pub(crate) fn counter(&self, host: &str, interface: &str, way: &str, name: &str) -> u64 {
        let text = self.expect(host, &format!("ip -j -s link show dev {interface}"));
        let json: Value = serde_json::from_str(&text).expect("JSON");
        json[0]["stats64"][way][name].as_u64().expect("a counter")
    }

    /// Ten pings from `left` to `right`, none lost.
    #[track_caller]
    pub(crate) fn expect_ping(&self) {
        let first = "ping -c 1 -W 1 10.9.0.2";
        assert!(self.comes_to("left", first), "no answer");
        let said = self.expect("left", "ping -c 10 -i 0.02 -W 5 10.9.0.2");
        assert!(said.contains(" 0% packet loss"), "{said}");
        assert!(!said.contains("DUP!"), "frames came twice: {said}");
    }

    /// Half a megabyte from one host to another by TCP.
    #[track_caller]
    pub(crate) fn expect_tcp(&self, from: &str, to: &str, address: &str) {
        let server = self.host(to, "tcp-receive 5001 500000");
        let sent = self.host_says(from, &format!("tcp-send {address} 5001 500000"));
        let (code, received, said) = server.ended();
        assert_eq!((code, &received), (0, &sent), "{said}");
    }
}

impl Drop for Topology {
    fn drop(&mut self) {
        for host in ["left", "middle", "right"] {
            // A test that skipped has none.
            let _ = run(&["ip", "netns", "del", &self.namespace(host)]);
        }
    }
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self {
            child: Some(command.spawn().expect("it starts")),
        }
    }

    /// What it prints, to be read while it runs.
    pub(crate) fn output(&mut self) -> ChildStdout {
        let child = self.child.as_mut().expect("it runs");
        child.stdout.take().expect("not taken before")
    }

    fn signal(&self, signal: &str) {
        let child = self.child.as_ref().expect("it runs");
        run(&["kill", signal, &child.id().to_string()]);
    }

    /// Waits for its end: code, standard output, standard error.
    pub(crate) fn ended(mut self) -> (i32, String, String) {
        let child = self.child.take().expect("it runs");
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        (code, text(output.stdout), text(output.stderr))
    }

    /// Ends a bridge as Ctrl-C does: its report, and what it said.
    #[track_caller]
    pub(crate) fn stop(self) -> (Value, String) {
        self.signal("-INT");
        let (code, report, said) = self.ended();
        assert_eq!(code, 0, "{said}");
        let report: Value = serde_json::from_str(&report).expect("a report");
        assert_eq!(report["balanced"], true, "{report}");
        (report, said)
    }

    /// `kill -9`: standard output and error so far.
    pub(crate) fn kill(self) -> (String, String) {
        self.signal("-KILL");
        let (_, stdout, said) = self.ended();
        (stdout, said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Tries until it holds or patience ends.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if holds() {
            return true;
        }
        sleep(Duration::from_millis(50));
    }
    false
}

pub(crate) fn run(words: &[&str]) -> Output {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).output().expect("it starts")
}
