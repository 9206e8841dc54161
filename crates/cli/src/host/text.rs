//! The same for people.

use super::figures::Figures;
use crate::paint::Paint;
use crate::report::number::{count, plural, rate};
use crate::spread;

/// What became of the queries, above the report of the run.
pub(super) fn render(figures: &Figures<'_>, paint: Paint, width: usize) -> String {
    let did = match figures.role {
        "server" => "answered",
        _ => "asked and got answered",
    };
    let mut text = format!(
        "\n{}\n  {did}: {} {}\n  connections: {} begun, {} complete, {} open at the end{}\n  \
         {} sent again\n",
        paint.bold("TCP queries"),
        plural(figures.queries, "query", "queries"),
        paint.bold(&format!(
            "({})",
            rate(figures.queries_per_second, "queries/s")
        )),
        count(figures.begun),
        count(figures.established),
        count(figures.open) + &states(figures),
        half_open(figures),
        plural(figures.retransmitted, "segment", "segments"),
    );
    for (cause, number) in figures.failed.causes() {
        if number != 0 {
            text += &format!("  failed: {} ({cause})\n", count(number));
        }
    }
    if let Some(times) = &figures.times {
        let rows = [
            ("connect", &times.connect.spread),
            ("first byte", &times.first_byte.spread),
            ("whole query", &times.whole.spread),
        ];
        text += "\n";
        text += &spread::table(&rows, paint, width);
    }
    text
}

/// Connections that others asked for and that are not complete: those are not among the open ones.
fn half_open(figures: &Figures<'_>) -> String {
    let states = figures.states.iter();
    let half_open = states.filter(|(state, _)| is_half_open(figures, state));
    match half_open.map(|(_, number)| number).sum() {
        0 => String::new(),
        number => format!(", {} half-open", count(number)),
    }
}

fn is_half_open(figures: &Figures<'_>, state: &str) -> bool {
    figures.role == "server" && state == "syn_received"
}

/// Connections by state, in the order of how many there are.
fn states(figures: &Figures<'_>) -> String {
    let mut states: Vec<_> = figures
        .states
        .iter()
        .filter(|(state, number)| **number != 0 && !is_half_open(figures, state))
        .collect();
    states.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    let shown =
        |(state, number): &(&&str, &u64)| format!("{} {}", count(**number), state_name(state));
    let shown: Vec<_> = states.iter().map(shown).collect();
    match shown.is_empty() {
        true => String::new(),
        false => format!(" ({})", shown.join(", ")),
    }
}

/// As RFC 9293 writes it: FIN-WAIT-1.
fn state_name(state: &str) -> String {
    state.replace('_', "-").to_uppercase()
}
