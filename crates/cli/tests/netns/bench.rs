//! Two hosts and a machine between them, each a network namespace, joined by veth pairs; and the
//! program run on the machine in the middle.

use std::fs::File;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;

pub(crate) use crate::running::{PATIENCE, Running, await_that};

/// The addresses of the two hosts.
pub(crate) const LEFT_ADDRESS: &str = "10.201.0.1";
pub(crate) const RIGHT_ADDRESS: &str = "10.201.0.2";
/// Those of [`Bench::dual`].
pub(crate) const LEFT_ADDRESS_6: &str = "fd00:201::1";
pub(crate) const RIGHT_ADDRESS_6: &str = "fd00:201::2";

/// What plays the hosts where the kernel's own stack does not.
const ROLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/netns/host.py");

/// `left` has interface `l`, the other end of which is `a` in the middle; `right` has `r`, and `b`.
pub(crate) struct Bench {
    prefix: String,
}

/// One of the three namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Middle,
    Right,
}

impl Bench {
    /// `None`, with the reason printed, where namespaces cannot be made.
    pub(crate) fn new() -> Option<Self> {
        let bench = Self::apart()?;
        if let Err(error) = bench.try_join(1) {
            println!("skipped: no veth pairs here: {error}");
            return None;
        }
        Some(bench)
    }

    /// As [`Bench::new`], with IPv6 on both hosts too; the machine in the middle has none.
    pub(crate) fn dual() -> Option<Self> {
        let bench = Self::new()?;
        let hosts = [
            (Side::Left, "l", LEFT_ADDRESS_6),
            (Side::Right, "r", RIGHT_ADDRESS_6),
        ];
        for (side, far, address) in hosts {
            let on = format!("sysctl -qw net.ipv6.conf.{far}.disable_ipv6=0");
            if !bench.succeeds(side, &on) {
                println!("skipped: this kernel has no IPv6");
                return None;
            }
            bench.expect(side, &format!("ip addr add {address}/64 dev {far} nodad"));
        }
        Some(bench)
    }

    /// The middle with a veth pair `x` and `y` of its own, joined to nothing.
    pub(crate) fn pair() -> Option<Self> {
        let bench = Self::apart()?;
        if !bench.succeeds(Side::Middle, "ip link add x type veth peer name y") {
            println!("skipped: no veth pairs here");
            return None;
        }
        for end in ["x", "y"] {
            bench.expect(Side::Middle, &format!("ip link set {end} up"));
        }
        Some(bench)
    }

