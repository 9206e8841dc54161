//! A process that changes sets is killed with -9 at random moments, again and again.
//!
//! 30 times; `LINERATE_KILLS` says another number.

use crate::world::{Random, World, name, now_ms};
use daemon::journal::{Journal, OpenOptions};
use daemon::sets::{NewEntry, Origin, Request};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use table::live::Entry;

/// Where the process that is killed has its journal; set only for that process.
const FOLDER: &str = "LINERATE_KILLED_FOLDER";
const SEED: &str = "LINERATE_KILLED_SEED";

/// A change: every one is made of its seed and its number alone.
fn draw(seed: u64, number: u64) -> (bool, Vec<u32>) {
    let mut random = Random(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let is_add = random.below(3) > 0;
    let count = if random.below(8) == 0 { 3000 } else { 1 };
    let first = random.below(20_000) as u32;
    (is_add, (first..first + count).collect())
}

fn request(seed: u64, number: u64) -> Request {
    let (is_add, indices) = draw(seed, number);
    let set = name("a");
    let entries = indices.into_iter().map(Entry::address_v4);
    if is_add {
        let new = |entry| NewEntry {
            entry,
            timeout: Some(Duration::from_secs(86_400)),
            comment: Some("x".repeat(200).into()),
        };
        Request::Add {
            set,
            entries: entries.map(new).collect(),
            origin: Origin::Hand,
        }
    } else {
        Request::Delete {
            set,
            entries: entries.collect(),
            origin: Origin::Hand,
        }
    }
}

/// The process that is killed: changes without end, and says so after each answer. Where nobody
/// wants it killed it does nothing.
#[test]
fn the_one_that_is_killed() {
    let Ok(dir) = std::env::var(FOLDER) else {
        return;
    };
    let seed = std::env::var(SEED)
        .expect("a seed")
        .parse()
        .expect("a number");
    let world = World::kept(&["a"], Path::new(&dir));
    let mut out = std::io::stdout().lock();
    writeln!(out, "acknowledged start").expect("a parent");
    for number in 0.. {
        world.handle.ask(request(seed, number)).expect("an answer");
        writeln!(out, "acknowledged {number}").expect("a parent");
    }
}

/// Runs it and kills it; how many changes were answered, or none where it had not begun.
fn run_and_kill(dir: &Path, seed: u64, random: &mut Random) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "killed::the_one_that_is_killed", "--nocapture"])
        .env(FOLDER, dir)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut answered = None;
    let mut take = |line: std::io::Result<String>| {
        let line = line.expect("text");
        match line.split_once("acknowledged ").map(|(_, what)| what) {
            Some("start") => answered = Some(0),
            Some(number) => answered = number.parse().ok().map(|number: u64| number + 1),
            None => {}
        }
        answered.is_some()
    };
    // Now and then it is killed while it starts.
    if random.below(5) > 0 {
        for line in lines.by_ref() {
            if take(line) {
                break;
            }
        }
    }
    std::thread::sleep(Duration::from_micros(random.below(200_000)));
    child.kill().expect("killed");
    for line in lines {
        take(line);
    }
    child.wait().expect("it has ended");
    answered
}

#[test]
fn nothing_that_was_answered_is_lost() {
    let kills = std::env::var("LINERATE_KILLS").ok();
    let kills = kills.and_then(|kills| kills.parse().ok()).unwrap_or(30);
    let mut random = Random::seeded();
    let dir = tempfile::tempdir().expect("a folder");
    let mut wanted: BTreeSet<u32> = BTreeSet::new();
    let (mut begun, mut changes) = (0, 0);
    for kill in 0..kills {
        let seed = random.word();
        let answered = run_and_kill(dir.path(), seed, &mut random);
        for number in 0..answered.unwrap_or(0) {
            change(&mut wanted, draw(seed, number));
        }
        let opened = Journal::open(dir.path(), OpenOptions::default(), now_ms());
        let (_, kept, _) = opened.unwrap_or_else(|error| panic!("kill {kill}: {error}"));
        let kept: BTreeSet<u32> = kept
            .sets
            .get(&name("a"))
            .into_iter()
            .flat_map(|set| set.entries.keys())
            .map(|entry| match entry {
                Entry::V4(range) => range.first(),
                Entry::V6(_) => panic!("{entry}"),
            })
            .collect();
        // The change that was under way when it was killed may be in force in part.
        let (_, last) = draw(seed, answered.unwrap_or(0));
        let lost: Vec<_> = wanted.symmetric_difference(&kept).collect();
        let under_way = |index: &&&u32| last.contains(**index);
        let lost: Vec<_> = lost.iter().filter(|index| !under_way(index)).collect();
        assert!(
            lost.is_empty(),
            "kill {kill}, {answered:?} answered: {lost:?}"
        );
        wanted = kept;
        begun += u64::from(answered.is_some());
        changes += answered.unwrap_or(0);
    }
    println!("{kills} kills, {begun} after the start, {changes} changes answered");
    assert!(begun > 0 && changes > 0, "nothing was changed at all");
}

fn change(wanted: &mut BTreeSet<u32>, (is_add, indices): (bool, Vec<u32>)) {
    for index in indices {
        if is_add {
            wanted.insert(index);
        } else {
            wanted.remove(&index);
        }
    }
}
