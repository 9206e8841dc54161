//! `linerate serve udp` and `linerate load udp`: a host with a UDP socket on one port.

mod figures;
mod kernel;
mod text;

use std::sync::mpsc;

use engine::{Engine, Machine};
use plane::host::{End, QueryShape, RoleConfig, UdpClientConfig, UdpConfig};

use super::plan::HostSpec;
use super::{LIVE, LIVE_PLAIN};
use crate::args::{OwnAddress, UdpHostArgs, UdpLoadArgs, UdpServeArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::paint::Paint;
use crate::report::{self, Report};
use crate::run::{judge, warn_of_debug_build, warn_of_shared_cpus, watch};
use crate::screen::Screen;
use figures::UdpFigures;

/// Takes datagrams, and sends them back where that is asked for.
pub(crate) fn serve(args: &UdpServeArgs, output: Output) -> Outcome {
    if args.host.kernel {
        return kernel::serve(args, output);
    }
    let role = UdpConfig::Server {
        port: args.place.listen,
        responds: args.respond != 0,
    };
    run(&args.host, &args.place.address, role, output)
}

/// Sends datagrams.
pub(crate) fn load(args: &UdpLoadArgs, output: Output) -> Outcome {
    if args.host.kernel {
        return kernel::load(args, output);
    }
    let role = UdpConfig::Client(UdpClientConfig {
        server: args.ends.server,
        size: usize::try_from(args.size).unwrap_or(usize::MAX),
        rate: args.rate,
    });
    run(&args.host, &args.ends.clients, role, output)
}

/// A host of UDP makes no queries.
const NO_QUERY: QueryShape = QueryShape {
    request: 1,
    response: 1,
    answer: None,
    closes_first: End::Server,
    timeout: 1,
};

fn run(args: &UdpHostArgs, own: &[OwnAddress], role: UdpConfig, output: Output) -> Outcome {
    let spec = HostSpec {
        port: args.port.as_deref().unwrap_or_default(),
        own,
        role: RoleConfig::Udp(role),
        query: NO_QUERY,
        run: &args.run,
    };
    let (plan, mut hosts) = spec.open(|layout| warn_of_shared_cpus(layout, output))?;
    let (whom, times) = mpsc::channel();
    for host in &mut hosts {
        host.send_times_to(whom.clone());
    }
    drop(whom);
    let interrupt = Interrupt::watch()?;
    let mut screen = Screen::live(output, LIVE, Some(LIVE_PLAIN));
    let running = Engine::start_nodes(plan, hosts).map_err(Error::refused)?;
    let run = watch(running, &interrupt, &mut screen, Vec::new)?;
    let report = Report::new(&run, &[], &Machine::read());
    report
        .warnings
        .iter()
        .for_each(|warning| output.warn(warning));
    // A server has none.
    let times = times.recv().ok();
    let figures = UdpFigures::of_host(&role, times.as_ref(), &report);
    let report_text = |paint, width| report::render(&report, paint, width);
    print(&figures, report_text, args.run.json, output)?;
    warn_of_debug_build(output);
    judge(&run, &report)?;
    match figures.complaint() {
        Some(complaint) => Err(Error::check_failed(complaint)),
        None => Ok(ExitCode::Done),
    }
}

/// Prints the figures, and what stands below them for people.
fn print(
    figures: &UdpFigures<'_>,
    below: impl FnOnce(Paint, usize) -> String,
    json: bool,
    output: Output,
) -> Outcome {
    if json {
        return output.print_json(figures);
    }
    let stream = Stream::Stdout;
    let (paint, width) = (output.paint(stream), output.width(stream));
    let text = text::render(figures, paint, width) + &below(paint, width);
    output.print(stream, &text)
}
