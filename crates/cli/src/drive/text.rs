//! The report of a generator or a sink for people.

use super::clock::ClockFacts;
use super::controls::{LinkControls, PortControls};
use super::figures::{Arrived, Figures, Latency, Sent};
use super::verdict::{harm, unjudged};
use crate::paint::Paint;
use crate::report::ledger;
use crate::report::number::{count, plural, rate, seconds, share};
use crate::report::table::{Align, Table, wrap};
use crate::report::text::{machine, ports, states, until_last_frame, workers};

/// Streams shown by themselves; all are in the JSON.
const STREAMS_SHOWN_MAX: usize = 16;

/// The whole report, no line wider than `width` characters.
pub(super) fn render(figures: &Figures, paint: Paint, width: usize) -> String {
    let sections = [
        headline(figures, paint, width),
        frames(figures, paint, width),
        latency(figures, paint, width),
        streams(figures, paint, width),
        ports(&figures.ports, paint, width),
        states(&figures.ports, paint, width),
        ledger::render("Ledger", &figures.ledger, paint, width),
        workers(&figures.workers, paint, width),
        machine(&figures.memory, &figures.machine, paint, width),
    ];
    let mut text = String::from("\n");
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text += section;
        text.push('\n');
    }
    text
}

fn headline(figures: &Figures, paint: Paint, width: usize) -> String {
    let workers = plural(figures.workers.len() as u64, "worker", "workers");
    let time = seconds(figures.seconds);
    let Some(sent) = &figures.sent else {
        let text = format!(
            "{} took frames in for {time} ({}) on {workers}\n",
            paint.bold("linerate"),
            until_last_frame(figures.seconds, figures.run_seconds)
        );
        return text + &no_result(figures, paint, width);
    };
    let mean = sent.bytes as f64 / sent.frames.max(1) as f64;
    let mut text = format!(
        "{} sent for {time} on {workers}: frames of {mean:.0} bytes (mean, with FCS)\n  {}   {}\n",
        paint.bold("linerate"),
        paint.bold(&rate(sent.pps, "pps")),
        paint.bold(&rate(sent.bps_l1, "b/s")),
    );
    text += &wrap(&pace(sent), 2, width);
    text + &no_result(figures, paint, width)
}

fn no_result(figures: &Figures, paint: Paint, width: usize) -> String {
    let sentence = figures.no_result.as_ref();
    sentence.map_or_else(String::new, |sentence| {
        paint.bad(&wrap(&format!("NO RESULT: {sentence}."), 2, width))
    })
}

/// What was asked for, and how well it was kept to.
fn pace(sent: &Sent) -> String {
    let mut said = match sent.asked_pps {
        Some(asked) => format!("Asked for {} ({})", sent.rate, rate(asked, "pps")),
        None if sent.of_capture => "Asked for the pace of the capture".to_owned(),
        None => "Asked for as much as the port takes".to_owned(),
    };
    if let Some(pacing) = sent.pacing {
        said += &format!(
            "; frames were late by {} in the mean, by {} at worst",
            seconds(pacing.late_mean_ns / 1e9),
            seconds(pacing.late_max_ns as f64 / 1e9)
        );
        if pacing.lost_times != 0 {
            let lost = seconds(pacing.lost_ns as f64 / 1e9);
            said += &format!(", and {lost} were never caught up with");
        }
    }
    if sent.waited_share >= 0.001 {
        let waited = sent.waited_share * 100.0;
        said += &format!("; frames waited for room at the port {waited:.1} % of the time");
    }
    said.push('.');
    if let Some(ceiling) = sent.ceiling_pps {
        said += &format!(
            " Flat out, in the trial before, it took {}.",
            rate(ceiling, "pps")
        );
    }
    said
}

fn frames(figures: &Figures, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("", Align::Right),
        ("", Align::Right),
        ("", Align::Left),
    ]);
    if let Some(sent) = &figures.sent {
        table.row([
            "sent".to_owned(),
            count(sent.frames),
            String::new(),
            String::new(),
        ]);
    }
    let sent = figures.sent.as_ref().map(|sent| sent.frames);
    let LinkControls { rx, tx } = &figures.controls;
    let sinks = [
        ("arrived", &figures.arrived, rx),
        ("came back", &figures.returned, tx),
    ];
    for (name, sink, controls) in sinks {
        if let Some(sink) = sink {
            arrived(&mut table, name, sink, sent);
            let named = controls.as_ref().map(PortControls::named);
            if let Some(named) = named.filter(|named| !named.is_empty()) {
                table.row([
                    String::new(),
                    String::new(),
                    String::new(),
                    format!("  {named}"),
                ]);
            }
        }
    }
    for (port, controls) in [("sink", rx), ("sender", tx)] {
        if let Some(own) = controls.as_ref().filter(|own| own.answered != 0) {
            let name = format!("answered by the {port}");
            let note = "requests for its addresses, beside the test frames".to_owned();
            table.row([name, count(own.answered), String::new(), note]);
        }
    }
    let harms: Vec<String> = figures.sinks().filter_map(harm).collect();
    let mut text = format!("{}\n{}", paint.bold("Frames"), table.render(paint, width));
    if !harms.is_empty() {
        text += &paint.bad(&wrap(&format!("Harmed: {}.", harms.join("; ")), 2, width));
    } else if figures.sinks().any(|sink| sink.frames != 0) && unjudged(figures).is_none() {
        let good = "Every frame that was sent came, once, in order and as it was sent.";
        let alone = "No number is missing between the first that came and the last, and all are \
                     in order and as they were sent.";
        let said = if sent.is_some() { good } else { alone };
        text += &paint.good(&wrap(said, 2, width));
    }
    for complaint in figures.controls.complaints() {
        text += &paint.bad(&wrap(&format!("{complaint}."), 2, width));
    }
    text
}

