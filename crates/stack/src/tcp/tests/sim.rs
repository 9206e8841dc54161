//! Two ends and a network that loses, doubles, reorders, corrupts and delays, all by a seed.
//!
//! `TCP_SIM_SEEDS` is how many seeds are tried, `TCP_SIM_FIRST` the first.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};

use frame::Nanos;

use crate::tcp::{
    Application, Cause, CongestionControl, ConnectionId, Event, KeepAlive, Outgoing, Socket,
    StateCounts, Tcp, TcpSettings,
};

const MS: u64 = 1_000_000;
const SEEDS: u64 = 300;
/// No run takes longer on its own clock.
const LONGEST: Nanos = Nanos(3_600_000 * MS);

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The byte of a stream at an offset.
fn byte(at: usize) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 8)) as u8
}

#[derive(Default)]
struct Flow {
    sent: usize,
    received: usize,
    acknowledged: usize,
    has_ended: bool,
    closed: Option<Cause>,
}

/// Sends a stream on each connection, and checks the other end's.
struct Streams {
    total: usize,
    aborts: bool,
    flows: HashMap<ConnectionId, Flow>,
}

impl Application for Streams {
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        let flow = self.flows.entry(socket.id()).or_default();
        assert_eq!(flow.closed, None, "nothing comes after the end");
        match event {
            Event::Connected | Event::Writable => pump(flow, self.total, socket),
            Event::Data(bytes) => {
                assert!(!flow.has_ended, "no data behind the end");
                for found in bytes {
                    assert_eq!(*found, byte(flow.received), "at {}", flow.received);
                    flow.received += 1;
                }
                if self.aborts && flow.received > 1000 {
                    socket.abort();
                }
            }
            Event::Acknowledged(len) => flow.acknowledged += len,
            Event::Ended => flow.has_ended = true,
            Event::Closed(cause) => flow.closed = Some(cause),
        }
    }
}

fn pump(flow: &mut Flow, total: usize, socket: &mut Socket<'_>) {
    let rest: Vec<u8> = (flow.sent..total).map(byte).collect();
    flow.sent += socket.send(&rest);
    if flow.sent == total {
        socket.close();
    }
}

/// What the network does, in a thousand.
struct Network {
    loss: u64,
    double: u64,
    corrupt: u64,
    delay: u64,
    jitter: u64,
}

struct Packet {
    from: IpAddr,
    to: IpAddr,
    bytes: Vec<u8>,
}

/// All of a run.
struct Sim {
    random: Random,
    network: Network,
    ends: [(Tcp, Streams); 2],
    on_way: BTreeMap<(Nanos, u64), (usize, Packet)>,
    count: u64,
    now: Nanos,
}

fn settings(random: &mut Random) -> TcpSettings {
    TcpSettings {
        mss: random.one_of(&[100, 536, 1460]),
        receive_window: random.one_of(&[1_000, 4_096, 65_535, 300_000]),
        send_queue_max: random.one_of(&[1_000, 20_000, 200_000]),
        half_open_max: random.one_of(&[0, 100]),
        sack: random.below(4) != 0,
        timestamps: random.below(4) != 0,
        nagle: random.below(2) == 0,
        congestion: random.one_of(&[CongestionControl::NewReno, CongestionControl::Cubic]),
        keep_alive: Some(KeepAlive {
            idle: 60_000 * MS,
            interval: 10_000 * MS,
            probes: 9,
        }),
        ..TcpSettings::default()
    }
}

