//! The same by sockets of the kernel.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use load::udp::{
    KernelCounters, LimitsAsked, Threads, UdpClientOptions, UdpSent, UdpServerOptions, UdpTaken,
    limits, start_client, start_server,
};
use plane::host::{host_at, host_count};
use traffic::{Histogram, LABEL_BYTES};

use super::figures::{Columns, Faults, KernelDropped, KernelFigures, Latency, UdpFigures};
use super::{print, text};
use crate::args::{OwnAddress, UdpHostArgs, UdpLoadArgs, UdpServeArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::report::json::ratio;
use crate::run::warn_of_debug_build;

/// Sockets of a client at most.
const SOCKETS_MAX: u64 = 4096;
/// The longest payload of IPv4.
const SIZE_MAX: u64 = 65_507;
const NAP: Duration = Duration::from_millis(20);

/// How a run went.
struct Ran {
    threads: usize,
    seconds: f64,
    counters: KernelCounters,
}

/// Takes datagrams by sockets of the kernel.
pub(super) fn serve(args: &UdpServeArgs, output: Output) -> Outcome {
    let [own] = args.place.address.as_slice() else {
        return Err(Error::refused(
            "sockets of the kernel listen at one address here: give one --address, or 0.0.0.0 for \
             all",
        ));
    };
    let options = UdpServerOptions {
        address: SocketAddr::new(own.address(), args.place.listen),
        threads: threads(&args.host),
        responds: args.respond != 0,
    };
    warn_of_limits(options.threads, output);
    let interrupt = Interrupt::watch()?;
    let (threads, address) = start_server(&options).map_err(Error::refused)?;
    output.tell(&format!("linerate takes datagrams at {address}"));
    let ran = watch(&threads, &args.host, address, &interrupt);
    let taken = threads.stop().map_err(Error::check_failed)?;
    let figures = of_server(&taken, &ran);
    conclude(&figures, args.host.run.json, output)
}

/// Sends datagrams by sockets of the kernel.
pub(super) fn load(args: &UdpLoadArgs, output: Output) -> Outcome {
    if !(LABEL_BYTES as u64..=SIZE_MAX).contains(&args.size) {
        return Err(Error::refused(format!(
            "a payload of {} bytes cannot be sent: give {LABEL_BYTES} to {SIZE_MAX} bytes",
            args.size
        )));
    }
    let sources = sources(&args.ends.clients, args.ends.server)?;
    warn_of_limits(sources.len(), output);
    let key = [(); 2].map(|()| RandomState::new().hash_one(()));
    let options = UdpClientOptions {
        server: args.ends.server,
        threads: threads(&args.host).min(sources.len()),
        sources,
        size: args.size as usize,
        rate: args.rate,
        key,
    };
    let interrupt = Interrupt::watch()?;
    let threads = start_client(&options).map_err(Error::refused)?;
    let mut ran = watch(&threads, &args.host, args.ends.server, &interrupt);
    ran.threads = options.threads;
    let sent = threads.stop().map_err(Error::check_failed)?;
    let figures = of_client(&sent, &ran);
    conclude(&figures, args.host.run.json, output)
}

/// Addresses of the server's family, each of which gets a socket.
fn sources(clients: &[OwnAddress], server: SocketAddr) -> Result<Vec<IpAddr>, Error> {
    let own = clients.iter().map(|one| one.own);
    let prefixes: Vec<_> = own
        .filter(|own| own.first.is_ipv4() == server.is_ipv4())
        .collect();
    let counts = prefixes.iter().map(host_count);
    match counts.fold(0, u64::saturating_add) {
        0 => Err(Error::refused(format!(
            "no own address can reach {}: give --clients of the same family, IPv4 or IPv6",
            server.ip()
        ))),
        count if count > SOCKETS_MAX => Err(Error::refused(format!(
            "{count} addresses would need as many sockets, and there may be {SOCKETS_MAX}: give a \
             longer prefix"
        ))),
        _ => Ok(prefixes
            .iter()
            .flat_map(|own| (0..host_count(own)).map(move |at| host_at(own, at)))
            .collect()),
    }
}

fn threads(args: &UdpHostArgs) -> usize {
    let cpus = || thread::available_parallelism().map_or(1, usize::from);
    args.threads.map_or_else(cpus, usize::from)
}

fn warn_of_limits(sockets: usize, output: Output) {
    for limit in limits(&LimitsAsked { sockets }) {
        output.warn(&limit);
    }
}

/// Waits for the end; what the kernel counted meanwhile.
fn watch<T: Send + 'static>(
    threads: &Threads<T>,
    args: &UdpHostArgs,
    own: SocketAddr,
    interrupt: &Interrupt,
) -> Ran {
    let (start, before) = (Instant::now(), KernelCounters::read(own));
    let is_over = || {
        args.run
            .duration
            .is_some_and(|duration| start.elapsed() >= duration)
    };
    while !interrupt.is_asked() && !threads.has_failed() && !is_over() {
        thread::sleep(NAP);
    }
    Ran {
        threads: self::threads(args),
        seconds: start.elapsed().as_secs_f64(),
        counters: KernelCounters::read(own).since(&before),
    }
}

