//! The same frames through the kernel's bridge with nft sets and through ours with the same lists:
//! the same ones come out, frame by frame and byte by byte.

mod frames;
mod lists;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::bench::{Bench, Side, missing};
use crate::drivers::{Driver, SHORTCUT, on_each_driver};
use crate::random::{Random, seed};
pub(crate) use frames::{Crafted, draw as draw_frame};
pub(crate) use lists::List;

const FRAMES: u32 = 20_000;

on_each_driver!(blocked_as_nft_blocks, policies_as_nft_has_them);

#[test]
fn a_shortcut_blocks_as_nft_blocks() {
    blocked_as_nft_blocks(SHORTCUT);
}

#[test]
fn a_shortcut_has_policies_as_nft_has_them() {
    policies_as_nft_has_them(SHORTCUT);
}

/// The lists, the frames, and what of them came out of the kernel's bridge, with a digest of each.
struct Case {
    seed: u64,
    lists: Vec<List>,
    frames: Vec<Crafted>,
    passed: BTreeMap<u32, String>,
}

/// The kernel is asked once for all drivers.
type Judged = OnceLock<Option<Case>>;

/// The version is named, since nft reads addresses out of anything of the ethertype, and we only
/// out of what is of the protocol.
fn blocked_as_nft_blocks(driver: Driver) {
    static JUDGED: Judged = OnceLock::new();
    let case = JUDGED.get_or_init(|| {
        let rules = "ip version 4 ip saddr @l0_4 drop; ip version 4 ip daddr @l0_4 drop; \
                     ip6 version 6 ip6 saddr @l0_6 drop; ip6 version 6 ip6 daddr @l0_6 drop;";
        Case::draw(1).judged(rules)
    });
    if let Some(case) = case {
        case.must_agree(driver, &["--block"]);
    }
}

/// A list for each side, and one of exemptions, which holds parts of both.
fn policies_as_nft_has_them(driver: Driver) {
    static JUDGED: Judged = OnceLock::new();
    let case = JUDGED.get_or_init(|| {
        let rules = "ip version 4 ip saddr @l0_4 ip saddr != @l2_4 drop; \
                     ip version 4 ip daddr @l1_4 ip daddr != @l2_4 drop; \
                     ip6 version 6 ip6 saddr @l0_6 ip6 saddr != @l2_6 drop; \
                     ip6 version 6 ip6 daddr @l1_6 ip6 daddr != @l2_6 drop;";
        let mut case = Case::draw(3);
        case.exempt_some();
        case.judged(rules)
    });
    if let Some(case) = case {
        case.must_agree(driver, &["--block-src", "--block-dst", "--allow"]);
    }
}

impl Case {
    fn draw(lists: usize) -> Self {
        let seed = seed();
        let random = &mut Random::new(seed);
        let lists: Vec<_> = (0..lists).map(|_| List::draw(random)).collect();
        let frame = |number| {
            let list = random.below(lists.len());
            frames::draw(random, &lists[list], number)
        };
        Self {
            seed,
            frames: (0..FRAMES).map(frame).collect(),
            lists,
            passed: BTreeMap::new(),
        }
    }

    /// The last list gets every third entry of the others.
    fn exempt_some(&mut self) {
        let (last, others) = self.lists.split_last_mut().expect("a list");
        for list in others {
            last.v4.take_some(&list.v4);
            last.v6.take_some(&list.v6);
        }
    }

    /// With the kernel's verdicts; `None`, with the reason printed, where it cannot be asked.
    fn judged(mut self, rules: &str) -> Option<Self> {
        let bench = Bench::new()?;
        if missing(&["nft"]).is_some() {
            println!("skipped: `nft` is not installed");
            return None;
        }
        if !kernel_bridge(&bench) {
            println!("skipped: this kernel has no bridge");
            return None;
        }
        let sets = self.lists.iter().enumerate();
        let sets: String = sets
            .map(|(at, list)| list.sets(&format!("l{at}_")))
            .collect();
        let table = format!(
            "table bridge linerate {{\n{sets}\nchain pass {{ type filter hook forward priority 0; \
             policy accept; {rules} }}\n}}\n"
        );
        let folder = TempDir::new().expect("a folder");
        let file = written(&folder, "rules.nft", table);
        let loaded = bench.on(Side::Middle, &format!("nft -f {file}"));
        if !loaded.status.success() {
            let said = String::from_utf8_lossy(&loaded.stderr);
            println!("skipped: no nft sets on bridges here: {}", said.trim());
            return None;
        }
        self.passed = self.cross(&bench);
        Some(self)
    }

