//! A client and a server at one worker.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::cpu_time_nanos;
use frame::{Burst, PortId};
use plane::host::{
    ClientConfig, End, Host, HostConfig, HostConfigError, HostPort, Pace, QueryShape, RoleConfig,
};
use plane::router::Prefix;
use plane::{Forwarding, Node, Verdicts};
use wire::MacAddress;

const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));
const CLIENTS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 0, 0));
const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 0, 1));
/// What an end has at the port of the other one. It is of another family: no query uses it.
const UNUSED: IpAddr = IpAddr::V6(std::net::Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, 1));
const PORT: u16 = 80;
const REQUEST: usize = 92;
const RESPONSE: usize = 206;
/// As good as drawn: the hash of tables needs keys with bits all over.
const KEYS: [[u64; 2]; 2] = [
    [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7345],
    [0xA409_3822_299F_31D1, 0x082E_FA98_EC4E_6C89],
];
/// Longer than any trial.
const TIMEOUT: u64 = 3_600_000_000_000;

/// What connections are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A request, a response, and the end.
    Query,
    /// A request that the server waits for the rest of.
    Idle,
}

/// When to look at the clock, and what was seen.
#[derive(Debug)]
pub(super) struct Goal {
    /// Queries done when the time that counts begins and ends.
    first: u64,
    last: u64,
    begun: AtomicU64,
    ended: AtomicU64,
    established: AtomicU64,
}

impl Goal {
    pub(super) fn new(first: u64, last: u64) -> Self {
        Self {
            first,
            last,
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            established: AtomicU64::new(0),
        }
    }

    pub(super) fn is_reached(&self) -> bool {
        self.ended.load(Ordering::Acquire) != 0
    }

    /// The worker's CPU time in between.
    pub(super) fn nanos(&self) -> u64 {
        self.ended.load(Ordering::Acquire) - self.begun.load(Ordering::Acquire)
    }

    /// Connections of both ends that were complete.
    pub(super) fn established(&self) -> u64 {
        self.established.load(Ordering::Acquire)
    }

    fn look(&self, done: u64, established: u64) {
        self.established.store(established, Ordering::Release);
        for (at, mark) in [(self.first, &self.begun), (self.last, &self.ended)] {
            if done >= at && mark.load(Ordering::Relaxed) == 0 {
                mark.store(cpu_time_nanos(), Ordering::Release);
            }
        }
    }
}

/// Frames between both ends from which on none sends more. A worker waits where a ring is full, and
/// this one would wait for itself.
const BETWEEN_MAX: usize = 512;

/// The server is at port 0 and the client at port 1.
#[derive(Debug)]
pub(super) struct Ends {
    server: Host,
    client: Host,
    /// Frames that one sent and the other has not.
    between: usize,
    goal: Arc<Goal>,
}

impl Ends {
    pub(super) fn new(
        live: usize,
        shape: Shape,
        goal: &Arc<Goal>,
    ) -> Result<Self, HostConfigError> {
        let query = QueryShape {
            request: REQUEST,
            response: RESPONSE,
            answer: None,
            closes_first: End::Server,
            timeout: TIMEOUT,
        };
        let asks = ClientConfig {
            server: (SERVER, PORT).into(),
            pace: Pace::Connections(live),
        };
        let waits = usize::from(shape == Shape::Idle);
        let server = HostConfig {
            ports: vec![
                port(1, Prefix::of_one(SERVER), Some(CLIENT)),
                port(1, Prefix::of_one(UNUSED), None),
            ],
            role: RoleConfig::Server(PORT),
            query: QueryShape {
                request: REQUEST + waits,
                ..query.clone()
            },
        };
        let client = HostConfig {
            ports: vec![
                port(2, Prefix::of_one(UNUSED), None),
                port(2, Prefix::holding(CLIENTS, 16), None),
            ],
            role: RoleConfig::Client(asks),
            query,
        };
        Ok(Self {
            server: Host::new(server, KEYS[0])?,
            client: Host::new(client, KEYS[1])?,
            between: 0,
            goal: Arc::clone(goal),
        })
    }
}

fn port(number: u8, own: Prefix, gateway: Option<IpAddr>) -> HostPort {
    HostPort {
        mac: MacAddress([2, 0, 0, 0, 0, number]),
        mtu: 1500,
        own: vec![own],
        on_link: Vec::new(),
        gateway,
    }
}

impl Node for Ends {
    const NAME: &'static str = Host::NAME;
    const COUNTS: &'static [&'static str] = Host::COUNTS;

    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        self.between = self.between.saturating_sub(burst.len());
        let before = cx.out.len();
        match cx.from {
            PortId(0) => self.server.process(cx, burst, verdicts),
            _ => self.client.process(cx, burst, verdicts),
        }
        self.between += cx.out.len() - before;
    }

    fn poll(&mut self, cx: &mut Forwarding<'_>) {
        if self.between < BETWEEN_MAX {
            let before = cx.out.len();
            self.server.poll(cx);
            self.client.poll(cx);
            self.between += cx.out.len() - before;
        }
        let [server, client] = [&self.server, &self.client].map(Host::progress);
        self.goal
            .look(client.done, server.established + client.established);
    }

    /// Those of the client.
    fn counts(&self, out: &mut [u64]) {
        self.client.counts(out);
    }
}