    /// The three namespaces with nothing between them.
    pub(crate) fn apart() -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            println!("skipped: network namespaces need root");
            return None;
        }
        if let Some(tool) = missing(&["ip", "ethtool", "ping", "python3"]) {
            println!("skipped: `{tool}` is not installed");
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
        Ok(())
    }

    /// Joins the three by veth pairs with as many queues each way.
    pub(crate) fn try_join(&self, queues: u32) -> Result<(), String> {
        self.try_join_one(Side::Left, queues)?;
        self.try_join_one(Side::Right, queues)
    }

    /// Joins one host to the middle.
    pub(crate) fn try_join_one(&self, side: Side, queues: u32) -> Result<(), String> {
        let (far, near, address) = match side {
            Side::Left => ("l", "a", LEFT_ADDRESS),
            _ => ("r", "b", RIGHT_ADDRESS),
        };
        let (middle, name) = (self.name(Side::Middle), self.name(side));
        let rings = format!("numrxqueues {queues} numtxqueues {queues}");
        ip(&format!(
            "-n {middle} link add name {near} {rings} type veth \
             peer name {far} {rings} netns {name}"
        ))?;
        ip(&format!("-n {name} addr add {address}/24 dev {far}"))?;
        // A veth end leaves checksums to its peer, which a bridge is not.
        ip(&format!("netns exec {name} ethtool -K {far} tx off"))?;
        ip(&format!("-n {name} link set dev {far} up"))?;
        ip(&format!("-n {middle} link set dev {near} up"))
    }

    /// As [`Bench::try_join`], which worked before.
    #[track_caller]
    pub(crate) fn join(&self, queues: u32) {
        self.try_join(queues).expect("veth pairs");
    }

    /// The namespace's name.
    pub(crate) fn name(&self, side: Side) -> String {
        format!("{}{side:?}", self.prefix)
    }

    /// Takes a namespace's name away.
    pub(crate) fn forget(&self, side: Side) {
        ip(&format!("netns del {}", self.name(side))).expect("it has a name");
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

    /// How many sockets keep an interface in the middle promiscuous; `None` where there is none.
    pub(crate) fn promiscuity(&self, interface: &str) -> Option<u64> {
        let words = format!("ip -j -d link show dev {interface}");
        let output = self.on(Side::Middle, &words);
        let json: Value = serde_json::from_slice(&output.stdout).ok()?;
        json[0]["promiscuity"].as_u64()
    }

    /// Whether an offload of an interface in the middle is on.
    pub(crate) fn offload(&self, interface: &str, name: &str) -> bool {
        let text = self.expect(Side::Middle, &format!("ethtool -k {interface}"));
        let on = format!("{name}: on");
        text.lines().any(|line| line.trim().starts_with(&on))
    }

    /// One counter of the kernel's for an interface: `way` is `rx` or `tx`.
    #[track_caller]
    pub(crate) fn counter(&self, side: Side, interface: &str, way: &str, name: &str) -> u64 {
        let text = self.expect(side, &format!("ip -j -s link show dev {interface}"));
        let json: Value = serde_json::from_str(&text).expect("JSON");
        json[0]["stats64"][way][name].as_u64().expect("a counter")
    }

    /// Starts the program on the machine in the middle.
    pub(crate) fn start(&self, words: &str) -> Running {
        self.linerate(Side::Middle, words)
    }

    /// Starts the program anywhere.
    pub(crate) fn linerate(&self, side: Side, words: &str) -> Running {
        let mut command = self.command(side, env!("CARGO_BIN_EXE_linerate"));
        Running::start(command.args(words.split_whitespace()))
    }

    /// Starts a bridge and waits until it has taken its interfaces: promiscuous mode, and the
    /// program of an `xdp:` port.
    #[track_caller]
    pub(crate) fn bridge(&self, words: &str) -> Running {
        let mut running = self.start(&format!("bridge --json {words}"));
        await_that("the bridge takes its interfaces", || {
            running.must_run();
            words.split_whitespace().all(|word| self.is_taken(word))
        });
        running
    }

    pub(crate) fn is_taken(&self, spec: &str) -> bool {
        let Some((driver, rest)) = spec.split_once(':') else {
            return true;
        };
        let interface = rest.split(',').next().unwrap_or(rest);
        match driver {
            "xdp" => self.promiscuity(interface) > Some(0) && self.has_program(interface),
            "packet" => self.promiscuity(interface) > Some(0),
            "tap" => self.promiscuity(interface).is_some(),
            _ => true,
        }
    }

    /// Runs the program on the machine in the middle to its end.
    pub(crate) fn run(&self, words: &str) -> Output {
        let mut command = self.command(Side::Middle, env!("CARGO_BIN_EXE_linerate"));
        let command = command.args(words.split_whitespace());
        command.output().expect("ip netns exec")
    }

    /// What the program says when it refuses to start, with exit code 2.
    #[track_caller]
    pub(crate) fn refusal(&self, words: &str) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        said
    }

    /// A program to be run in a namespace.
    pub(crate) fn command(&self, side: Side, program: &str) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.name(side), program])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command on a host.
    pub(crate) fn on(&self, side: Side, words: &str) -> Output {
        run("ip", &format!("netns exec {} {words}", self.name(side)))
    }

    /// Runs a command on a host to a good end; what it printed.
    #[track_caller]
    pub(crate) fn expect(&self, side: Side, words: &str) -> String {
        let output = self.on(side, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{words}` on {side:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether a command on a host runs to a good end.
    pub(crate) fn succeeds(&self, side: Side, words: &str) -> bool {
        self.on(side, words).status.success()
    }

    /// Starts a role of `host.py` on a host.
    pub(crate) fn role(&self, side: Side, words: &str) -> Running {
        let mut command = self.command(side, "python3");
        Running::start(command.arg(ROLES).args(words.split_whitespace()))
    }

    /// Runs a role to a good end; what it printed.
    #[track_caller]
    pub(crate) fn role_says(&self, side: Side, words: &str) -> String {
        self.expect(side, &format!("python3 {ROLES} {words}"))
    }

    /// Moves this thread to a host: its sockets are the host's from here on.
    pub(crate) fn enter(&self, side: Side) {
        let place = File::open(format!("/run/netns/{}", self.name(side))).expect("a namespace");
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(std::os::fd::AsFd::as_fd(&place), kind).expect("setns");
    }
}

/// Whether a run has a result, or lacks it for the one reason that a busy machine kept it from its
/// rate, which a test of something else must bear.
pub(crate) fn has_result_or_missed_rate(report: &Value) -> bool {
    let why = report["no_result"].as_str();
    let missed = |why: &str| why.starts_with("asked ") && why.contains(" behind the schedule, ");
    why.is_none_or(missed) && (why.is_none() || report["sent"]["limited_by"].is_string())
}

/// A run whose frames all went well, at its rate or later.
#[track_caller]
pub(crate) fn must_end_well(code: i32, report: &Value) {
    assert!(has_result_or_missed_rate(report), "{report}");
    assert_eq!(code, i32::from(!report["no_result"].is_null()), "{report}");
    assert_eq!(report["balanced"], true, "{report}");
    assert_eq!(report["ledger"]["closes"], true, "{report}");
}

impl Drop for Bench {
    fn drop(&mut self) {
        for side in [Side::Left, Side::Middle, Side::Right] {
            let _gone_already = ip(&format!("netns del {}", self.name(side)));
        }
    }
}

/// The first of these programs that is not here.
pub(crate) fn missing<'a>(tools: &[&'a str]) -> Option<&'a str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here =
        |tool: &str| std::env::split_paths(&path).any(|folder| folder.join(tool).exists());
    tools.iter().find(|tool| !is_here(tool)).copied()
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
