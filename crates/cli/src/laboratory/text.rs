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
        table(&grid).render(paint, width),
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

fn table(grid: &Grid) -> Table {
    let align = |words| if words { Align::Left } else { Align::Right };
    let columns: Vec<(&str, Align)> = grid
        .columns
        .iter()
        .map(|column| (column.heading.as_str(), align(column.words)))
        .collect();
    let mut table = Table::new(&columns);
    for row in &grid.rows {
        table.push(row.clone());
    }
    table
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
}
