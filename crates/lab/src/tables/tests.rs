//! Rows as the contract says, of sets small enough for a test.

use std::time::Duration;

use super::*;
use crate::Trial;

fn scale() -> Scale {
    Scale {
        entries: &[5000],
        rounds: 1,
        trial: Duration::from_micros(1),
        seed: 3,
    }
}

#[test]
fn variants_are_as_the_contract_says_and_have_rates() {
    let trial = Trial {
        round: 0,
        shift_lines: 5,
        seed: 1,
    };
    let mut outcome = Outcome::default();
    let mut contestants = exact::contestants(5000, &scale(), &mut outcome).expect("memory");
    let count = |design: &'static str| {
        let of = |c: &&Contestant| c.variant[0] == ("design", design.into());
        contestants.iter().filter(of).count()
    };
    let counts = [
        "ours", "array", "list", "bucket16", "map8", "bitmap", "limit",
    ]
    .map(count);
    // Four of ours (two families, one list and 16) x two bursts x three streams.
    assert_eq!(counts, [24, 12, 3, 3, 3, 3, 4]);
    for contestant in &mut contestants {
        let names: Vec<_> = contestant.variant.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names[..6],
            ["design", "family", "kind", "entries", "lists", "bytes"]
        );
        let limit = contestant.variant[0].1 == "limit".into();
        assert_eq!(names[6..8] == ["burst", "stream"], !limit);
        let lines = contestant.variant.iter().find(|(name, _)| *name == "lines");
        let is_v4 = contestant.variant.contains(&("family", 4u64.into()));
        let wanted = if is_v4 { "own" } else { "alike" };
        assert_eq!(
            lines.map(|(_, value)| value),
            limit.then_some(&wanted.into())
        );
        let pair = contestant.variant.contains(&("stream", "pair".into()));
        let metric = match (limit, pair) {
            (true, _) => "lines_per_second",
            (_, true) => "pairs_per_second",
            _ => "lookups_per_second",
        };
        assert_eq!(contestant.metric, metric);
        let rate = (contestant.measure)(&trial);
        assert!(rate > 0.0 && rate.is_finite(), "{:?}", contestant.variant);
    }
}

#[test]
fn files_of_networks_are_taken_or_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.txt");
    let named = |text: &[u8]| {
        std::fs::write(&path, text).expect("written");
        let mut outcome = Outcome::default();
        let named = routes::named(&path, &mut outcome);
        named.map(|_| outcome.skipped).map_err(|error| error.0)
    };
    let taken = named(b"192.0.2.0/24\n2001:db8::/32\n");
    assert_eq!(taken, Ok(Vec::new()));
    let skipped = named(b"192.0.2.0/24\nno network\n").expect("one is");
    assert!(skipped[0].contains("mine.txt:2"), "{skipped:?}");
    let cases: [(&[u8], &str); 3] = [
        (b"", "nothing in it is one"),
        (b"\n0.0.0.0/0\n::/0\n", "from line 2 on"),
        (b"\xff\x00\n", "from line 1 on"),
    ];
    for (text, part) in cases {
        let error = named(text).expect_err("none is");
        let parts = [ROUTES_VARIABLE, "mine.txt", part];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        // Options of lists are none here.
        assert!(!error.contains("--"), "{error}");
    }
    std::fs::remove_file(&path).expect("removed");
    let gone = routes::named(&path, &mut Outcome::default()).err();
    let gone = gone.expect("no file");
    assert!(gone.0.contains("mine.txt"), "{}", gone.0);
}
