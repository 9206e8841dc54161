//! `linerate show flows` and `linerate show rss`: flows, and the buckets that they hash to.

use daemon::rpc::answers::{Flows, FragmentTotals, Rss, RssBucket};

use super::Looks;
use crate::report::number::{count, rate};
use crate::report::table::{Align, Table};

/// A count among the answers.
type Counted = fn(&Flows) -> u64;

/// What is counted of packets in fragments.
const FRAGMENTS: [(&str, Counted); 8] = [
    ("packets in fragments", |flows| of(flows).begun),
    ("whole", |flows| of(flows).complete),
    ("timed out", |flows| of(flows).timed_out),
    ("made room", |flows| of(flows).evicted),
    ("bad", |flows| of(flows).flawed),
    ("identification reused", |flows| of(flows).reused),
    ("fragments twice", |flows| of(flows).duplicates),
    ("fragments that waited", |flows| of(flows).waited),
];

fn of(flows: &Flows) -> FragmentTotals {
    flows.fragments.clone().unwrap_or_default().totals
}

pub(super) fn flows(now: &Flows, before: Option<&Flows>, looks: Looks) -> String {
    if !now.remembers {
        return "The bridge remembers no flows: [stateful] would have it do so.\n".to_owned();
    }
    let seconds = before.map_or(now.seconds, |before| now.seconds - before.seconds);
    let mut table = Table::new(&[
        ("", Align::Left),
        ("count", Align::Right),
        ("a second", Align::Right),
    ]);
    let most = count(now.counts.most);
    for (name, known) in [
        ("known, IPv4", now.counts.known_v4),
        ("known, IPv6", now.counts.known_v6),
    ] {
        table.row([
            name.to_owned(),
            format!("{} of {most}", count(known)),
            String::new(),
        ]);
    }
    let mut rows = |counted: &[(&str, Counted)]| {
        for (name, of) in counted {
            let passed = of(now).saturating_sub(before.map_or(0, of)) as f64;
            let passed = rate(passed / seconds.max(1e-3), "/s");
            table.row([(*name).to_owned(), count(of(now)), passed]);
        }
    };
    rows(&[
        ("begun", |flows| flows.counts.begun),
        ("expired", |flows| flows.counts.expired),
        ("evicted", |flows| flows.counts.evicted),
        ("refused", |flows| flows.counts.refused),
        ("to be written down", |flows| flows.counts.records),
        ("too many at once", |flows| flows.counts.records_lost),
        ("could not be written", |flows| flows.records_unwritten),
    ]);
    if let Some(fragments) = &now.fragments {
        rows(&FRAGMENTS);
        for (name, value) in [
            ("fragments held", fragments.held),
            ("packets known", fragments.known),
            ("most that waited", fragments.totals.waited_most),
        ] {
            table.row([name.to_owned(), count(value), String::new()]);
        }
    }
    table.render(looks.paint, looks.width)
}

/// The ports whose frames are not in the table, and why.
fn uncounted(now: &Rss) -> String {
    if now.uncounted.is_empty() {
        return String::new();
    }
    let ports = now.uncounted.join(", ");
    format!(
        "frames from {ports} are not counted by bucket: each worker decides on what it receives \
         (direct dispatch),\nand no flow is hashed; 'linerate show workers' has the frames of \
         each\n"
    )
}

/// Buckets that brought something, the heaviest first, below what each worker has.
pub(super) fn rss(now: &Rss, before: Option<&Rss>, looks: Looks) -> String {
    let frames = |bucket: &RssBucket| {
        let last = before.and_then(|before| before.buckets.get(bucket.bucket as usize));
        bucket
            .frames
            .saturating_sub(last.map_or(0, |last| last.frames))
    };
    let total = now.buckets.iter().map(frames).sum::<u64>();
    let part = |frames: u64| format!("{:.1} %", frames as f64 * 100.0 / total.max(1) as f64);
    let right = |name| (name, Align::Right);
    let mut workers = Table::new(&[
        right("worker"),
        right("buckets"),
        right("frames"),
        right(""),
    ]);
    for worker in 0..now.workers {
        let own = || {
            now.buckets
                .iter()
                .filter(|bucket| u64::from(bucket.worker) == worker)
        };
        let sum: u64 = own().map(frames).sum();
        let buckets = own().count().to_string();
        workers.row([worker.to_string(), buckets, count(sum), part(sum)]);
    }
    let head = format!(
        "{} buckets, {} moved since the start\n{}",
        now.buckets.len(),
        count(now.moved),
        uncounted(now)
    );
    if total == 0 && !now.uncounted.is_empty() {
        return head;
    }
    let mut used: Vec<&RssBucket> = now.buckets.iter().filter(|own| frames(own) > 0).collect();
    used.sort_by_key(|bucket| std::cmp::Reverse(frames(bucket)));
    let mut table = Table::new(&[right("bucket"), right("worker"), right("frames"), right("")]);
    for bucket in used {
        let frames = frames(bucket);
        let (number, worker) = (bucket.bucket.to_string(), bucket.worker.to_string());
        table.row([number, worker, count(frames), part(frames)]);
    }
    format!(
        "{head}\n{}\n{}",
        workers.render(looks.paint, looks.width),
        table.render(looks.paint, looks.width)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::Paint;

    fn shown(workers: u64, uncounted: &[&str], frames: u64) -> String {
        let bucket = |bucket| RssBucket {
            bucket,
            frames,
            ..RssBucket::default()
        };
        let now = Rss {
            workers,
            uncounted: uncounted.iter().map(ToString::to_string).collect(),
            buckets: (0..2).map(bucket).collect(),
            ..Rss::default()
        };
        let looks = Looks {
            paint: Paint::off(),
            width: 200,
        };
        rss(&now, None, looks)
    }

    /// Zeros would say that no frame came.
    #[test]
    fn frames_that_are_not_hashed_are_said_to_be_uncounted() {
        for (workers, uncounted, frames, why, table) in [
            (2, &["a", "b"][..], 0, "direct dispatch", false),
            (2, &["a"], 5, "frames from a are not counted", true),
            (2, &[], 5, "", true),
            (2, &[], 0, "", true),
        ] {
            let said = shown(workers, uncounted, frames);
            assert!(said.contains(why), "{said}");
            assert_eq!(said.contains("not counted"), !why.is_empty(), "{said}");
            assert_eq!(said.contains("worker  buckets"), table, "{said}");
        }
    }
}
