//! The report of a run for people.

use load::client::ErrorKind;

use super::figures::{Figures, PoolFigures};
use crate::paint::Paint;
use crate::report::number::{brief, count, plural, rate, seconds, share};
use crate::report::table::{Align, Table, wrap};
use crate::spread::{self, Spread};

/// From this on, what a closed loop would have hidden is worth a sentence.
const HIDDEN_FACTOR: f64 = 1.5;

/// The whole report, no line wider than `width` characters.
pub(super) fn render(figures: &Figures, paint: Paint, width: usize) -> String {
    let mut sections = vec![pool(&figures.all, paint, width)];
    if figures.pools.len() > 1 {
        sections.extend(figures.pools.iter().map(|each| pool(each, paint, width)));
    }
    sections.push(effort(figures));
    sections.push(books(figures, paint));
    sections.push(remarks(figures, paint, width));
    sections.push(expectations(figures, paint));
    let mut text = String::from("\n");
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text += section;
        text.push('\n');
    }
    text
}

fn pool(figures: &PoolFigures, paint: Paint, width: usize) -> String {
    let asked = figures.asked_rate.map(|asked| rate(asked, "req/s"));
    let asked = match (figures.loop_kind, asked.or_else(|| figures.asked.clone())) {
        ("open", Some(asked)) => format!("open loop, {asked} asked for"),
        (kind, Some(asked)) => format!("{kind}, {asked} asked for"),
        ("closed", None) => "closed loop: no rate was given, each connection waits for its \
                             answer before it sends"
            .to_owned(),
        _ => "the pools below, together".to_owned(),
    };
    let name = match figures.name.as_str() {
        "all" => paint.bold("linerate"),
        name => format!("pool {}", paint.bold(name)),
    };
    let mut text = format!(
        "{name} sent requests for {} on {}\n",
        seconds(figures.seconds),
        plural(figures.connections.opened, "connection", "connections")
    );
    text += &wrap(&format!("{asked}."), 2, width);
    if figures.times.tls.count > 0 {
        text += &format!(
            "  {}, {} of them resumed a session\n",
            plural(figures.times.tls.count, "TLS handshake", "TLS handshakes"),
            count(figures.connections.tls_resumed)
        );
    }
    text += &format!(
        "  {} answered   {} received\n\n",
        paint.bold(&rate(figures.rate, "req/s")),
        rate(figures.received_bps, "b/s")
    );
    text + &requests(figures, paint, width) + "\n" + &times(figures, paint, width)
}

fn requests(figures: &PoolFigures, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[
        ("requests", Align::Left),
        ("", Align::Right),
        ("", Align::Right),
        ("", Align::Left),
    ]);
    let own = &figures.requests;
    let mut row = |name: &str, number: u64, note: &str| {
        table.row([
            name.to_owned(),
            count(number),
            share(number, own.due),
            note.to_owned(),
        ]);
    };
    row("due", own.due, "");
    if own.not_sent > 0 {
        row(
            "not sent",
            own.not_sent,
            "due, and no connection was free before the end",
        );
    }
    row("sent", own.sent, "");
    row("answered", own.answered, "");
    if own.aborted > 0 {
        row("aborted", own.aborted, "the client left, as it was told to");
    }
    for kind in ErrorKind::ALL {
        let number = own.errors.get(kind.name()).copied().unwrap_or(0);
        if number > 0 {
            row(kind.name(), number, kind.sentence());
        }
    }
    if own.unfinished > 0 {
        row(
            "unfinished",
            own.unfinished,
            "not answered when the run ended",
        );
    }
    if own.omitted > 0 {
        row(
            "left out",
            own.omitted,
            "due while every connection waited, and never sent",
        );
    }
    if figures.connections.unasked_bytes > 0 {
        let number = figures.connections.unasked_bytes;
        row(
            "unasked",
            number,
            "idle connections on which bytes came: a body was too long",
        );
    }
    table.render(paint, width)
}

fn times(figures: &PoolFigures, paint: Paint, width: usize) -> String {
    let times = &figures.times;
    let rows = [
        ("latency, from when due", &times.latency),
        ("from when sent", &times.service),
        ("  wait for a connection", &times.wait),
        ("  connect", &times.connect),
        ("  TLS", &times.tls),
        ("  send", &times.send),
        ("  first byte", &times.first_byte),
    ];
    spread::table(&rows, paint, width)
}

/// What the client itself needed.
fn effort(figures: &Figures) -> String {
    format!(
        "  {} of CPU time on {}: {} answers a CPU second\n",
        seconds(figures.cpu_seconds),
        plural(figures.threads_busy.len() as u64, "thread", "threads"),
        brief(figures.answers_per_cpu_second)
    )
}

fn books(figures: &Figures, paint: Paint) -> String {
    match figures.balanced {
        true => "  every request is accounted for: due = sent + not sent + left out;\n  sent = \
                 answered + aborted + errors + unfinished\n"
            .to_owned(),
        false => paint.bad("  THE BOOKS DO NOT BALANCE\n"),
    }
}

/// What a reader might conclude wrongly.
fn remarks(figures: &Figures, paint: Paint, width: usize) -> String {
    let limits = figures
        .limits
        .iter()
        .map(|limit| format!("Limit: {}.", limit.sentence));
    let mut sentences: Vec<String> = hidden(&figures.all).into_iter().chain(limits).collect();
    if figures.all.requests.answered == 0 {
        sentences.insert(0, "No request was answered.".to_owned());
    }
    let lines = sentences.iter().map(|sentence| wrap(sentence, 2, width));
    paint.warning(&lines.collect::<String>())
}

/// What coordinated omission hides, or would have hidden.
fn hidden(all: &PoolFigures) -> Option<String> {
    let times = &all.times;
    if all.requests.omitted > 0 {
        let shown = |spread: &Spread| spread.p99.map_or_else(|| "none".to_owned(), seconds);
        return Some(format!(
            "Coordinated omission: {} of the requests that were due were never sent, since every \
             connection waited. The percentiles leave them out. With them, each as late as a \
             connection was free, p99 would be at least {} instead of {}. An open loop (without \
             --closed) measures it.",
            share(all.requests.omitted, all.requests.due),
            shown(&times.with_omitted),
            shown(&times.latency),
        ));
    }
    let (latency, service) = (times.latency.p99?, times.service.p99?);
    (latency > service * HIDDEN_FACTOR).then(|| {
        format!(
            "Coordinated omission: p99 is {} from when requests were due. A closed loop counts \
             from when they were sent, and would have said {}.",
            seconds(latency),
            seconds(service)
        )
    })
}

fn expectations(figures: &Figures, paint: Paint) -> String {
    let lines = figures.expectations.iter().map(|one| {
        let seen = match (one.seen, one.is_time) {
            (None, _) => "too few were answered".to_owned(),
            (Some(seen), true) => seconds(seen),
            (Some(seen), false) => format!("{seen:.4}"),
        };
        match one.met {
            true => format!("  {} {}: {seen}\n", paint.good("met"), one.expected),
            false => format!("  {} {}: {seen}\n", paint.bad("MISSED"), one.expected),
        }
    });
    lines.collect()
}
