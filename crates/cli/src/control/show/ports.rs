//! `show ports`: a table, or a line a second as `netstat -w 1` has it.

use daemon::rpc::answers::{NoParams, PortFacts, Ports};

use super::watch::Rhythm;
use super::{Looks, Question, line_of};
use crate::args::ShowPortsArgs;
use crate::control::{connect, tell};
use crate::error::{Error, Outcome};
use crate::output::Output;
use crate::paint::Paint;
use crate::report::number::{bytes, count, rate};
use crate::report::table::{Align, Table};

/// Lines between two headings.
const HEADING_EVERY: usize = 20;

/// Widths of the numbers of a line a second, in the order of [`TITLES`]: together they fit 80
/// columns, and 100 Gbit/s of the smallest frames (`148.81 Mpps`, `999.99 MB/s`), with a blank
/// between.
const WIDTHS: [usize; 7] = [11, 11, 11, 12, 12, 11, 12];

const TITLES: [&str; 7] = [
    "frames", "missed", "dropped", "bytes", "frames", "dropped", "bytes",
];

pub(super) fn run(args: &ShowPortsArgs, output: Output) -> Outcome {
    let mut client = connect(&args.facts.daemon)?;
    let mut ask = || -> Result<Ports, Error> {
        let mut ports: Ports = Question::of("show.ports", &NoParams::default()).ask(&mut client)?;
        choose(&mut ports, args.port.as_deref())?;
        Ok(ports)
    };
    if !args.facts.watch {
        let ports = ask()?;
        return tell(
            args.facts.json,
            &ports,
            &table(&ports, Looks::of(output)),
            output,
        );
    }
    let (mut before, mut lines) = (None, 0);
    Rhythm::new(args.facts.interval)?.each(|| {
        let now = ask()?;
        let mut text = String::new();
        if args.facts.json {
            text = line_of(&now)?;
        } else {
            // The first is there before the first line, for which it takes two looks.
            if lines % HEADING_EVERY == 0 && (lines != 0 || before.is_none()) {
                text = heading(args.port.as_deref(), Looks::of(output).paint);
            }
            if let Some(before) = &before {
                text += &line(before, &now);
                lines += 1;
            }
        }
        before = Some(now);
        output.print_on(&text)
    })
}

/// Keeps the port that is meant.
fn choose(ports: &mut Ports, wanted: Option<&str>) -> Result<(), Error> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let names: Vec<String> = ports.ports.iter().map(|port| port.port.clone()).collect();
    ports.ports.retain(|port| port.port == wanted);
    if ports.ports.is_empty() {
        let names = names.join(", ");
        let sentence = format!("there is no port '{wanted}'; there are {names}");
        return Err(Error::check_failed(sentence));
    }
    Ok(())
}

fn table(ports: &Ports, looks: Looks) -> String {
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        ("port", Align::Left),
        ("state", Align::Left),
        right("received"),
        right("missed"),
        right("dropped"),
        right("bytes"),
        right("sent"),
        right("dropped"),
        right("bytes"),
    ]);
    for port in &ports.ports {
        table.row([
            port.port.clone(),
            port.state.clone(),
            count(port.in_frames),
            count(port.missed),
            count(port.in_dropped),
            bytes(port.in_bytes),
            count(port.out_frames),
            count(port.out_dropped),
            bytes(port.out_bytes),
        ]);
    }
    table.render(looks.paint, looks.width)
}

fn heading(port: Option<&str>, paint: Paint) -> String {
    let of = port.map_or_else(|| "all ports".to_owned(), |port| format!("port {port}"));
    let (input, out) = (format!("input ({of}), a second"), "output, a second");
    let (left, right) = (WIDTHS[..4].iter().sum(), WIDTHS[4..].iter().sum());
    let titles = columns(TITLES.iter().map(ToString::to_string));
    let above: String = format!("{input:^left$}{out:^right$}");
    format!("{}\n{}\n", paint.bold(above.trim_end()), paint.dim(&titles))
}

/// What passed between two looks, a second.
fn line(before: &Ports, now: &Ports) -> String {
    let seconds = (now.seconds - before.seconds).max(1e-3);
    let numbers: [CountOf; 7] = [
        (|port| port.in_frames, "pps"),
        (|port| port.missed, "pps"),
        (|port| port.in_dropped, "pps"),
        (|port| port.in_bytes, "B/s"),
        (|port| port.out_frames, "pps"),
        (|port| port.out_dropped, "pps"),
        (|port| port.out_bytes, "B/s"),
    ];
    let sum = |ports: &Ports, of: fn(&PortFacts) -> u64| ports.ports.iter().map(of).sum::<u64>();
    let rate = |(of, unit)| {
        // A counter that went back is another daemon's.
        let passed = sum(now, of).saturating_sub(sum(before, of));
        rate(passed as f64 / seconds, unit)
    };
    columns(numbers.into_iter().map(rate)) + "\n"
}

/// A count of a port, and the unit of its rate.
type CountOf = (fn(&PortFacts) -> u64, &'static str);

fn columns(cells: impl Iterator<Item = String>) -> String {
    let cells = cells.zip(WIDTHS);
    cells
        .map(|(cell, width)| format!("{cell:>width$}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(seconds: f64, frames: u64) -> Ports {
        let port = PortFacts {
            port: "a".to_owned(),
            in_frames: frames,
            in_bytes: frames * 60,
            missed: frames / 500,
            in_dropped: frames * 3 / 1000,
            out_frames: frames / 2,
            ..PortFacts::default()
        };
        Ports {
            seconds,
            ports: vec![port.clone(), port],
        }
    }

    /// Whatever the rates are, a blank stands between two of them.
    #[test]
    fn numbers_of_any_length_stand_apart() {
        for frames in [1, 999, 453_800, 2_650_000, 16_660_000, 148_810_000] {
            let port = PortFacts {
                in_frames: frames,
                in_bytes: frames * 60,
                missed: frames / 500,
                in_dropped: frames / 150,
                out_frames: frames,
                out_dropped: frames / 150,
                out_bytes: frames * 60,
                ..PortFacts::default()
            };
            let at = |seconds, ports| Ports { seconds, ports };
            let line = line(&at(0.0, Vec::new()), &at(1.0, vec![port]));
            assert_eq!(line.split_whitespace().count(), 14, "{line}");
            assert!(line.trim_end().chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn a_line_is_of_a_second_and_of_all_ports() {
        let line = line(&ports(10.0, 1000), &ports(12.0, 3000));
        let words: Vec<&str> = line.split_whitespace().collect();
        let figures: Vec<String> = words.chunks(2).map(|pair| pair.join(" ")).collect();
        assert_eq!(
            figures,
            [
                "2000 pps",
                "4 pps",
                "6 pps",
                "120.0 kB/s",
                "1000 pps",
                "0 pps",
                "0 B/s"
            ]
        );
        let heading = heading(Some("a"), Paint::off());
        let titles = heading.lines().nth(1).unwrap();
        assert_eq!(
            titles.chars().count(),
            line.trim_end_matches('\n').chars().count()
        );
    }
}
