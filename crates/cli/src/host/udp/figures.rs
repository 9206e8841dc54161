//! What became of datagrams, as one JSON object.

use plane::host::UdpConfig;
use serde::Serialize;
use traffic::{Histogram, LatencyReport};

use crate::report::Report;
use crate::report::json::ratio;
use crate::report::number::count;

/// What became of datagrams. Field names are a contract.
#[derive(Debug, Serialize)]
pub(super) struct UdpFigures<'a> {
    /// `server` or `client`.
    pub(super) role: &'static str,
    /// From the start to the last frame.
    pub(super) seconds: f64,
    /// Datagrams at each of five places; null where this end does not see the place.
    pub(super) datagrams: Columns<u64>,
    /// Those a second.
    pub(super) per_second: Columns<f64>,
    /// Of a client: those that did not come back.
    pub(super) not_back: Option<u64>,
    /// Bytes of the payloads that the program received.
    pub(super) received_bytes: u64,
    /// What went wrong.
    pub(super) faults: Faults,
    /// From sending to coming back; null where nothing came back.
    pub(super) latency: Option<Latency>,
    /// The run: frames, ports, and every count of the host under `host`; none with `--kernel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<&'a Report>,
    /// What the kernel did; with `--kernel` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kernel: Option<KernelFigures>,
}

/// One figure for each of the places where datagrams are counted.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Columns<T> {
    /// Made by the client.
    pub(super) generated: Option<T>,
    /// Frames of the port: sent by a client's, received by a server's, of whatever protocol. With
    /// `--kernel`, frames of all interfaces of the network namespace.
    pub(super) at_interface: Option<T>,
    /// Received by the server's program.
    pub(super) received: Option<T>,
    /// Sent back by it.
    pub(super) answered: Option<T>,
    /// Back at the client.
    pub(super) back: Option<T>,
}

/// Datagrams that went wrong, by cause.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Faults {
    /// An ICMP error said that nobody has the port.
    pub(super) refused: u64,
    /// An ICMP error said something else.
    pub(super) icmp_errors: u64,
    /// Length or checksum was wrong.
    pub(super) bad: u64,
    /// Nobody here has the port.
    pub(super) no_socket: u64,
    /// The server could not answer: no frame was free, the sender has port 0, or the kernel did not
    /// take the answer.
    pub(super) unanswered: u64,
    /// They came back once more.
    pub(super) repeated: u64,
    /// They came back too late to say whether they had come already.
    pub(super) late: u64,
    /// They came from the server's port and are none of ours.
    pub(super) foreign: u64,
    /// The Ethernet address of the next hop was not known.
    pub(super) unresolved: u64,
    /// The kernel did not take what a client sent.
    pub(super) not_taken: u64,
}

/// What the kernel did during a run, beside the datagrams.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct KernelFigures {
    /// Threads that were asked for.
    pub(super) threads: u64,
    /// Datagrams and frames that the kernel dropped, by who dropped them.
    pub(super) dropped: KernelDropped,
    /// Context switches of the whole machine.
    pub(super) context_switches: u64,
    /// Those a second.
    pub(super) context_switches_per_second: f64,
    /// The share of the time of all CPUs that softirqs took, 0 to 1.
    pub(super) softirq_share: f64,
}

/// What the kernel dropped.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct KernelDropped {
    /// `RcvbufErrors`: the receive buffer of a socket was full.
    pub(super) rcvbuf_errors: u64,
    /// `SndbufErrors`: a send buffer was full.
    pub(super) sndbuf_errors: u64,
    /// `InCsumErrors`: the checksum was wrong.
    pub(super) csum_errors: u64,
    /// `NoPorts`: nobody had the port.
    pub(super) no_ports: u64,
    /// What the own sockets dropped, as `SO_RXQ_OVFL` counts it.
    pub(super) rxq_ovfl: u64,
    /// Frames that softnet dropped, of the whole machine.
    pub(super) softnet: u64,
    /// How often a softirq ended with frames left (`time_squeeze`), of the whole machine.
    pub(super) time_squeeze: u64,
}

impl KernelDropped {
    /// All of them, with words for each.
    pub(super) fn causes(&self) -> [(&'static str, u64); 7] {
        [
            (
                "a receive buffer was full (RcvbufErrors)",
                self.rcvbuf_errors,
            ),
            ("a send buffer was full (SndbufErrors)", self.sndbuf_errors),
            ("wrong checksum (InCsumErrors)", self.csum_errors),
            ("nobody had the port (NoPorts)", self.no_ports),
            ("dropped by the own sockets (SO_RXQ_OVFL)", self.rxq_ovfl),
            ("dropped by softnet, of the whole machine", self.softnet),
            (
                "times a softirq left frames (time_squeeze)",
                self.time_squeeze,
            ),
        ]
    }
}

/// Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Latency {
    pub(super) count: u64,
    pub(super) min_ns: u64,
    pub(super) mean_ns: f64,
    pub(super) p50_ns: u64,
    pub(super) p90_ns: u64,
    pub(super) p99_ns: u64,
    pub(super) p999_ns: u64,
    pub(super) max_ns: u64,
}