    /// Malformed frames are judged by their addresses alone, and tunnels by their outer header, as
    /// nft does.
    #[track_caller]
    fn must_agree(&self, driver: Driver, options: &[&str]) {
        let Some(bench) = Bench::new() else { return };
        let folder = TempDir::new().expect("a folder");
        let mut words = "--malformed forward --match outer --force".to_owned();
        for (option, list) in options.iter().zip(&self.lists) {
            let name = option.trim_start_matches('-');
            words += &format!(" {option} {}", written(&folder, name, list.text()));
        }
        let bridge = driver.bridge(&bench, &words);
        let ours = self.cross(&bench);
        let report = bridge.stop();
        for port in 0..2 {
            assert_eq!(report["ports"][port]["missed"], 0, "{report}");
        }
        let passed = self.passed.len();
        assert!((1_000..19_000).contains(&passed), "{passed} frames passed");
        for (number, frame) in (0..).zip(&self.frames) {
            assert_eq!(
                self.passed.get(&number),
                ours.get(&number),
                "kernel, then ours: frame {number} of seed {}: {}: {:02x?}",
                self.seed,
                frame.kind,
                frame.bytes
            );
        }
    }

    /// Sends all frames from the left host: what the right host gets of them.
    fn cross(&self, bench: &Bench) -> BTreeMap<u32, String> {
        let mut records = Vec::new();
        for frame in &self.frames {
            records.extend((frame.bytes.len() as u32).to_be_bytes());
            records.extend(&frame.bytes);
        }
        let folder = TempDir::new().expect("a folder");
        let file = written(&folder, "frames", records);
        replayed(bench, &file)
    }
}

/// The kernel's bridge between `a` and `b`; false where it has none.
fn kernel_bridge(bench: &Bench) -> bool {
    let bridge = "ip link add name br type bridge mcast_snooping 0";
    if !bench.succeeds(Side::Middle, bridge) {
        return false;
    }
    for port in ["a", "b"] {
        bench.ip(&format!("link set dev {port} master br"));
        bench.ip(&format!(
            "link set dev {port} type bridge_slave learning off"
        ));
    }
    bench.ip("link set dev br up");
    // Where this exists it cuts padding off and drops what is malformed, before any rule.
    for family in ["iptables", "ip6tables", "arptables"] {
        let off = format!("sysctl -qw net.bridge.bridge-nf-call-{family}=0");
        let _absent = bench.on(Side::Middle, &off);
    }
    true
}

/// Has the left host send the frames of a file, each behind its length and with its number in its
/// source address: what the right host gets of them, with a digest of each.
pub(crate) fn replayed(bench: &Bench, file: &str) -> BTreeMap<u32, String> {
    let mut recorder = bench.role(Side::Right, "record r");
    let mut said = BufReader::new(recorder.output());
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert_eq!(line.trim(), "ready");
    bench.role_says(Side::Left, &format!("replay l {file}"));
    let mut passed = BTreeMap::new();
    for line in said.lines().map(|line| line.expect("a line")) {
        let (number, digest) = line.split_once(' ').expect("two fields");
        let number = number.parse().expect("a number");
        let twice = passed.insert(number, digest.to_owned());
        assert!(twice.is_none(), "frame {number} came twice");
    }
    let (code, _, error) = recorder.ended();
    assert_eq!(code, 0, "{error}");
    passed
}

/// A file of the folder, by its path.
fn written(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    path.display().to_string()
}
