//! An investigation as people read it.

use lab::Samples;
use lab::layout::{Measured, Moved, Report};

use super::sentences::{findings, times};
use crate::paint::Paint;
use crate::report::number::count;
use crate::report::table::{Align, Table, wrap};

/// The answer in the first sentence, then what was measured.
pub(super) fn render(report: &Report, paint: Paint, width: usize) -> String {
    let mut text = String::new();
    for finding in findings(report) {
        text += &wrap(&finding, 2, width);
    }
    text += &format!("\n{}", table(report).render(paint, width));
    text += &wrap(
        &format!(
            "{}, median of {} rounds: {}; {} large blocks, {} runs",
            name(report.measured),
            report.default.all().len(),
            figure(report.measured, &report.default),
            count(report.seen),
            count(report.runs as u64)
        ),
        2,
        width,
    );
    text
}

fn table(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("layout", Align::Left),
        ("times as fast as the default", Align::Right),
        ("", Align::Left),
    ]);
    for compared in &report.compared {
        let moved = match compared.moved {
            Moved::Blocks(offset) => format!("each block {offset} bytes further than the last"),
            Moved::Stack(bytes) => format!("stack {bytes} bytes lower"),
        };
        let verdict = if compared.differs {
            ""
        } else {
            "no difference"
        };
        table.row([moved, times(&compared.speed), verdict.to_owned()]);
    }
    table
}

fn name(measured: Measured) -> &'static str {
    match measured {
        Measured::Cpu => "CPU time of the default layout",
        Measured::Wall => "time of the default layout",
        Measured::Figure => "figure of the default layout",
    }
}

fn figure(measured: Measured, samples: &Samples) -> String {
    let median = samples.median();
    match measured {
        Measured::Figure => format!("{median:.3}"),
        Measured::Cpu | Measured::Wall => format!("{:.2} ms", median / 1e6),
    }
}