fn conclude(figures: &UdpFigures<'_>, json: bool, output: Output) -> Outcome {
    let below = |paint, _| {
        let kernel = figures.kernel.as_ref();
        kernel.map_or_else(String::new, |kernel| text::kernel(kernel, paint))
    };
    print(figures, below, json, output)?;
    warn_of_debug_build(output);
    match figures.complaint() {
        Some(complaint) => Err(Error::check_failed(complaint)),
        None => Ok(ExitCode::Done),
    }
}

fn of_server(taken: &[UdpTaken], ran: &Ran) -> UdpFigures<'static> {
    let sum = |of: fn(&UdpTaken) -> u64| taken.iter().map(of).sum();
    let datagrams = Columns {
        generated: None,
        at_interface: Some(ran.counters.frames_in),
        received: Some(sum(|one| one.received)),
        answered: Some(sum(|one| one.answered)),
        back: None,
    };
    let faults = Faults {
        unanswered: sum(|one| one.unanswered),
        ..Faults::default()
    };
    UdpFigures {
        role: "server",
        received_bytes: sum(|one| one.bytes),
        ..figures(datagrams, faults, ran)
    }
}

fn of_client(sent: &[UdpSent], ran: &Ran) -> UdpFigures<'static> {
    let sum = |of: fn(&UdpSent) -> u64| -> u64 { sent.iter().map(of).sum() };
    let mut times = Histogram::new();
    sent.iter().for_each(|one| times.merge(&one.times));
    let (generated, back) = (sum(|one| one.echoes.sent), sum(|one| one.echoes.back));
    let datagrams = Columns {
        generated: Some(generated),
        at_interface: Some(ran.counters.frames_out),
        received: None,
        answered: None,
        back: Some(back),
    };
    let faults = Faults {
        refused: sum(|one| one.refused),
        repeated: sum(|one| one.echoes.repeated),
        late: sum(|one| one.echoes.late),
        foreign: sum(|one| one.echoes.foreign),
        not_taken: sum(|one| one.not_taken),
        ..Faults::default()
    };
    UdpFigures {
        role: "client",
        not_back: Some(generated.saturating_sub(back)),
        latency: Latency::of(&times),
        ..figures(datagrams, faults, ran)
    }
}

/// What both ends have in common.
fn figures(datagrams: Columns<u64>, faults: Faults, ran: &Ran) -> UdpFigures<'static> {
    let (counters, drops) = (&ran.counters, &ran.counters.drops);
    UdpFigures {
        role: "",
        seconds: ran.seconds,
        datagrams,
        per_second: datagrams.per_second(ran.seconds),
        not_back: None,
        received_bytes: 0,
        faults,
        latency: None,
        run: None,
        kernel: Some(KernelFigures {
            threads: ran.threads as u64,
            dropped: KernelDropped {
                rcvbuf_errors: drops.receive_buffer,
                sndbuf_errors: drops.send_buffer,
                csum_errors: drops.checksum,
                no_ports: drops.no_port,
                rxq_ovfl: drops.sockets,
                softnet: drops.softnet,
                time_squeeze: drops.squeezed,
            },
            context_switches: counters.switches,
            context_switches_per_second: ratio(counters.switches as f64, ran.seconds),
            softirq_share: ratio(counters.softirq_ticks as f64, counters.ticks as f64),
        }),
    }
}
