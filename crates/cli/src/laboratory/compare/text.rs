//! A comparison for the terminal.

use super::Comparison;
use super::between::Between;
use super::pairs::{Pair, Pairs};
use super::recorded::{Recorded, RecordedRow, median, printable};
use super::verdict::Verdict;
use crate::laboratory::field;
use crate::laboratory::unit::{Unit, digits};
use crate::paint::Paint;
use crate::report::number::plural;
use crate::report::table::{Align, Table, wrap};

/// The whole of it.
pub(super) fn render(
    comparison: &Comparison,
    (between, pairs): (&Between, &Pairs<'_>),
    paint: Paint,
    width: usize,
) -> String {
    let name = paint.bold(&printable(&comparison.base.experiment));
    let mut text = format!("\n{name}: B against A\n");
    text += &wrap(&about(comparison, between.most), 2, width);
    text.push('\n');
    let shown = shown(pairs, comparison.all);
    if !shown.is_empty() {
        let rows = fitting(&shown, between.most.is_some(), width);
        text += &painted(&rows.render(paint, width), paint);
        text.push('\n');
    }
    if let Some(hidden @ 1..) = pairs.both.len().checked_sub(shown.len()) {
        let rows = plural(hidden as u64, "row", "rows");
        text += &wrap(
            &format!("{rows} without a difference: --all shows all."),
            2,
            width,
        );
        text.push('\n');
    }
    for (name, rows) in [("A", &pairs.only_base), ("B", &pairs.only_new)] {
        text += &alone(name, rows, width);
    }
    text += &wrap(&summary(pairs), 0, width);
    let spoiled = comparison.spoiled();
    if !spoiled.is_empty() {
        let were = if spoiled.len() == 1 { "was" } else { "were" };
        let spoiled = format!("{} {were}", spoiled.join(" and "));
        let said = format!(
            "{spoiled} spoiled, as the warnings say: measure again before you believe a verdict."
        );
        text += &wrap(&said, 0, width);
    }
    let differ = count(pairs, Verdict::Slower) + count(pairs, Verdict::Faster);
    if differ != 0 && comparison.is_one_program() {
        text += &wrap(ONE_PROGRAM, 0, width);
    } else if differ != 0 && between.most.is_none() {
        text += &wrap(UNKNOWN_BETWEEN, 0, width);
    }
    text
}

/// What stands below differences of a program and itself.
const ONE_PROGRAM: &str = "A and B are runs of one program: what differs is what the machine does \
     between two runs, so that the exit code is 0.";

/// The rows that differ, the slower ones first, and with `all` the others behind them.
fn shown<'a>(pairs: &Pairs<'a>, all: bool) -> Vec<Pair<'a>> {
    let rank = |pair: &Pair<'_>| match pair.judgement.verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::NoDifference => 2,
        Verdict::NotJudged | Verdict::TooFew => 3,
    };
    let mut shown = pairs.both.clone();
    shown.retain(|pair| all || rank(pair) < 2);
    shown.sort_by_key(rank);
    shown
}

/// What stands below verdicts that rest on two runs alone.
const UNKNOWN_BETWEEN: &str = "Two runs of one program differ too, by what the machine does \
     between them, and these two cannot tell. Make another run of A's program and give it with \
     --null: then only what differs by more than those two runs counts.";