impl Sim {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let network = Network {
            loss: random.one_of(&[0, 10, 50, 200]),
            double: random.one_of(&[0, 20, 100]),
            corrupt: random.one_of(&[0, 0, 30]),
            delay: random.one_of(&[0, 1, 20, 100]),
            jitter: random.one_of(&[0, 5, 50]),
        };
        let aborts = random.below(16) == 0;
        let mut end = |at: u64| {
            let total = random.one_of(&[0, 1, 92, 2_000, 30_000, 100_000]);
            let streams = Streams {
                total,
                aborts: aborts && at == 1,
                flows: HashMap::new(),
            };
            let key = [random.next(), random.next()];
            (Tcp::new(settings(&mut random), key), streams)
        };
        let ends = [end(0), end(1)];
        Self {
            random,
            network,
            ends,
            on_way: BTreeMap::new(),
            count: 0,
            now: Nanos(seed % 7 * 1_000 * MS),
        }
    }

    fn chance(&mut self, of_thousand: u64) -> bool {
        self.random.below(1000) < of_thousand
    }

    fn post(&mut self, to: usize, outgoing: Outgoing, bytes: &[u8]) {
        if self.chance(self.network.loss) {
            return;
        }
        let copies = 1 + u64::from(self.chance(self.network.double));
        for _ in 0..copies {
            let mut bytes = bytes.to_vec();
            if self.chance(self.network.corrupt) {
                let at = self.random.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << self.random.below(8);
            }
            let jitter = self.random.below(self.network.jitter * MS + 1);
            self.count += 1;
            let at = self.now.after(self.network.delay * MS + jitter);
            let packet = Packet {
                from: outgoing.source,
                to: outgoing.destination,
                bytes,
            };
            self.on_way.insert((at, self.count), (to, packet));
        }
    }

    /// Sends all that may leave.
    fn flush(&mut self) {
        let mut out = [0; 2048];
        for at in 0..2 {
            let mut sent = 0;
            while let Some(outgoing) = self.ends[at].0.transmit(self.now, &mut out) {
                self.post(1 - at, outgoing, &out[..outgoing.len]);
                sent += 1;
                assert!(sent < 20_000, "an end never stops sending");
            }
        }
    }

    /// Goes on to what is next; false when nothing is.
    fn step(&mut self) -> bool {
        self.flush();
        let dues = self.ends.iter().filter_map(|(tcp, _)| tcp.due());
        let arrival = self.on_way.keys().next().map(|(at, _)| *at);
        let Some(next) = dues.chain(arrival).min() else {
            return false;
        };
        self.now = self.now.max(next);
        while let Some(entry) = self.on_way.first_entry()
            && entry.key().0 <= self.now
        {
            let (to, packet) = entry.remove();
            let (tcp, streams) = &mut self.ends[to];
            // A corrupt segment is refused.
            let _ = tcp.receive((packet.from, packet.to), &packet.bytes, self.now, streams);
        }
        for (tcp, streams) in &mut self.ends {
            tcp.run(self.now, streams);
            for state in StateCounts::STATES {
                let walked = tcp.connections().filter(|(_, _, own)| *own == state);
                assert_eq!(tcp.states().of(state) as usize, walked.count(), "{state:?}");
            }
        }
        self.now < LONGEST
    }

    /// Runs to the end; whether all arrived.
    fn run(mut self, seed: u64) -> bool {
        let (client, server): (IpAddr, IpAddr) = match seed.is_multiple_of(3) {
            true => ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap()),
            false => ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()),
        };
        self.ends[1].0.listen(80);
        let asked = self.ends[0]
            .0
            .connect(client, SocketAddr::new(server, 80), self.now);
        let asked = asked.expect("there is room");
        while self.step() {}
        assert!(self.now < LONGEST, "the run never ends");
        for (tcp, _) in &self.ends {
            assert!(
                tcp.is_empty(),
                "a connection stays: {:?}",
                tcp.connections().next()
            );
            assert_eq!(
                (tcp.time_waits(), tcp.half_open(), tcp.out_of_order()),
                (0, 0, 0)
            );
        }
        self.check(asked)
    }

    fn check(&self, asked: ConnectionId) -> bool {
        let [(_, client), (_, server)] = &self.ends;
        let mine = &client.flows[&asked];
        assert!(mine.closed.is_some(), "the client never hears the end");
        let finished = |flow: &Flow| flow.closed == Some(Cause::Finished);
        for flow in server.flows.values().filter(|flow| finished(flow)) {
            assert_eq!(
                (flow.received, flow.acknowledged),
                (client.total, server.total)
            );
        }
        if finished(mine) {
            assert_eq!(
                (mine.received, mine.acknowledged),
                (server.total, client.total)
            );
            assert_eq!(server.flows.len(), 1);
        }
        finished(mine) && server.flows.values().all(finished)
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(otherwise, |set| set.parse().expect("a number of seeds"))
}

#[test]
fn every_byte_arrives_once_in_order_or_the_connection_reports_an_error() {
    let first = number("TCP_SIM_FIRST", 1);
    let seeds = number("TCP_SIM_SEEDS", SEEDS);
    let mut finished = 0;
    for seed in first..first + seeds {
        // Shown where the test fails.
        println!("seed {seed}");
        finished += u64::from(Sim::new(seed).run(seed));
    }
    println!("{finished} of {seeds} finished");
    assert!(finished * 10 >= seeds * 8, "{finished} of {seeds} finished");
}