impl<T: Copy> Columns<T> {
    /// All of them, with words for each.
    pub(super) fn all(&self) -> [(&'static str, Option<T>); 5] {
        [
            ("generated", self.generated),
            ("at the interface", self.at_interface),
            ("received by the program", self.received),
            ("answered", self.answered),
            ("back at the client", self.back),
        ]
    }
}

impl Columns<u64> {
    pub(super) fn per_second(&self, seconds: f64) -> Columns<f64> {
        let rate = |count: Option<u64>| count.map(|count| ratio(count as f64, seconds));
        Columns {
            generated: rate(self.generated),
            at_interface: rate(self.at_interface),
            received: rate(self.received),
            answered: rate(self.answered),
            back: rate(self.back),
        }
    }
}

impl Faults {
    /// All of them, with words for each.
    pub(super) fn causes(&self) -> [(&'static str, u64); 10] {
        [
            ("refused: nobody has the port", self.refused),
            ("other ICMP errors", self.icmp_errors),
            ("wrong length or checksum", self.bad),
            ("for a port that nobody has here", self.no_socket),
            ("could not be answered", self.unanswered),
            ("back once more", self.repeated),
            ("back too late to be told apart", self.late),
            ("from the server, and none of ours", self.foreign),
            ("no Ethernet address of the next hop", self.unresolved),
            ("not taken by the kernel", self.not_taken),
        ]
    }
}

impl Latency {
    pub(super) fn of(times: &Histogram) -> Option<Self> {
        let LatencyReport {
            count,
            min,
            mean,
            p50,
            p90,
            p99,
            p999,
            max,
        } = times.report();
        (count != 0).then_some(Self {
            count,
            min_ns: min,
            mean_ns: mean,
            p50_ns: p50,
            p90_ns: p90,
            p99_ns: p99,
            p999_ns: p999,
            max_ns: max,
        })
    }
}

impl<'a> UdpFigures<'a> {
    pub(super) fn of_host(role: &UdpConfig, times: Option<&Histogram>, run: &'a Report) -> Self {
        let of = |name| run.host.get(name).copied().unwrap_or(0);
        let is_client = matches!(role, UdpConfig::Client(_));
        let of_client = |count| is_client.then_some(count);
        let of_server = |count| (!is_client).then_some(count);
        let frames = if is_client {
            run.frames.tx
        } else {
            run.frames.rx
        };
        let datagrams = Columns {
            generated: of_client(of("generated")),
            at_interface: Some(frames),
            received: of_server(of("datagrams_taken")),
            answered: of_server(of("datagrams_answered")),
            back: of_client(of("back")),
        };
        Self {
            role: if is_client { "client" } else { "server" },
            seconds: run.seconds,
            datagrams,
            per_second: datagrams.per_second(run.seconds),
            not_back: of_client(of("generated").saturating_sub(of("back"))),
            received_bytes: of("datagram_bytes"),
            faults: Faults {
                refused: of("datagrams_refused"),
                icmp_errors: of("datagram_errors"),
                bad: of("bad_datagrams"),
                no_socket: of("no_socket"),
                unanswered: of("datagrams_unanswered"),
                repeated: of("repeated"),
                late: of("late"),
                foreign: of("foreign"),
                unresolved: of("unresolved"),
                not_taken: 0,
            },
            latency: times.and_then(Latency::of),
            run: Some(run),
            kernel: None,
        }
    }

    /// Why a client's run is not what it should be. A server takes whatever comes.
    pub(super) fn complaint(&self) -> Option<String> {
        match self.datagrams.generated {
            Some(0) if self.kernel.is_some() => {
                Some("no datagram was sent: let it run longer".to_owned())
            }
            Some(0) => Some(
                "no datagram was sent: the server, or the gateway, does not answer ARP or \
                 neighbour discovery; look at the link and at the addresses"
                    .to_owned(),
            ),
            Some(_) if self.faults.refused != 0 => Some(format!(
                "nobody has the server's port, as it said {} times by ICMP: start the server, or \
                 look at --server",
                count(self.faults.refused)
            )),
            _ => None,
        }
    }
}
