//! Lists that must not come into force come while frames go by, and a set blocks and counts.

use std::fmt::Write;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use daemon::rpc::Client;

use crate::bridge::{Bridge, PATIENCE, facts, received};
use crate::changes::{self, Done, FLIP, Random, TRACKS};
use crate::model::{Change, Sides, Space};
use crate::run::followed;
use crate::seed;

/// Upper bytes that no machine of ours has an address in, and that are not private.
const KEPT: [u8; 8] = [11, 21, 22, 26, 28, 29, 30, 33];
/// Frames that must be judged between one list and the next.
const BETWEEN: u64 = 20_000;

fn space(upper: u8) -> Space {
    match upper {
        _ if KEPT.contains(&upper) => Space::Blocked,
        104..=119 => Space::Of(FLIP),
        _ => Space::Free,
    }
}

/// Each of 256 networks of these upper bytes.
fn lines(uppers: &[u8]) -> String {
    let mut text = String::new();
    for upper in uppers {
        for second in 0..=255 {
            writeln!(text, "{upper}.{second}.0.0/16").expect("memory");
        }
    }
    text
}

/// A bad list, and how its refusal reads.
struct Bad {
    what: &'static str,
    list: String,
    says: String,
}

fn bad_lists() -> Vec<Bad> {
    let good = lines(&KEPT);
    let bad = |what, list, says: &str| Bad {
        what,
        list,
        says: says.to_owned(),
    };
    let line = good.lines().count() + 1;
    let private = format!("kept.txt:{line}: 10.0.0.0/8 covers private space 10.0.0.0/8");
    vec![
        bad("emptied", "# nothing\n".to_owned(), "holds no entries"),
        bad("truncated", lines(&KEPT[..3]), "has 768 entries"),
        bad(
            "doubled",
            good.clone() + &lines(&[44, 45, 46, 47, 48, 49, 50, 51, 52]),
            "2304 new",
        ),
        bad("private", good + "10.0.0.0/8\n", &private),
    ]
}

/// The sample of the daemon's metrics that begins so; none where there is none.
fn sample(port: u16, begins: &str) -> Option<f64> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let asked = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    asked.ok()?;
    let mut page = String::new();
    stream.read_to_string(&mut page).ok()?;
    let line = page.lines().find(|line| line.starts_with(begins))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[track_caller]
fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(10));
    }
}

/// So many frames more are judged.
fn await_frames(client: &mut Client) {
    let before = received(client);
    await_that("frames pass", || received(client) >= before + BETWEEN);
}

/// It comes, is refused, counted and logged, and the old list stays.
fn refused(bridge: &Bridge, client: &mut Client, metrics: u16, number: u64, bad: &Bad) {
    let before = facts(client, "kept").entries;
    bridge.replace("kept.txt", &bad.list);
    await_that(bad.what, || facts(client, "kept").refusals == number);
    let after = facts(client, "kept");
    assert_eq!(after.entries, before, "{}", bad.what);
    let said = after.refused.unwrap_or_default();
    assert!(said.contains(&bad.says), "{}: {said}", bad.what);
    let counted = "linerate_set_refreshes_total{set=\"kept\",result=\"refused\"}";
    let stale = "linerate_set_stale{set=\"kept\"}";
    await_that("the metrics say so", || {
        sample(metrics, counted) == Some(number as f64) && sample(metrics, stale) == Some(1.0)
    });
    await_that("the log says so", || bridge.log().contains(&bad.says));
    await_frames(client);
}

fn all_are_refused(bridge: &Bridge, metrics: u16) {
    let mut client = bridge.client();
    await_frames(&mut client);
    for (bad, number) in bad_lists().iter().zip(1..) {
        refused(bridge, &mut client, metrics, number, bad);
    }
    // What is sound is taken again: an entry more that no frame has.
    bridge.replace("kept.txt", &(lines(&KEPT) + "11.1.1.1\n"));
    let entries = KEPT.len() as u64 * 256 + 1;
    await_that("a sound list", || {
        facts(&mut client, "kept").entries == entries
    });
    let stale = "linerate_set_stale{set=\"kept\"}";
    await_that("no longer stale", || sample(metrics, stale) == Some(0.0));
    await_frames(&mut client);
}

#[test]
fn bad_lists_are_refused_and_a_set_flips_without_a_wrongly_judged_frame() {
    // Somebody else might take the port in between; no other test of this machine does.
    let free = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let metrics = free.local_addr().expect("its address").port();
    drop(free);
    let set = |name| {
        format!(
            "[[set]]\nname = '{name}'\naction = 'block'\nsides = 'source'\nsource = '{name}.txt'\n"
        )
    };
    let sets = format!(
        "{}{}allow_private = true\n[metrics]\naddress = '127.0.0.1:{metrics}'\n",
        set("kept"),
        set("flip")
    );
    let (seed, done) = (seed(), Done::default());
    let sides = Sides::new(TRACKS, space);
    let flip = Change::nets(104 << 8..120 << 8, true);
    sides.tracks[FLIP].answered(sides.tracks[FLIP].announce(flip));
    sides.mark(0, sides.all_answered());
    let lists = [
        ("kept.txt", &*lines(&KEPT)),
        ("flip.txt", "104.0.0.0/5\n112.0.0.0/5\n"),
    ];
    let mut bridge = Bridge::start(seed, &sets, &lists);
    let run = followed(&mut bridge, &sides, |bridge| {
        scope(|threads| {
            threads.spawn(|| changes::flipped(bridge, &sides, Random(seed), &done));
            threads.spawn(|| changes::marked(bridge, &sides));
            let refused = threads.spawn(|| all_are_refused(bridge, metrics));
            await_that("the lists are refused", || {
                refused.is_finished() || sides.is_over()
            });
            sides.end();
        });
    });
    println!("{:?}, {:?} changes", run.judged, done.all());
    run.must_be_right(&sides);
    assert!(done.all()[FLIP] > 5, "{:?}", done.all());
}