fn arrived(table: &mut Table, name: &str, sink: &Arrived, sent: Option<u64>) {
    let whole = sent.unwrap_or(sink.frames + sink.lost);
    let mut line = |name: String, frames: u64, note: &str| {
        let share = share(frames, whole);
        table.row([name, count(frames), share, note.to_owned()]);
    };
    line(name.to_owned(), sink.frames, "");
    let rows = [
        ("lost", sink.lost, ""),
        ("duplicated", sink.duplicated, ""),
        (
            "reordered",
            sink.reordered,
            "behind a later one of their own flow",
        ),
        (
            "overtaken by other flows",
            sink.reordered_across_flows,
            "no harm: flows took different ways, as over several queues",
        ),
        (
            "corrupted",
            sink.corrupted,
            "test frames that are not as they were sent",
        ),
        (
            "outside window",
            sink.outside_window,
            "too late to be told from duplicates",
        ),
        (
            "not compared",
            sink.uncompared,
            "of them duplicates at different workers are not known",
        ),
        (
            "other streams",
            sink.other_streams,
            "of another sender, or of the trial before",
        ),
        ("foreign", sink.foreign, "no test frames"),
        (
            "cut",
            sink.cut,
            "not judged: the capture kept no more than their beginning",
        ),
    ];
    for (row, frames, note) in rows {
        if frames != 0 || row == "lost" {
            line(format!("  {row}"), frames, note);
        }
    }
}

fn latency(figures: &Figures, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[
        ("latency", Align::Left),
        ("least", Align::Right),
        ("p50", Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
        ("most", Align::Right),
    ]);
    let mut some = false;
    let sinks = [
        ("one way", &figures.arrived),
        ("there and back", &figures.returned),
    ];
    for (name, sink) in sinks {
        if let Some(sink) = sink.as_ref().filter(|sink| sink.latency.count != 0) {
            some = true;
            table.push(latency_row(name.to_owned(), &sink.latency));
        }
    }
    if !some {
        let known = figures.clock.recorded && figures.sinks().any(|sink| sink.frames != 0);
        return match known {
            true => wrap(ClockFacts::NO_LATENCY, 2, width),
            false => String::new(),
        };
    }
    let longest = figures.sinks().map(|sink| sink.latency.max_ns).max();
    let mut said = figures.clock.sentences(longest.unwrap_or(0));
    let early: u64 = figures.sinks().map(|sink| sink.arrived_early).sum();
    if early != 0 {
        let error = figures.sinks().map(|sink| sink.clock_error_ns).max();
        said += &format!(
            " {} frames seem to have arrived before they were sent: the clocks differ by {} or \
             more.",
            count(early),
            time(error.unwrap_or(0))
        );
    }
    table.render(paint, width) + &wrap(&said, 2, width)
}

fn latency_row(name: String, latency: &Latency) -> Vec<String> {
    let figures = [
        latency.min_ns,
        latency.p50_ns,
        latency.p90_ns,
        latency.p99_ns,
        latency.p999_ns,
        latency.max_ns,
    ];
    let cells = figures.into_iter().map(time);
    [name].into_iter().chain(cells).collect()
}

/// `812 ns`, `1.2 us`, and above that as other times.
pub(super) fn time(nanos: u64) -> String {
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..100_000 => format!("{:.1} us", nanos as f64 / 1e3),
        _ => seconds(nanos as f64 / 1e9),
    }
}

/// Streams by themselves, where there are several.
fn streams(figures: &Figures, paint: Paint, width: usize) -> String {
    let mut text = String::new();
    for sink in figures.sinks().filter(|sink| sink.streams.len() > 1) {
        let mut table = Table::new(&[
            ("stream", Align::Right),
            ("arrived", Align::Right),
            ("lost", Align::Right),
            ("duplicated", Align::Right),
            ("reordered", Align::Right),
            ("corrupted", Align::Right),
            ("p50", Align::Right),
            ("most", Align::Right),
        ]);
        for stream in sink.streams.iter().take(STREAMS_SHOWN_MAX) {
            table.row([
                stream.stream.to_string(),
                count(stream.frames),
                count(stream.lost),
                count(stream.duplicated),
                count(stream.reordered),
                count(stream.corrupted),
                time(stream.latency.p50_ns),
                time(stream.latency.max_ns),
            ]);
        }
        text += &table.render(paint, width);
        let more = sink.streams.len().saturating_sub(STREAMS_SHOWN_MAX);
        if more != 0 {
            text += &format!("  and {more} more, see --json\n");
        }
    }
    text
}
