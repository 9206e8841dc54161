//! What can be held without interfaces, and what is left of them.

use std::path::Path as File;
use std::time::{Duration, Instant};

use super::bench::{Bench, Measured};
use super::namespace::Namespace;
use super::rows::kept;
use super::{Path, asked_paths, prepare};

fn trial(frames: u64) -> Measured {
    Measured {
        seconds: 0.5,
        sent: 2 * frames,
        frames,
        cpu_nanos: 1000.0 * frames as f64,
    }
}

#[test]
fn cpu_time_is_what_sending_does_not_explain() {
    let trial = trial(1_000_000);
    assert_eq!(trial.frames_per_second(), 2e6);
    assert_eq!(trial.send_nanos(), 500.0);
    // Two were sent for each that arrived: 1000 - 2 * 300.
    assert_eq!(trial.nanos_per_frame(300.0), 400.0);
    let nothing = Measured::default();
    assert!(nothing.nanos_per_frame(300.0) == 0.0 && nothing.frames_per_second() == 0.0);
}

#[test]
fn warm_up_and_null_run_are_left_out() {
    let frames = |kept: Vec<Measured>| kept.iter().map(|one| one.frames).collect::<Vec<_>>();
    let once: Vec<Measured> = (0..4).map(trial).collect();
    assert_eq!(frames(kept(&once, 3)), [1, 2, 3]);
    let twice: Vec<Measured> = (0..8).map(trial).collect();
    assert_eq!(frames(kept(&twice, 3)), [2, 4, 6]);
    assert!(kept(&[], 3).is_empty());
}

#[test]
fn a_namespace_ends_and_the_thread_is_home_again() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: network namespaces need root");
        return;
    }
    let here = || std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace");
    let home = here();
    let namespace = match Namespace::enter() {
        Ok(namespace) => namespace,
        Err(reason) => return println!("skipped: {reason}"),
    };
    assert_ne!(here(), home);
    let keeper = format!("/proc/{}", namespace.keeper());
    assert!(File::new(&keeper).exists());
    drop(namespace);
    assert_eq!(here(), home);
    let begun = Instant::now();
    while File::new(&keeper).exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{keeper} is left"
        );
    }
}

#[test]
fn paths_are_asked_for_by_name() {
    let asked = |names| asked_paths(names).map_err(|error| error.0);
    assert_eq!(asked(None), Ok(Path::ALL.to_vec()));
    let two = Ok(vec![Path::XdpRedirect, Path::Nft]);
    assert_eq!(asked(Some("xdp_redirect, nft")), two);
    for names in ["", "nft,", "generator_only"] {
        let refused = asked(Some(names)).expect_err("no path has this name");
        assert!(refused.contains("xdp_hash_map, packet"), "{refused}");
    }
}

/// Trials of a variant until frames come out: other tests may have the CPUs meanwhile.
const TRIES: usize = 50;

#[test]
fn every_path_forwards_and_drops() {
    let (cpus, _namespace) = match prepare() {
        Ok(prepared) => prepared,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let mut bench = match Bench::new(&[0, 1000], &Path::ALL, cpus, Duration::from_millis(40), 1) {
        Ok(bench) => bench,
        Err(reason) => return println!("skipped: {reason}"),
    };
    for reason in &bench.skipped {
        println!("skipped: {reason}");
    }
    let variants = bench.variants();
    assert!(!variants.is_empty());
    for variant in variants {
        let passed = (0..TRIES).any(|_| {
            let trial = bench.trial(variant);
            trial.expect("a trial of a lane that there is").frames > 0
        });
        assert!(passed, "{variant:?}");
    }
}
