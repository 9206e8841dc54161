//! `linerate serve` and `linerate load` with `tcp` and `udp`: a host of its own on one port.

mod answer;
mod figures;
mod live;
mod plan;
mod text;
mod timings;
mod udp;

use std::time::Duration;

use engine::{Engine, Machine};
use plane::host::{ClientConfig, Pace, QueryShape, RoleConfig};

use crate::args::{HostArgs, Response, TcpLoadArgs, TcpServeArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::{self, Report};
use crate::run::{judge, warn_of_debug_build, warn_of_shared_cpus, watch_by};
use crate::screen::Screen;
use figures::Figures;
use live::Live;
use plan::HostSpec;
use timings::Timings;

pub(crate) use udp::{load as load_udp, serve as serve_udp};

/// Bytes of a request where none are given: those of the published queries.
const REQUEST: usize = 92;

/// How often a run says where it is, on a terminal and elsewhere.
const LIVE: Duration = Duration::from_secs(1);
const LIVE_PLAIN: Duration = Duration::from_secs(10);

/// Answers queries.
pub(crate) fn serve(args: &TcpServeArgs, output: Output) -> Outcome {
    let answer = match &args.response {
        Response::Bytes(_) => None,
        Response::File(path) if args.host.request.is_none() => Some(answer::read(path)?),
        Response::File(_) => {
            return Err(Error::refused(
                "a file answers requests that end with an empty line, whatever their length: \
                 leave --request out",
            ));
        }
    };
    let spec = HostSpec {
        port: &args.host.port,
        own: &args.place.address,
        role: RoleConfig::Server(args.place.listen),
        query: QueryShape {
            response: match args.response {
                Response::Bytes(bytes) => bytes,
                Response::File(_) => 0,
            },
            answer,
            ..query(&args.host)
        },
        run: &args.host.run,
    };
    run(&spec, output)
}

/// Sends queries.
pub(crate) fn load(args: &TcpLoadArgs, output: Output) -> Outcome {
    let pace = match args.rate {
        Some(rate) => Pace::Rate(rate),
        None => Pace::Connections(args.connections.unwrap_or(1) as usize),
    };
    let client = ClientConfig {
        server: args.ends.server,
        pace,
    };
    let spec = HostSpec {
        port: &args.host.port,
        own: &args.ends.clients,
        role: RoleConfig::Client(client),
        query: QueryShape {
            response: args.response,
            ..query(&args.host)
        },
        run: &args.host.run,
    };
    run(&spec, output)
}

/// What both ends say of a query.
fn query(args: &HostArgs) -> QueryShape {
    QueryShape {
        request: args.request.unwrap_or(REQUEST),
        response: 0,
        answer: None,
        closes_first: args.close_first.into(),
        timeout: u64::try_from(args.timeout.as_nanos()).unwrap_or(u64::MAX),
    }
}

fn run(spec: &HostSpec<'_>, output: Output) -> Outcome {
    let (plan, mut hosts) = spec.open(|layout| warn_of_shared_cpus(layout, output))?;
    let interrupt = Interrupt::watch()?;
    let mut screen = Screen::live(output, LIVE, Some(LIVE_PLAIN));
    let mut live = Live::new(match spec.role {
        RoleConfig::Client(_) => Timings::of(&mut hosts),
        RoleConfig::Server(_) | RoleConfig::Udp(_) => Timings::default(),
    });
    let running = Engine::start_nodes(plan, hosts).map_err(Error::refused)?;
    let run = watch_by(running, &interrupt, &mut screen, &mut live)?;
    let report = Report::new(&run, &[], &Machine::read());
    report
        .warnings
        .iter()
        .for_each(|warning| output.warn(warning));
    let figures = Figures::new(spec, &report, &live.timings);
    print(&figures, &report, spec.run.json, output)?;
    warn_of_debug_build(output);
    judge(&run, &report)?;
    match figures.complaint() {
        Some(complaint) => Err(Error::check_failed(complaint)),
        None => Ok(ExitCode::Done),
    }
}

fn print(figures: &Figures<'_>, report: &Report, json: bool, output: Output) -> Outcome {
    if json {
        return output.print_json(figures);
    }
    let stream = Stream::Stdout;
    let (paint, width) = (output.paint(stream), output.width(stream));
    let text = text::render(figures, paint, width) + &report::render(report, paint, width);
    output.print(stream, &text)
}
