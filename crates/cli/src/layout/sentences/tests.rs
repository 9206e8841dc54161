//! Sentences of made-up investigations.

use lab::Samples;
use lab::layout::{Measured, Remedy};

use super::*;

fn ratio(median: f64) -> Ratio {
    Ratio {
        median,
        low: median,
        high: median,
    }
}

fn report(compared: &[(Moved, f64, bool)]) -> Report {
    let compared = compared.iter().map(|&(moved, median, differs)| Compared {
        moved,
        speed: ratio(median),
        differs,
    });
    Report {
        program: "a".to_owned(),
        measured: Measured::Cpu,
        runs: 10,
        blocks: Vec::new(),
        seen: 0,
        stack: 0,
        default: Samples::default(),
        visible: 0.03,
        compared: compared.collect(),
        blame: None,
        notes: Vec::new(),
    }
}

#[test]
fn answers() {
    let (blocks, stack) = (Moved::Blocks(64), Moved::Stack(16));
    for (compared, answer) in [
        (&[][..], "nothing could be moved"),
        (
            &[(blocks, 1.5, false)],
            "no difference on this machine: 3.0 %",
        ),
        (
            &[(blocks, 1.5, true)],
            "1.50 times as fast as the worst, which is the default",
        ),
        (
            &[(blocks, 0.5, true)],
            "2.00 times as fast as the worst, and the default is the best",
        ),
        (
            &[(blocks, 0.5, true), (stack, 1.5, true)],
            "3.00 times as fast as the worst, and the default lies between",
        ),
        // What is no difference does not count.
        (
            &[(blocks, 0.5, false), (stack, 1.5, true)],
            "1.50 times as fast",
        ),
    ] {
        let said = &findings(&report(compared))[0];
        assert!(said.contains(answer), "{compared:?}: {said}");
    }
}

#[test]
fn the_environment_is_named() {
    for (compared, named) in [
        (&[(Moved::Stack(16), 1.5, true)][..], true),
        (
            &[
                (Moved::Stack(16), 1.5, false),
                (Moved::Stack(32), 0.5, true),
            ],
            true,
        ),
        (
            &[
                (Moved::Stack(16), 1.5, false),
                (Moved::Blocks(64), 0.5, true),
            ],
            false,
        ),
    ] {
        let said = findings(&report(compared));
        let found = said
            .iter()
            .any(|line| line.contains("size of the environment"));
        assert_eq!(found, named, "{compared:?}: {said:?}");
    }
}

#[test]
fn blame_has_cause_and_remedy() {
    let first_set = Cause::FirstSet {
        blocks: 16,
        ways: 8,
    };
    for (speed, cause, apart, works, parts) in [
        (
            1.5,
            Cause::Alias,
            Some(64),
            true,
            ["4 KiB aliasing", "what to do: place these blocks 64"],
        ),
        (
            1.5,
            first_set,
            Some(256),
            false,
            ["16 blocks begin", "help does not"],
        ),
        (
            1.5,
            Cause::NotByAddresses,
            None,
            true,
            ["not explained by", "place each of these"],
        ),
        (
            0.5,
            Cause::Alias,
            None,
            false,
            ["of the loss", "nothing is to be done now"],
        ),
    ] {
        let mut report = report(&[(Moved::Blocks(64), speed, true)]);
        report.blame = Some(Blame {
            compared: report.compared[0],
            blocks: (0..20).collect(),
            partners: vec![30],
            explained: 0.9,
            cause,
            remedy: (speed > 1.0).then(|| Remedy {
                apart_bytes: apart,
                speed: ratio(speed),
                works,
            }),
        });
        let said = findings(&report).join("\n");
        for part in parts
            .into_iter()
            .chain(["moving block 0, block 1", "moving block 30 along"])
        {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn blocks_that_follow_each_other_are_ranges() {
    for (orders, text) in [
        (&[][..], ""),
        (&[3], "3"),
        (&[1, 2], "1 to 2"),
        (&[1, 2, 3, 7], "1 to 3 and 7"),
        (&[0, 2, 4], "0, 2 and 4"),
        (&[5, 4, 3], "5, 4 and 3"),
    ] {
        assert_eq!(list(&ranges(orders)), text);
    }
}
