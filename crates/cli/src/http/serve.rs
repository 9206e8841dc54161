//! A server from start to end: live lines and Ctrl-C.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use load::serve::{Folder, ServeCounters, ServeOptions, Serving};
use load::tls::{ServerTls, ServerTlsOptions};
use serde::Serialize;

use super::threads;
use crate::args::{HttpServeArgs, TlsServeArgs};
use crate::build::{DEBUG, VERSION};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::number::{count, rate, seconds};
use crate::run::warn_of_debug_build;
use crate::screen::Screen;

const LIVE: Duration = Duration::from_secs(1);
const NAP: Duration = Duration::from_millis(20);

/// What a server did, as one JSON object. Field names are a contract.
#[derive(Debug, Serialize)]
struct ServeFigures {
    version: &'static str,
    debug_build: bool,
    /// Where it listened.
    address: String,
    seconds: f64,
    connections: u64,
    requests: u64,
    answers: u64,
    refused: u64,
    cut: u64,
    tls_handshakes: u64,
    tls_resumed: u64,
    tls_failed: u64,
    bytes_in: u64,
    bytes_out: u64,
}

/// Serves until the time is over or Ctrl-C.
pub(super) fn run(args: &HttpServeArgs, output: Output) -> Outcome {
    warn_of_debug_build(output);
    let interrupt = Interrupt::watch()?;
    let tls = tls(&args.tls)?;
    let folder = args.files.as_deref().map(Folder::open).transpose();
    let folder = folder.map_err(Error::refused)?.map(Arc::new);
    let scheme = if tls.is_some() { "https" } else { "http" };
    let serving = Serving::start(&ServeOptions {
        address: args.address,
        threads: threads(args.threads),
        requests_max: args.requests_each.unwrap_or(u64::MAX),
        idle: args.idle,
        folder,
        tls,
    });
    let serving = serving.map_err(Error::refused)?;
    let address = serving.address().to_string();
    output.tell(&format!("linerate answers at {scheme}://{address}/"));
    let start = Instant::now();
    watch(args, &serving, &interrupt, output);
    let time = start.elapsed().as_secs_f64();
    let counters = serving.stop().map_err(Error::check_failed)?;
    if args.json {
        output.print_json(&figures(address, time, &counters))
    } else {
        output.print(Stream::Stdout, &text(time, &counters))
    }
    .map(|_| ExitCode::Done)
}

fn tls(args: &TlsServeArgs) -> Result<Option<ServerTls>, Error> {
    let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    let options = ServerTlsOptions {
        certificate: certificate.clone(),
        key: key.clone(),
        version: args.tls_version,
        no_resumption: args.no_resumption,
    };
    ServerTls::read(&options).map(Some).map_err(Error::refused)
}

fn watch(args: &HttpServeArgs, serving: &Serving, interrupt: &Interrupt, output: Output) {
    let mut screen = Screen::live(output, LIVE, args.progress.then_some(LIVE));
    let start = Instant::now();
    let (mut before, mut shown) = (ServeCounters::default(), start);
    while !interrupt.is_asked() && !serving.has_failed() {
        if args
            .duration
            .is_some_and(|duration| start.elapsed() >= duration)
        {
            break;
        }
        if screen.is_due() {
            let now = serving.counters();
            screen.show(&live_line(&before, &now, shown.elapsed(), start.elapsed()));
            (before, shown) = (now, Instant::now());
        }
        thread::sleep(NAP);
    }
}

fn live_line(
    before: &ServeCounters,
    now: &ServeCounters,
    passed: Duration,
    since_start: Duration,
) -> Vec<String> {
    let a_second = |now: u64, before: u64| (now - before) as f64 / passed.as_secs_f64().max(1e-9);
    let bits = a_second(now.bytes_out, before.bytes_out) * 8.0;
    vec![
        format!("  {:>3.0} s", since_start.as_secs_f64()),
        rate(a_second(now.requests, before.requests), "req/s"),
        format!("{} sent", rate(bits, "b/s")),
        format!("{} connections", count(now.open)),
    ]
}

fn figures(address: String, time: f64, counters: &ServeCounters) -> ServeFigures {
    ServeFigures {
        version: VERSION,
        debug_build: DEBUG,
        address,
        seconds: time,
        connections: counters.connections,
        requests: counters.requests,
        answers: counters.answers,
        refused: counters.refused,
        cut: counters.cut,
        tls_handshakes: counters.tls,
        tls_resumed: counters.tls_resumed,
        tls_failed: counters.tls_failed,
        bytes_in: counters.bytes_in,
        bytes_out: counters.bytes_out,
    }
}

fn text(time: f64, counters: &ServeCounters) -> String {
    let mut text = format!(
        "linerate answered for {}: {} requests on {} connections, {} answers\n  {} requests were \
         refused; {} connections ended within a request or an answer\n",
        seconds(time),
        count(counters.requests),
        count(counters.connections),
        count(counters.answers),
        count(counters.refused),
        count(counters.cut),
    );
    if counters.tls + counters.tls_failed > 0 {
        text += &format!(
            "  TLS: {} handshakes, {} of them resumed a session; {} failed\n",
            count(counters.tls),
            count(counters.tls_resumed),
            count(counters.tls_failed)
        );
    }
    text
}
