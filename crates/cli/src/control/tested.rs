//! `set test`: which sets have an address, by which entries, and what they do together.

use daemon::rpc::answers::{
    Action, AddressVerdict, HitCounts, Match, SetTest, Side, TestAnswer, TestParams,
};

use super::ago::{ago, span};
use super::{connect, failed, tell};
use crate::args::TestArgs;
use crate::error::Outcome;
use crate::exit::ExitCode;
use crate::output::{Output, Stream};
use crate::paint::Paint;
use crate::report::number::{plural, range};
use crate::report::table::{Align, Table, wrap};

pub(super) fn run(args: &TestArgs, output: Output) -> Outcome {
    let mut client = connect(&args.answer.daemon)?;
    let params = TestParams {
        address: args.address,
    };
    let answer: TestAnswer = client.call("set.test", &params).map_err(failed)?;
    let (paint, width) = (output.paint(Stream::Stdout), output.width(Stream::Stdout));
    let text = sets(&answer, paint, width) + &verdicts(&answer, width);
    tell(args.answer.json, &answer, &text, output)?;
    Ok(
        match answer.sets.iter().any(|set| !set.matches.is_empty()) {
            true => ExitCode::Done,
            false => ExitCode::CheckFailed,
        },
    )
}

/// What each set says.
fn sets(answer: &TestAnswer, paint: Paint, width: usize) -> String {
    let address = paint.bold(&answer.address.to_string());
    let found: Vec<&SetTest> = answer
        .sets
        .iter()
        .filter(|set| !set.matches.is_empty())
        .collect();
    if found.is_empty() {
        let sets = plural(answer.sets.len() as u64, "set", "sets");
        return format!("{address}: in none of {sets}\n");
    }
    let mut text = String::new();
    for set in found {
        let does = paint_action(set.action, paint);
        text += &format!("{address}: in '{}' ({does}){}\n", set.set, hits(&set.hits));
        text += &matches(&set.matches).render(paint, width);
    }
    let none: Vec<&str> = answer
        .sets
        .iter()
        .filter(|set| set.matches.is_empty())
        .map(|set| set.set.as_str())
        .collect();
    if !none.is_empty() {
        text += &wrap(&format!("  not in {}", none.join(", ")), 4, width);
    }
    text
}

fn paint_action(action: Action, paint: Paint) -> String {
    match action {
        Action::Block => paint.bad(action.name()),
        Action::Count => paint.warning(action.name()),
        Action::Allow => paint.good(action.name()),
    }
}

fn hits(hits: &HitCounts) -> String {
    let (Some(minute), Some(hour)) = (hits.last_minute, hits.last_hour) else {
        return String::new();
    };
    let whose = match hits.of_sets {
        0 | 1 => String::new(),
        sets => format!(" (by the {sets} sets that have it, together)"),
    };
    format!(
        ", hit {} times in the last minute and {} in the last hour{whose}",
        range(minute, hits.last_minute_error),
        range(hour, hits.last_hour_error)
    )
}

/// A comment of an older release may hold what does something to a terminal.
fn printable(comment: &str) -> String {
    let shown = |c: char| if c.is_control() { '?' } else { c };
    comment.chars().map(shown).collect()
}

fn matches(matches: &[Match]) -> Table {
    let mut table = Table::new(&[
        ("entry", Align::Left),
        ("from", Align::Left),
        ("since", Align::Right),
        ("left", Align::Right),
        ("comment", Align::Left),
    ]);
    for found in matches {
        table.row([
            found.entry.clone(),
            found.place.clone().unwrap_or_else(|| found.from.clone()),
            found.since.map_or_else(|| "-".to_owned(), ago),
            found
                .left_ms
                .map_or_else(|| "-".to_owned(), |left| span(left / 1000)),
            printable(found.comment.as_deref().unwrap_or_default()),
        ]);
    }
    table
}

/// What all sets do together, a line a side, or a line a side and port where ports differ.
fn verdicts(answer: &TestAnswer, width: usize) -> String {
    let mut text = String::new();
    for (side, word) in [(Side::Source, "from"), (Side::Destination, "to")] {
        let of_side = || answer.verdicts.iter().filter(|one| one.side == side);
        // Of a stateful bridge no set lets a frame pass that begins what may not begin there.
        let does = |one: &AddressVerdict| match (answer.stateful, does(one)) {
            (true, said) if said.starts_with("passes") => said.replacen("passes", "may pass", 1),
            (_, said) => said,
        };
        let mut sentences: Vec<String> = of_side().map(does).collect();
        sentences.dedup();
        let head = format!("a frame {word} {}", answer.address);
        match sentences.as_slice() {
            [same] => text += &wrap(&format!("{head} {same}"), 2, width),
            _ => {
                for one in of_side() {
                    let line = format!("{head} that enters by {} {}", one.port, does(one));
                    text += &wrap(&line, 2, width);
                }
            }
        }
    }
    if !text.is_empty() {
        text += &wrap(&limits(answer), 4, width);
    }
    text
}

