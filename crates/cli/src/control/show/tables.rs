//! Facts as tables. What was asked before, when it is watched, makes rates of counts.

use daemon::rpc::answers::{
    ConfigAnswer, Drops, Hits, Memory, MemoryFacts, SetHits, Sets, Side, WorkerFacts, Workers,
};

use super::Looks;
use crate::control::counts;
use crate::report::number::{bytes, count, range, rate, share};
use crate::report::table::{Align, Table, wrap};

pub(super) fn workers(now: &Workers, before: Option<&Workers>, looks: Looks) -> String {
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        right("worker"),
        right("cpu"),
        right("busy"),
        right("received"),
        right("ns/frame"),
        right("frames/burst"),
        right("dropped"),
        right("pool free"),
    ]);
    for worker in &now.workers {
        let last = before.and_then(|before| {
            let mut workers = before.workers.iter();
            workers.find(|last| last.worker == worker.worker)
        });
        let seconds = before.map_or(now.seconds, |before| now.seconds - before.seconds);
        let passed = Passed::between(last, worker);
        table.row([
            worker.worker.to_string(),
            worker.cpu.to_string(),
            format!(
                "{:.1} %",
                passed.busy(worker, last.is_some(), seconds) * 100.0
            ),
            rate(passed.frames / seconds.max(1e-3), "pps"),
            ratio(passed.busy_ns, passed.frames),
            ratio(passed.frames, passed.bursts),
            count(worker.drops),
            share(worker.pool_free, worker.pool_frames),
        ]);
    }
    table.render(looks.paint, looks.width)
}

/// What a worker did between two looks, or since the start.
struct Passed {
    frames: f64,
    bursts: f64,
    busy_ns: f64,
}

impl Passed {
    fn between(before: Option<&WorkerFacts>, now: &WorkerFacts) -> Self {
        let passed =
            |of: fn(&WorkerFacts) -> u64| of(now).saturating_sub(before.map_or(0, of)) as f64;
        Self {
            frames: passed(|worker| worker.frames),
            bursts: passed(|worker| worker.bursts),
            busy_ns: passed(|worker| worker.busy_ns),
        }
    }

    fn busy(&self, now: &WorkerFacts, watched: bool, seconds: f64) -> f64 {
        if watched {
            (self.busy_ns / 1e9 / seconds.max(1e-3)).min(1.0)
        } else {
            now.busy_share
        }
    }
}

fn ratio(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1}", part / whole)
    } else {
        "-".to_owned()
    }
}

/// Frames a second, for a column that is there when something is watched.
fn per_second(now: u64, before: u64, seconds: f64) -> String {
    rate(now.saturating_sub(before) as f64 / seconds.max(1e-3), "pps")
}

pub(super) fn drops(now: &Drops, before: Option<&Drops>, looks: Looks) -> String {
    let passed = passed(now);
    if now.drops.is_empty() {
        return format!("no frame was dropped\n{passed}");
    }
    let mut columns = vec![("reason", Align::Left), ("frames", Align::Right)];
    if before.is_some() {
        columns.push(("a second", Align::Right));
    }
    let mut table = Table::new(&columns);
    for drop in &now.drops {
        let mut row = vec![drop.reason.clone(), count(drop.frames)];
        if let Some(before) = before {
            let last = before.drops.iter().find(|last| last.reason == drop.reason);
            let last = last.map_or(0, |last| last.frames);
            row.push(per_second(drop.frames, last, now.seconds - before.seconds));
        }
        table.push(row);
    }
    table.render(looks.paint, looks.width) + &passed
}

/// What a rule kept from being dropped.
fn passed(now: &Drops) -> String {
    let rules = now.passed.iter();
    let rules: Vec<String> = rules
        .map(|passed| format!("{} by {}", count(passed.frames), passed.rule))
        .collect();
    match rules.is_empty() {
        true => String::new(),
        false => format!("  passed by a rule: {}\n", rules.join(", ")),
    }
}

