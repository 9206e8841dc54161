//! What follows from the rows: ratios to the limit, bytes an entry, what lists cost.

use crate::Value;
use crate::contest::ratio;
use crate::experiment::Row;

/// All sentences, in the order of the rows.
pub(super) fn of(rows: &[Row]) -> Vec<String> {
    let ours = || rows.iter().filter(|row| row.is("design", "ours"));
    let mut findings: Vec<String> = ours().filter_map(|row| to_limit(row, rows)).collect();
    findings.extend(ours().filter_map(bytes_an_entry));
    findings.dedup();
    findings.extend(ours().filter_map(|row| lists(row, rows)));
    findings.extend(ours().filter_map(|row| to_array(row, rows)));
    findings
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

/// Which keys, in words.
fn keys(row: &Row) -> Option<String> {
    let stream = row.value("stream")?.to_string().replace('_', " ");
    Some(format!("{stream}, burst {}", row.number("burst")?))
}

/// Lookups against the lines that memory gives for as many bytes, round by round.
fn to_limit(row: &Row, rows: &[Row]) -> Option<String> {
    let place = ["family", "kind", "entries", "lists", "bytes", "source"];
    let limit = rows
        .iter()
        .find(|other| other.is("design", "limit") && same(other, row, &place))?;
    let pairs = row.metric == "pairs_per_second";
    let share = ratio(row, limit) * if pairs { 2.0 } else { 1.0 };
    let counted = if pairs { "pairs" } else { "lookups" };
    Some(format!(
        "{}, {}: {:.0} million {counted} a second, {share:.2} of the limit for {:.1} MB ({:.0} \
         million lines a second){}",
        subject(row)?,
        keys(row)?,
        row.samples.median() / 1e6,
        row.number("bytes")? as f64 / 1e6,
        limit.samples.median() / 1e6,
        if pairs { ", two lookups a pair" } else { "" },
    ))
}

fn bytes_an_entry(row: &Row) -> Option<String> {
    let bytes = row.number("bytes")? as f64 / row.number("entries")? as f64;
    Some(format!(
        "{}: a lookup can touch {bytes:.2} bytes an entry",
        subject(row)?
    ))
}

/// Entries over lists against the same in one.
fn lists(row: &Row, rows: &[Row]) -> Option<String> {
    let lists = row.number("lists").filter(|&lists| lists > 1)?;
    let place = ["family", "kind", "entries", "burst", "stream", "source"];
    let one = rows
        .iter()
        .filter(|other| other.is("design", "ours") && same(other, row, &place))
        .find(|other| other.number("lists") == Some(1))?;
    Some(format!(
        "IPv{}, {} entries, {}: {lists} lists at {:.2} of the rate of one",
        row.number("family")?,
        row.number("entries")?,
        keys(row)?,
        ratio(row, one)
    ))
}

/// Ours in bursts of 256 against the published table at its best.
fn to_array(row: &Row, rows: &[Row]) -> Option<String> {
    if row.number("lists") != Some(1) || row.number("burst") != Some(256) {
        return None;
    }
    let place = ["family", "kind", "entries", "stream"];
    let median = |row: &&Row| row.samples.median();
    let best = rows
        .iter()
        .filter(|other| other.is("design", "array") && same(other, row, &place))
        .max_by(|a, b| median(a).total_cmp(&median(b)))?;
    Some(format!(
        "{}, {}: {:.1} times the published table at its best ({} heads, {} at a time)",
        subject(row)?,
        keys(row)?,
        ratio(row, best),
        best.number("heads")?,
        best.number("burst")?,
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
            lists,
            bytes: 21_000_000 * lists,
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
            "IPv4, 6M addresses, hit, burst 256: 150 million lookups a second, 0.75 of the limit \
             for 21.0 MB (200 million",
            "pair, burst 256: 60 million pairs a second, 0.60 of the limit",
            "over 16 lists, hit, burst 256: 120 million lookups a second, 1.20 of",
            "IPv4, 6M addresses: a lookup can touch 3.50 bytes an entry",
            "16 lists at 0.80 of the rate of one",
            "5.0 times the published table at its best (64 heads, 256 at a time)",
        ] {
            assert!(all.contains(said), "{said}\n{all}");
        }
    }
}
