//! A run for the terminal.

use lab::Outcome;

use super::facts::{Facts, about_noise};
use super::grid::Grid;
use super::published;
use crate::paint::Paint;
use crate::report::table::{Align, Table, wrap};

/// The whole of it, no line wider than `width` characters.
pub(super) fn render(facts: &Facts, outcome: &Outcome, paint: Paint, width: usize) -> String {
    let grid = Grid::of(outcome);
    let sections = [
        title(facts, outcome, &grid, paint, width),
        rows(&grid, paint, width),
        sentences(
            "Beside published figures",
            &published::sentences(outcome),
            paint,
            width,
        ),
        sentences("Findings", &outcome.findings, paint, width),
        sentences("Left out", &outcome.skipped, paint, width),
        machine(facts, outcome, paint, width),
    ];
    let mut text = String::from("\n");
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text += section;
        text.push('\n');
    }
    text
}

fn title(facts: &Facts, outcome: &Outcome, grid: &Grid, paint: Paint, width: usize) -> String {
    let name = facts.experiment.name;
    let head = format!("{name}: {}", facts.experiment.sentence);
    let mut text = wrap(&head, 0, width).replacen(name, &paint.bold(name), 1);
    for sentence in &outcome.varies {
        text += &wrap(sentence, 2, width);
    }
    if !grid.held.is_empty() {
        let held = format!("The same in all rows: {}.", grid.held.join(", "));
        text += &wrap(&held, 2, width);
    }
    text
}

/// The rows. Where they are too wide, as many of the first fields as need be stand above those rows
/// that have them alike.
fn rows(grid: &Grid, paint: Paint, width: usize) -> String {
    let fields = grid.columns.iter().filter(|column| column.is_field).count();
    let layouts = (0..=fields).map(|headed| parts(grid, headed));
    let fits = |parts: &Vec<Part>| parts.iter().all(|part| part.table.width() <= width);
    let mut layouts = layouts.skip_while(|parts| !fits(parts));
    let parts = layouts.next().unwrap_or_else(|| parts(grid, fields));
    let part = |part: &Part| {
        let heading = match part.heading.as_str() {
            "" => String::new(),
            heading => wrap(&format!("{heading}:"), 2, width),
        };
        heading + &part.table.render(paint, width)
    };
    parts.iter().map(part).collect::<Vec<_>>().join("\n")
}

/// Rows that follow one another.
struct Part {
    /// The fields that they have alike.
    heading: String,
    table: Table,
}

/// Rows whose first fields are the same, `headed` of them.
fn parts(grid: &Grid, headed: usize) -> Vec<Part> {
    let alike = |one: &Vec<String>, next: &Vec<String>| one[..headed] == next[..headed];
    let parts = grid.rows.chunk_by(alike);
    parts.map(|rows| part(grid, rows, headed)).collect()
}

fn part(grid: &Grid, rows: &[Vec<String>], headed: usize) -> Part {
    let is_held = |&place: &usize| {
        let same = || rows.windows(2).all(|two| two[0][place] == two[1][place]);
        let may = headed > 0 && rows.len() > 1 && grid.columns[place].is_field;
        place < headed || may && same()
    };
    let (held, shown): (Vec<usize>, Vec<usize>) = (0..grid.columns.len()).partition(is_held);
    let align = |words| if words { Align::Left } else { Align::Right };
    let columns = shown.iter().map(|&place| &grid.columns[place]);
    let columns = columns.map(|column| (column.heading.as_str(), align(column.words)));
    let mut table = Table::new(&columns.collect::<Vec<_>>());
    for row in rows {
        table.push(shown.iter().map(|&place| row[place].clone()).collect());
    }
    let held = held.iter().filter(|&&place| rows[0][place] != "-");
    let named = held.map(|&place| format!("{} {}", grid.columns[place].heading, rows[0][place]));
    Part {
        heading: named.collect::<Vec<_>>().join(", "),
        table,
    }
}

fn sentences(heading: &str, sentences: &[String], paint: Paint, width: usize) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let lines: String = sentences.iter().map(|text| wrap(text, 2, width)).collect();
    format!("{}\n{lines}", paint.bold(heading))
}

fn machine(facts: &Facts, outcome: &Outcome, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for (name, value) in facts.machine(outcome).into_iter().chain(facts.run(outcome)) {
        table.row([name.to_owned(), value]);
    }
    let mut text = format!(
        "{}\n{}",
        paint.bold("Machine and run"),
        table.render(paint, width)
    );
    text += &wrap(facts.conditions.about_counters(), 2, width);
    if let Some(noise) = about_noise(outcome) {
        text += &wrap(&noise, 2, width);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laboratory::sample;

    #[test]
    fn everything_is_said_and_nothing_is_too_wide() {
        let text = render(&sample::facts(), &sample::outcome(), Paint::off(), 100);
        for part in [
            "stride: ",
            "Varied: design and batch.",
            "The same in all rows: entries 6,000,000.",
            "no difference",
            "x 2.00",
            "7.70 Mpps",
            "ours is twice as fast",
            "NUMA: this machine has one node.",
            "A CPU",
            "commit bc8c195",
            "no hardware counters",
            "Null run",
        ] {
            assert!(text.contains(part), "no '{part}' in\n{text}");
        }
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{text}");
    }

    /// Fields go above the rows, and no figure is cut.
    #[test]
    fn what_is_too_wide_is_taken_apart() {
        let mut outcome = sample::outcome();
        for row in &mut outcome.rows {
            let long = "a word that takes its room".into();
            row.variant
                .splice(0..0, [("kind", long), ("bytes", 9_usize.into())]);
        }
        let last = outcome.rows.len() - 1;
        outcome.rows[last].variant[1].1 = 10_usize.into();
        for width in [76, 80, 100] {
            let text = render(&sample::facts(), &outcome, Paint::off(), width);
            assert!(!text.contains('…'), "{text}");
            let quartiles = text.matches(" to ").count();
            assert!(quartiles >= outcome.rows.len(), "{text}");
        }
    }
}