/// What the address alone cannot tell.
fn limits(answer: &TestAnswer) -> String {
    let flows = match answer.stateful {
        true => {
            "; and a frame of no known connection passes only by a port of allow_new, whatever an \
             allow set says"
        }
        false => "",
    };
    format!("(by this address alone: the other address of a frame may have it dropped{flows})")
}

/// What becomes of such a frame, and by which sets.
fn does(verdict: &AddressVerdict) -> String {
    let (block, allow, count) = (
        quoted(&verdict.block),
        quoted(&verdict.allow),
        quoted(&verdict.count),
    );
    let exempted: Vec<String> = [&verdict.block[..], &verdict.count[..]].concat();
    let counted = match verdict.would_drop {
        true => format!(", and counted: {count} would drop it"),
        false => String::new(),
    };
    match &verdict.drop {
        Some(reason) if verdict.block.is_empty() => format!(
            "is dropped ({reason}): the default is drop and no allow set has this address, so it \
             passes only where one has its other address{counted}"
        ),
        Some(reason) => format!("is dropped ({reason}) by {block}"),
        None if verdict.would_drop => format!("passes, and is counted: {count} would drop it"),
        None if verdict.allow.is_empty() => "passes: no set stops it".to_owned(),
        None if exempted.is_empty() => format!("passes: {allow} allows it"),
        None => format!("passes: {allow} exempts it from {}", quoted(&exempted)),
    }
}

/// `'a', 'b'`.
fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(sets: [&[&str]; 3], drop: Option<&str>, would_drop: bool) -> AddressVerdict {
        let [block, allow, count] =
            sets.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        AddressVerdict {
            port: "outside".to_owned(),
            side: Side::Source,
            drop: drop.map(str::to_owned),
            block,
            allow,
            count,
            would_drop,
        }
    }

    #[test]
    fn what_all_sets_do_together() {
        let office: &[&str] = &["office"];
        for (sets, drop, would_drop, said) in [
            ([&[][..], &[], &[]], None, false, "passes: no set stops it"),
            (
                [&["bad", "worse"], &[], &["trial"]],
                Some("blocked_src"),
                false,
                "is dropped (blocked_src) by 'bad', 'worse'",
            ),
            (
                [&[], &[], &["trial"]],
                None,
                true,
                "passes, and is counted: 'trial' would drop it",
            ),
            (
                [&[], office, &[]],
                None,
                false,
                "passes: 'office' allows it",
            ),
            (
                [&["bad"], office, &["trial"]],
                None,
                false,
                "passes: 'office' exempts it from 'bad', 'trial'",
            ),
            (
                [&[], &[], &["trial"]],
                Some("not_allowed"),
                true,
                "is dropped (not_allowed): the default is drop and no allow set has this \
                 address, so it passes only where one has its other address, and counted: \
                 'trial' would drop it",
            ),
        ] {
            assert_eq!(does(&verdict(sets, drop, would_drop)), said);
        }
    }

    #[test]
    fn ports_are_named_where_they_differ() {
        let passes = verdict([&[], &[], &[]], None, false);
        let inside = AddressVerdict {
            port: "inside".to_owned(),
            ..verdict([&["bad"], &[], &[]], Some("blocked_src"), false)
        };
        let answer = |verdicts, stateful| TestAnswer {
            address: [192, 0, 2, 7].into(),
            sets: Vec::new(),
            verdicts,
            stateful,
        };
        let same = verdicts(&answer(vec![passes.clone(), passes.clone()], false), 120);
        assert!(!same.contains("enters by"), "{same}");
        assert_eq!(same.lines().count(), 2, "{same}");
        let differ = verdicts(&answer(vec![passes, inside], true), 120);
        assert!(differ.contains("192.0.2.7 that enters by outside may pass: no set"));
        assert!(differ.contains("that enters by inside is dropped (blocked_src) by 'bad'"));
        assert!(differ.contains("no known connection"), "{differ}");
        assert_eq!(verdicts(&answer(Vec::new(), false), 120), "");
    }
}