pub(super) fn sets(now: &Sets, before: Option<&Sets>, looks: Looks) -> String {
    let right = |name| (name, Align::Right);
    let mut columns = vec![
        ("set", Align::Left),
        ("action", Align::Left),
        right("entries"),
        right("hits src"),
        right("hits dst"),
    ];
    let counting = now.hits.iter().filter(|hits| counts(hits)).count();
    if counting != 0 {
        columns.push(right("would drop"));
    }
    if before.is_some() {
        columns.push(right("hits a second"));
    }
    let mut table = Table::new(&columns);
    for set in &now.sets {
        let hits = |of: &Sets| of.hits.iter().find(|hits| hits.set == set.set).cloned();
        let (hit, last) = (hits(now), before.and_then(hits));
        let sum = |hits: &Option<SetHits>| hits.as_ref().map_or(0, |h| h.source + h.destination);
        let side = |of: fn(&SetHits) -> u64| hit.as_ref().map_or(0, of);
        let mut row = vec![
            set.set.clone(),
            set.action.name().to_owned(),
            count(set.entries),
            count(side(|hits| hits.source)),
            count(side(|hits| hits.destination)),
        ];
        if counting != 0 {
            let would_drop = hit.as_ref().filter(|hits| counts(hits));
            row.push(would_drop.map_or_else(|| "-".to_owned(), |hits| count(hits.would_drop)));
        }
        if let Some(before) = before {
            let seconds = now.seconds - before.seconds;
            row.push(per_second(sum(&hit), sum(&last), seconds));
        }
        table.push(row);
    }
    let text = table.render(looks.paint, looks.width);
    if counting < 2 {
        return text;
    }
    let all = format!(
        "would drop in all: {}, each frame counted once however many sets have it",
        count(now.would_drop)
    );
    text + &wrap(&all, 2, looks.width)
}

pub(super) fn hits(now: &Hits, _: Option<&Hits>, looks: Looks) -> String {
    let mut text = String::new();
    if now.top.is_empty() {
        text += "no address in any set was hit\n";
    } else {
        let mut table = Table::new(&[
            ("address", Align::Left),
            ("side", Align::Left),
            ("last hour", Align::Right),
            ("last minute", Align::Right),
            ("sets", Align::Left),
        ]);
        for hit in &now.top {
            table.row([
                hit.address.to_string(),
                side(hit.side).to_owned(),
                range(hit.frames, hit.error),
                range(hit.last_minute, hit.last_minute_error),
                hit.sets.join(", "),
            ]);
        }
        text += &table.render(looks.paint, looks.width);
    }
    if !now.never.is_empty() {
        let never = format!("  never hit: {}", now.never.join(", "));
        text += &wrap(&never, 4, looks.width);
    }
    text
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Source => "src",
        Side::Destination => "dst",
    }
}

pub(super) fn memory(now: &Memory, before: Option<&Memory>, looks: Looks) -> String {
    let mut table = Table::new(&[
        ("what", Align::Left),
        ("bytes", Align::Right),
        ("", Align::Left),
    ]);
    let mut row = |part: &MemoryFacts| {
        let old = before.and_then(|before| {
            let mut parts = before.parts.iter();
            parts.find(|old| old.what == part.what)
        });
        let note = match old {
            Some(old) if old.bytes < part.bytes => {
                format!("{} more", bytes(part.bytes - old.bytes))
            }
            Some(old) if old.bytes > part.bytes => {
                format!("{} less", bytes(old.bytes - part.bytes))
            }
            _ => part.note.clone(),
        };
        table.row([part.what.clone(), bytes(part.bytes), note]);
    };
    now.parts.iter().for_each(&mut row);
    if let Some(resident) = now.resident_bytes {
        row(&MemoryFacts {
            what: "resident".to_owned(),
            bytes: resident,
            note: "of the whole process, by the kernel".to_owned(),
        });
    }
    table.render(looks.paint, looks.width)
}

pub(super) fn config(now: &ConfigAnswer, _: Option<&ConfigAnswer>, _: Looks) -> String {
    format!("# {}\n{}", now.file, now.toml)
}
