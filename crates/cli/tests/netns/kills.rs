//! `kill -9` under traffic, again and again: what stays behind, and how many frames it costs.
//! `LINERATE_KILLS` says how often; `./soak.sh` has it a hundred times.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use serde_json::Value;

use crate::bench::{Bench, LEFT_ADDRESS, RIGHT_ADDRESS, Side};
use crate::bypass::{prepared, shown};
use crate::running::await_that;

/// Datagrams of the traffic: as many every millisecond, and at most as many in all.
const AT_ONCE: u64 = 10;
const NUMBERS: usize = 1 << 25;
const PORT: u16 = 5202;

/// What was sent before or after a moment may take so long to come.
const SETTLE: Duration = Duration::from_millis(100);

fn kills() -> usize {
    let asked = std::env::var("LINERATE_KILLS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(5)
}

/// Numbered datagrams from the left to the right.
struct Traffic {
    sent: Arc<AtomicU64>,
    /// One bit a number.
    seen: Arc<Vec<AtomicU64>>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Traffic {
    fn start(bench: &Arc<Bench>) -> Self {
        let sent = Arc::new(AtomicU64::new(0));
        let seen: Vec<AtomicU64> = (0..NUMBERS / 64).map(|_| AtomicU64::new(0)).collect();
        let (seen, over) = (Arc::new(seen), Arc::new(AtomicBool::new(false)));
        let receiver = {
            let (bench, seen, over) = (Arc::clone(bench), Arc::clone(&seen), Arc::clone(&over));
            spawn(move || receive(&bench, &seen, &over))
        };
        let sender = {
            let (bench, sent, over) = (Arc::clone(bench), Arc::clone(&sent), Arc::clone(&over));
            spawn(move || send(&bench, &sent, &over))
        };
        Self {
            sent,
            seen,
            over,
            threads: vec![receiver, sender],
        }
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// How many of these numbers have come.
    fn came(&self, numbers: std::ops::Range<u64>) -> u64 {
        let came = |number: &u64| {
            let word = self.seen[*number as usize / 64].load(Ordering::Relaxed);
            word & 1 << (number % 64) != 0
        };
        numbers.filter(came).count() as u64
    }

    /// Whether what is sent from now on comes.
    fn passes(&self) -> bool {
        let begin = self.sent();
        sleep(SETTLE);
        self.came(begin..self.sent()) != 0
    }

    fn stop(self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("the traffic");
        }
    }
}

fn send(bench: &Bench, sent: &AtomicU64, over: &AtomicBool) {
    bench.enter(Side::Left);
    let socket = UdpSocket::bind((LEFT_ADDRESS, 0)).expect("a socket");
    socket.connect((RIGHT_ADDRESS, PORT)).expect("a way there");
    while !over.load(Ordering::Relaxed) {
        for _ in 0..AT_ONCE {
            let number = sent.load(Ordering::Relaxed);
            assert!((number as usize) < NUMBERS, "fewer kills, please");
            // The answer to an earlier one may be told here: that nobody listened yet.
            if socket.send(&number.to_be_bytes()).is_ok() {
                sent.store(number + 1, Ordering::Relaxed);
            }
        }
        sleep(Duration::from_millis(1));
    }
}

fn receive(bench: &Bench, seen: &[AtomicU64], over: &AtomicBool) {
    bench.enter(Side::Right);
    let socket = UdpSocket::bind((RIGHT_ADDRESS, PORT)).expect("a socket");
    let limit = Some(Duration::from_millis(100));
    socket.set_read_timeout(limit).expect("a limit");
    let mut buffer = [0; 2048];
    while !over.load(Ordering::Relaxed) {
        if let Ok(8) = socket.recv(&mut buffer) {
            let number = u64::from_be_bytes(*buffer.first_chunk().expect("eight bytes"));
            seen[number as usize / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
        }
    }
}

/// The hosts need not ask for each other's address.
fn introduce(bench: &Bench) {
    let ends = [
        (Side::Left, "l", RIGHT_ADDRESS, Side::Right, "r"),
        (Side::Right, "r", LEFT_ADDRESS, Side::Left, "l"),
    ];
    for (side, interface, address, other, far) in ends {
        let output = bench.on(other, &format!("ip -j link show dev {far}"));
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let mac = said[0]["address"].as_str().expect("an address");
        let words =
            format!("ip neigh replace {address} lladdr {mac} dev {interface} nud permanent");
        assert!(bench.on(side, &words).status.success(), "{words}");
    }
}

/// No program, and nobody holds it promiscuous.
fn is_clean(bench: &Bench, interface: &str) -> bool {
    let said = bench.ip(&format!("-j -d link show dev {interface}"));
    let said: Value = serde_json::from_str(&said).expect("JSON");
    said[0]["xdp"].is_null() && said[0]["promiscuity"] == 0
}

/// Says what the kills cost.
fn summary(how: &str, lost: &mut [u64], sent: u64, unfiltered: u64) {
    lost.sort_unstable();
    let (median, max) = (lost[lost.len() / 2], lost[lost.len() - 1]);
    let all: u64 = lost.iter().sum();
    println!(
        "{how}: {} kills, {sent} frames sent, {all} lost (a kill: median {median}, max {max}), \
         {unfiltered} passed unfiltered",
        lost.len()
    );
}

#[test]
fn without_a_bypass_a_kill_leaves_the_interfaces_clean() {
    let Some(bench) = Bench::new().map(Arc::new) else {
        return;
    };
    introduce(&bench);
    let traffic = Traffic::start(&bench);
    let mut lost = Vec::new();
    for kill in 0..kills() {
        let running = bench.bridge("xdp:a xdp:b");
        await_that("frames pass", || traffic.passes());
        let begin = traffic.sent();
        running.kill();
        await_that(&format!("the interfaces are clean, kill {kill}"), || {
            is_clean(&bench, "a") && is_clean(&bench, "b")
        });
        // Until the next bridge is there the wire is cut; the time is the test's.
        let end = traffic.sent();
        sleep(SETTLE);
        lost.push(end - begin - traffic.came(begin..end));
    }
    summary(
        "without bypass, until the interfaces were clean",
        &mut lost,
        traffic.sent(),
        0,
    );
    traffic.stop();
}

#[test]
fn with_a_bypass_the_next_bridge_adopts_what_a_kill_leaves() {
    let Some((bench, pins)) = prepared() else {
        return;
    };
    let bench = Arc::new(bench);
    introduce(&bench);
    let traffic = Traffic::start(&bench);
    let passed = || -> u64 {
        let counts = shown(&bench, &pins);
        counts
            .iter()
            .map(|bypass| bypass["unfiltered"].as_u64().expect("a count"))
            .sum()
    };
    let (mut lost, mut unfiltered, mut began) = (Vec::new(), 0, None);
    for kill in 0..kills() {
        let program = shown(&bench, &pins)
            .first()
            .map(|bypass| bypass["program_id"].clone());
        let running = bench.bridge(&pins.ports());
        await_that(&format!("its own program, kill {kill}"), || {
            shown(&bench, &pins)
                .first()
                .map(|bypass| bypass["program_id"].clone())
                != program
        });
        await_that("the bridge filters", || {
            let before = passed();
            traffic.passes() && passed() == before
        });
        // From one kill to the start of the next, the way over to the next bridge with it.
        if let Some(begin) = began {
            let end = traffic.sent();
            sleep(SETTLE);
            lost.push(end - begin - traffic.came(begin..end));
        }
        began = Some(traffic.sent());
        running.kill();
        await_that("frames pass without a bridge", || traffic.passes());
        let counted = passed();
        assert!(counted > 0, "they were counted");
        unfiltered += counted;
    }
    // Frames pass by the bypass before the bridge has begun: what tells is the program's number.
    let program = |bench: &Bench| {
        let first = shown(bench, &pins);
        first.first().map(|bypass| bypass["program_id"].clone())
    };
    let before = program(&bench);
    let running = bench.bridge(&pins.ports());
    await_that("its own program", || program(&bench) != before);
    await_that("frames pass", || traffic.passes());
    let report = running.stop();
    let mode = report["ports"][0]["mode"].as_str().expect("a mode");
    assert!(mode.contains("bypass adopted"), "{report}");
    let (begin, end) = (began.expect("a kill"), traffic.sent());
    sleep(SETTLE);
    lost.push(end - begin - traffic.came(begin..end));
    summary(
        "with bypass, into the next bridge",
        &mut lost,
        traffic.sent(),
        unfiltered,
    );
    traffic.stop();
    let output = bench.run(&format!("bypass off a b --folder {}", pins.folder()));
    assert!(output.status.success(), "{output:?}");
    assert!(is_clean(&bench, "a") && is_clean(&bench, "b"));
}
