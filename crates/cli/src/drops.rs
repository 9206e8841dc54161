//! `linerate drops`: the declared drop reasons, from which the documents derive.

mod page;

use std::io::{self, IsTerminal};

use plane::{DropReason, Severity};
use serde::Serialize;

use crate::args::DropsArgs;
use crate::build::VERSION;
use crate::error::Outcome;
use crate::output::{Output, Stream};
use crate::report::table::{Align, Table};

#[derive(Debug, Serialize)]
struct Drops {
    version: &'static str,
    drop_reasons: Vec<Reason>,
}

#[derive(Debug, Serialize)]
struct Reason {
    name: &'static str,
    severity: &'static str,
    sentence: &'static str,
    remedy: &'static str,
}

/// Prints the table, or the object.
pub(crate) fn run(args: &DropsArgs, output: Output) -> Outcome {
    if args.markdown {
        return output.print(Stream::Stdout, &page::markdown());
    }
    let reasons: Vec<Reason> = DropReason::all().map(Reason::of).collect();
    if args.json {
        return output.print_json(&Drops {
            version: VERSION,
            drop_reasons: reasons,
        });
    }
    let columns = [
        ("reason", Align::Left),
        ("whose", Align::Left),
        ("meaning", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for reason in reasons {
        table.row([reason.name, reason.severity, reason.sentence].map(str::to_owned));
    }
    let stream = Stream::Stdout;
    output.print(stream, &table.render(output.paint(stream), width(output)))
}

impl Reason {
    fn of(reason: DropReason) -> Self {
        let severity: Severity = reason.severity();
        Self {
            name: reason.name(),
            severity: severity.name(),
            sentence: reason.sentence(),
            remedy: reason.remedy(),
        }
    }
}

/// A terminal's own width, and no limit elsewhere: a file or program gets one line a reason.
fn width(output: Output) -> usize {
    if io::stdout().is_terminal() {
        output.width(Stream::Stdout)
    } else {
        usize::MAX
    }
}
