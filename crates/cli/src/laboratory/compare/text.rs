//! A comparison for the terminal.

use super::pairs::{Pair, Pairs};
use super::recorded::{Recorded, RecordedRow, printable};
use super::verdict::Verdict;
use crate::laboratory::unit::{Unit, digits};
use crate::paint::Paint;
use crate::report::number::plural;
use crate::report::table::{Align, Table, wrap};

/// The whole of it.
pub(super) fn render(
    runs: (&Recorded, &Recorded),
    pairs: &Pairs<'_>,
    paint: Paint,
    width: usize,
) -> String {
    let name = printable(&runs.0.experiment);
    let versions = format!("A is {}, B is {}.", version(runs.0), version(runs.1));
    let mut text = format!("\n{}: B against A\n", paint.bold(&name));
    text += &wrap(&versions, 2, width);
    text.push('\n');
    if !pairs.both.is_empty() {
        let mut rows = table(&pairs.both);
        if rows.width() > width {
            rows = narrow(&pairs.both);
        }
        text += &painted(&rows.render(paint, width), paint);
        text.push('\n');
    }
    for (name, rows) in [("A", &pairs.only_base), ("B", &pairs.only_new)] {
        text += &alone(name, rows, width);
    }
    text + &wrap(&summary(pairs), 0, width)
}

/// Verdicts stand first in their lines.
fn painted(table: &str, paint: Paint) -> String {
    let line = |line: &str| {
        let rest = |verdict: Verdict| line.strip_prefix("  ")?.strip_prefix(verdict.words());
        let painted = match (rest(Verdict::Slower), rest(Verdict::Faster)) {
            (Some(rest), _) => format!("  {}{rest}", paint.bad(Verdict::Slower.words())),
            (_, Some(rest)) => format!("  {}{rest}", paint.good(Verdict::Faster.words())),
            _ => line.to_owned(),
        };
        painted + "\n"
    };
    table.lines().map(line).collect()
}

/// `3 rows: 1 faster, 2 no difference`.
pub(super) fn summary(pairs: &Pairs<'_>) -> String {
    let all = [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::NoDifference,
        Verdict::NotJudged,
        Verdict::TooFew,
    ];
    let counted = all.map(|verdict| (count(pairs, verdict), verdict.words()));
    let parts = counted.iter().filter(|(count, _)| *count != 0);
    let parts: Vec<String> = parts
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    format!(
        "{}: {}.",
        plural(pairs.both.len() as u64, "row", "rows"),
        parts.join(", ")
    )
}

pub(super) fn count(pairs: &Pairs<'_>, verdict: Verdict) -> usize {
    let same = pairs
        .both
        .iter()
        .filter(|pair| pair.judgement.verdict == verdict);
    same.count()
}

fn version(run: &Recorded) -> String {
    let version = printable(&run.version);
    match &run.commit {
        Some(commit) => format!("{version} ({})", printable(commit)),
        None => version,
    }
}

const FIGURES: [(&str, Align); 6] = [
    ("verdict", Align::Left),
    ("speed B/A", Align::Right),
    ("95 % interval", Align::Left),
    ("A", Align::Right),
    ("B", Align::Right),
    ("unit", Align::Left),
];

/// A column a field.
fn table(both: &[Pair<'_>]) -> Table {
    let fields = fields(both);
    let headings: Vec<String> = fields.iter().map(|name| printable(name)).collect();
    let mut columns = Vec::from(FIGURES);
    columns.extend(headings.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for pair in both {
        let mut cells = figures(pair);
        cells.extend(fields.iter().map(|name| cell(pair.base, name)));
        table.push(cells);
    }
    table
}

/// One column for all fields, whose words go on in the next line.
fn narrow(both: &[Pair<'_>]) -> Table {
    let fields = fields(both);
    let mut columns = Vec::from(FIGURES);
    columns.push(("variant", Align::Left));
    let mut table = Table::new(&columns);
    for pair in both {
        let named = fields.iter().map(|name| (name, cell(pair.base, name)));
        let named = named.filter(|(_, cell)| cell != "-");
        let words = named.map(|(name, cell)| format!("{} {cell}", printable(name)));
        let mut cells = figures(pair);
        cells.push(words.collect::<Vec<_>>().join(", "));
        table.push(cells);
    }
    table
}

fn figures(pair: &Pair<'_>) -> Vec<String> {
    let ratio = pair.judgement.ratio;
    let (base, new) = (median(pair.base), median(pair.new));
    let unit = Unit::of(&pair.base.metric, base.max(new));
    let interval = |ratio: lab::Ratio| format!("{} to {}", fine(ratio.low), fine(ratio.high));
    vec![
        pair.judgement.verdict.words().to_owned(),
        ratio.map_or("-".to_owned(), |ratio| fine(ratio.median)),
        ratio.map_or("-".to_owned(), interval),
        unit.show(base),
        unit.show(new),
        printable(&unit.name),
    ]
}

/// Ratios near 1 need a digit more.
fn fine(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) {
        format!("{ratio:.3}")
    } else {
        digits(ratio)
    }
}

pub(super) fn median(row: &RecordedRow) -> f64 {
    let mut sorted = row.samples.clone();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// Names of the fields that vary, in the order in which they first occur; all of a single row.
fn fields(both: &[Pair<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in both.iter().flat_map(|pair| &pair.base.variant.0) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let varies = |name: &String| {
        both.len() == 1
            || both
                .windows(2)
                .any(|two| cell(two[0].base, name) != cell(two[1].base, name))
    };
    names.retain(varies);
    names
}

fn cell(row: &RecordedRow, name: &str) -> String {
    let found = row.variant.0.iter().find(|(field, _)| field == name);
    found.map_or("-".to_owned(), |(_, value)| value.show(name))
}

/// Rows that only one run has.
fn alone(name: &str, rows: &[&RecordedRow], width: usize) -> String {
    let line = |row: &&RecordedRow| {
        let field = |(name, value): &(String, _)| {
            let value: &super::recorded::Scalar = value;
            format!("{} {}", printable(name), value.show(name))
        };
        let fields: Vec<String> = row.variant.0.iter().map(field).collect();
        let metric = printable(&row.metric);
        wrap(
            &format!("only in {name}: {metric} of {}", fields.join(", ")),
            2,
            width,
        )
    };
    let lines: String = rows.iter().map(line).collect();
    if lines.is_empty() {
        lines
    } else {
        lines + "\n"
    }
}