/// Which runs they are, and what a verdict means here.
fn about(comparison: &Comparison, between: Option<f64>) -> String {
    let (base, new) = (version(&comparison.base), version(&comparison.new));
    let mut said = format!("A is {base}, B is {new}.");
    if comparison.relative {
        said += " Relative: ratios are of samples over the mean of their round, so that only what \
                 changed among the rows counts; A and B are as measured.";
    }
    let within = percent(comparison.base.noise().max(comparison.new.noise()));
    said +=
        &format!(" A difference of {within} or less, as the null runs within A or B had, is none");
    match between {
        Some(most) => {
            said += &format!(
                ", nor is one of twice what runs of A's program differed by: the row itself, or \
                 nine rows of ten, which is {} or less.",
                percent(most)
            );
        }
        None => said.push('.'),
    }
    said + " Were the samples of a run independent, all intervals together would be right in 95 % \
            of all cases."
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
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

/// Characters that a column of words needs to be read.
const WORDS_MIN: usize = 24;

/// A column a field where there is room; else one for all of them, whose words go on in the next
/// line; on narrow terminals with the verdict and the ratio alone.
fn fitting(both: &[Pair<'_>], noisy: bool, width: usize) -> Table {
    let rows = table(both, noisy);
    if rows.width() <= width {
        return rows;
    }
    let mut bare = Table::new(&columns(noisy));
    both.iter().for_each(|pair| bare.push(figures(pair, noisy)));
    let is_brief = bare.width() + WORDS_MIN > width;
    narrow(both, noisy, is_brief)
}

/// Columns before those of the variants; with `noisy`, each row has a noise of its own.
fn columns(noisy: bool) -> Vec<(&'static str, Align)> {
    let mut columns = vec![
        ("verdict", Align::Left),
        ("speed B/A", Align::Right),
        ("interval", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("unit", Align::Left),
    ];
    if noisy {
        columns.insert(3, ("noise", Align::Right));
    }
    columns
}

/// Of all columns those that stay on narrow terminals: the verdict and the ratio.
const BRIEF: usize = 2;

/// A column a field.
fn table(both: &[Pair<'_>], noisy: bool) -> Table {
    let fields = fields(both);
    let headings: Vec<String> = fields.iter().map(|name| heading(name)).collect();
    let mut columns = columns(noisy);
    columns.extend(headings.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for pair in both {
        let mut cells = figures(pair, noisy);
        cells.extend(fields.iter().map(|name| cell(pair.base, name)));
        table.push(cells);
    }
    table
}

/// One column for all fields.
fn narrow(both: &[Pair<'_>], noisy: bool, is_brief: bool) -> Table {
    let fields = fields(both);
    let mut columns = columns(noisy);
    let kept = if is_brief { BRIEF } else { columns.len() };
    columns.truncate(kept);
    columns.push(("variant", Align::Left));
    let mut table = Table::new(&columns);
    for pair in both {
        let named = fields.iter().map(|name| (name, cell(pair.base, name)));
        let named = named.filter(|(_, cell)| cell != "-");
        let words = named.map(|(name, cell)| format!("{} {}", heading(name), in_words(&cell)));
        let mut cells = figures(pair, noisy);
        cells.truncate(kept);
        cells.push(words.collect::<Vec<_>>().join(", "));
        table.push(cells);
    }
    table
}

fn heading(name: &str) -> String {
    printable(&field::heading(name))
}

/// `from_table` as people say it.
fn in_words(cell: &str) -> String {
    cell.replace('_', " ")
}

fn figures(pair: &Pair<'_>, noisy: bool) -> Vec<String> {
    let ratio = pair.judgement.ratio;
    let (base, new) = (median(&pair.base.samples), median(&pair.new.samples));
    let unit = Unit::of(&pair.base.metric, base.max(new));
    let interval = |ratio: lab::Ratio| format!("{} to {}", fine(ratio.low), fine(ratio.high));
    let mut cells = vec![
        pair.judgement.verdict.words().to_owned(),
        ratio.map_or("-".to_owned(), |ratio| fine(ratio.median)),
        ratio.map_or("-".to_owned(), interval),
        unit.show(base),
        unit.show(new),
        printable(&unit.name),
    ];
    if noisy {
        cells.insert(3, percent(pair.noise));
    }
    cells
}

/// Ratios near 1 need a digit more.
fn fine(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) {
        format!("{ratio:.3}")
    } else {
        digits(ratio)
    }
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
    row.field(name)
        .map_or("-".to_owned(), |value| value.show(name))
}

/// Rows that only one run has.
fn alone(name: &str, rows: &[&RecordedRow], width: usize) -> String {
    let line = |row: &&RecordedRow| {
        let field = |(name, value): &(String, _)| {
            let value: &super::recorded::Scalar = value;
            format!("{} {}", heading(name), in_words(&value.show(name)))
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

#[cfg(test)]
mod tests {
    use super::super::recorded::sample::{row, run};
    use super::*;

    /// What tells rows apart is the last to be cut.
    #[test]
    fn rows_are_told_apart_on_narrow_terminals() {
        let rows = |rate: f64| (1..4).map(move |at| row(at * 1_000_000, 24 << 20, vec![rate; 10]));
        let comparison = Comparison {
            is_one_file: false,
            base: run(rows(2e8).collect()),
            new: run(rows(1e8).collect()),
            nulls: vec![("'again.json'".to_owned(), run(rows(2.1e8).collect()))],
            relative: false,
            all: false,
        };
        let (between, pairs) = comparison.judged().expect("rows");
        for width in [60, 80, 110] {
            let text = render(&comparison, (&between, &pairs), Paint::off(), width);
            assert!(!text.contains('…'), "{width}: {text}");
            assert!(text.lines().all(|line| line.chars().count() <= width));
            let verdicts = text.matches("slower  ").count();
            assert_eq!(verdicts, 3, "{text}");
            for entries in ["1,000,000", "2,000,000", "3,000,000"] {
                assert!(text.contains(entries), "{width}: {text}");
            }
        }
    }
}
