//! What follows from the rows: ratios to the limit, bytes an entry, what lists cost.

use crate::Value;
use crate::contest::ratio;
use crate::experiment::Row;

/// What tells sets apart.
const SET: [&str; 6] = ["family", "kind", "entries", "lists", "bytes", "source"];

/// All sentences: for every set of ours, in the order of the rows, its shares of the limit; then
/// what 16 lists cost, and what is gained over the published table.
pub(super) fn of(rows: &[Row]) -> Vec<String> {
    let ours = || rows.iter().filter(|row| row.is("design", "ours"));
    let mut sets: Vec<&Row> = Vec::new();
    for row in ours() {
        if !sets.iter().any(|set| same(set, row, &SET)) {
            sets.push(row);
        }
    }
    let all = |sentence: fn(&Row, &[Row]) -> Option<String>| {
        sets.iter().filter_map(move |set| sentence(set, rows))
    };
    all(to_limit)
        .chain(all(lists))
        .chain(all(to_array))
        .collect()
}

/// For each stream of a set one figure a burst: `hit 0.50 / 0.61`.
fn by_stream(set: &Row, rows: &[Row], figure: impl Fn(&Row) -> Option<f64>) -> Option<String> {
    let mine = rows
        .iter()
        .filter(|row| row.is("design", "ours") && same(row, set, &SET));
    let mut streams: Vec<(&Value, Vec<String>)> = Vec::new();
    for row in mine {
        let (Some(stream), Some(figure)) = (row.value("stream"), figure(row)) else {
            continue;
        };
        let said = format!("{figure:.2}");
        match streams.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, figures)) => figures.push(said),
            None => streams.push((stream, vec![said])),
        }
    }
    let said = |(stream, figures): &(&Value, Vec<String>)| {
        format!(
            "{} {}",
            stream.to_string().replace('_', " "),
            figures.join(" / ")
        )
    };
    let all: Vec<String> = streams.iter().map(said).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn same(a: &Row, b: &Row, fields: &[&str]) -> bool {
    fields.iter().all(|field| a.value(field) == b.value(field))
}

/// What a row is about, in words.
fn subject(row: &Row) -> Option<String> {
    let entries = row.number("entries")?;
    let kind = row.value("kind")?;
    let family = row.number("family")?;
    let lists = match row.number("lists")? {
        1 => String::new(),
        lists => format!(" over {lists} lists"),
    };
    let source = match row.value("source") {
        Some(Value::Word("file")) => " from the file",
        _ => "",
    };
    let entries = match entries {
        0..1_000 => entries.to_string(),
        1_000..1_000_000 => format!("{}k", entries / 1_000),
        _ => format!("{:.1}M", entries as f64 / 1e6).replace(".0M", "M"),
    };
    Some(format!("IPv{family}, {entries} {kind}{lists}{source}"))
}

/// Lookups against the lines that memory gives for as many bytes, round by round.
fn to_limit(set: &Row, rows: &[Row]) -> Option<String> {
    let limit = rows
        .iter()
        .find(|other| other.is("design", "limit") && same(other, set, &SET))?;
    let shares = by_stream(set, rows, |row| {
        let keys = if row.metric == "pairs_per_second" {
            2.0
        } else {
            1.0
        };
        Some(ratio(row, limit) * keys)
    })?;
    let bytes = set.number("bytes")? as f64;
    Some(format!(
        "{}: {:.1} MB, {:.2} bytes an entry, for which memory gives {:.0} million lines a second. \
         Lookups over that, in bursts of 64 / 256: {shares} (two lookups a pair)",
        subject(set)?,
        bytes / 1e6,
        bytes / set.number("entries")? as f64,
        limit.samples.median() / 1e6,
    ))
}

/// Entries over lists against the same in one.
fn lists(set: &Row, rows: &[Row]) -> Option<String> {
    let lists = set.number("lists").filter(|&lists| lists > 1)?;
    let place = ["family", "kind", "entries", "burst", "stream", "source"];
    let shares = by_stream(set, rows, |row| {
        let one = rows
            .iter()
            .filter(|other| other.is("design", "ours") && same(other, row, &place))
            .find(|other| other.number("lists") == Some(1))?;
        Some(ratio(row, one))
    })?;
    Some(format!(
        "{}: the rate of one list times, in bursts of 64 / 256: {shares}",
        subject(set)?.replace(&format!(" over {lists} lists"), &format!(", {lists} lists"))
    ))
}

/// Ours against the published table at its best.
fn to_array(set: &Row, rows: &[Row]) -> Option<String> {
    let place = ["family", "kind", "entries", "lists", "stream"];
    let median = |row: &&Row| row.samples.median();
    let times = by_stream(set, rows, |row| {
        let best = rows
            .iter()
            .filter(|other| other.is("design", "array") && same(other, row, &place))
            .max_by(|a, b| median(a).total_cmp(&median(b)))?;
        Some(ratio(row, best))
    })?;
    Some(format!(
        "{}: the published table at its best times, in bursts of 64 / 256: {times}",
        subject(set)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Samples;
    use crate::tables::set::Facts;

    fn row(design: &'static str, lists: usize, stream: Option<&'static str>, rate: f64) -> Row {
        let facts = Facts {
            design,
            family: 4,
            kind: "addresses",
            entries: 6_000_000,
            lists: Some(lists),
            bytes: if lists == 1 { 21_000_000 } else { 42_000_000 },
            heads: (design == "array").then_some(64),
            source: None,
        };
        let mut samples = Samples::default();
        samples.push(rate);
        Row {
            variant: facts.variant(stream.map(|stream| (256, stream))),
            metric: match stream {
                Some("pair") => "pairs_per_second",
                Some(_) => "lookups_per_second",
                None => "lines_per_second",
            },
            samples,
        }
    }

    #[test]
    fn ratios_are_to_the_limit_of_the_same_bytes() {
        let rows = [
            row("ours", 1, Some("hit"), 150e6),
            row("ours", 1, Some("pair"), 60e6),
            row("ours", 16, Some("hit"), 120e6),
            row("array", 1, Some("hit"), 30e6),
            row("limit", 1, None, 200e6),
            row("limit", 16, None, 100e6),
        ];
        let all = of(&rows).join("\n");
        for said in [
            "IPv4, 6M addresses: 21.0 MB, 3.50 bytes an entry, for which memory gives 200 million \
             lines a second. Lookups over that, in bursts of 64 / 256: hit 0.75, pair 0.60",
            "IPv4, 6M addresses over 16 lists: 42.0 MB",
            "in bursts of 64 / 256: hit 1.20 (",
            "IPv4, 6M addresses, 16 lists: the rate of one list times, in bursts of 64 / 256: hit \
             0.80",
            "the published table at its best times, in bursts of 64 / 256: hit 5.00",
        ] {
            assert!(all.contains(said), "{said}\n{all}");
        }
    }
}
