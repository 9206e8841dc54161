//! Single segments at one end, by the rules of RFC 9293 and RFC 5961.

use std::net::SocketAddr;

use frame::Nanos;

use crate::tcp::options::{Options, Timestamps};
use crate::tcp::segment::flag::{ACK, FIN, RST, SYN};
use crate::tcp::segment::{Header, Segment};
use crate::tcp::{
    Application, Cause, ConnectionId, Event, Pair, Seq, Socket, State, Tcp, TcpSettings,
};

const SECOND: u64 = 1_000_000_000;
const PORT: u16 = 80;
/// The sequence number of the peer's SYN.
const FIRST: Seq = Seq(u32::MAX - 2);

/// What an application heard.
#[derive(Default)]
struct Heard {
    id: Option<ConnectionId>,
    data: Vec<u8>,
    closed: Option<Cause>,
    is_connected: bool,
}

impl Application for Heard {
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        self.id = Some(socket.id());
        match event {
            Event::Connected => self.is_connected = true,
            Event::Data(bytes) => self.data.extend_from_slice(bytes),
            Event::Closed(cause) => self.closed = Some(cause),
            _ => {}
        }
    }
}

/// One end, and a peer that sends what the test wants.
struct Bench {
    tcp: Tcp,
    heard: Heard,
    now: Nanos,
    /// The end's ends.
    pair: Pair,
    /// The number that the end sends next.
    theirs: Seq,
}

impl Bench {
    fn new(settings: TcpSettings) -> Self {
        let mut tcp = Tcp::new(settings, [1, 2]);
        tcp.listen(PORT);
        let end = |address: &str| address.parse::<SocketAddr>().unwrap();
        Self {
            tcp,
            heard: Heard::default(),
            now: Nanos(SECOND),
            pair: Pair {
                local: end("10.0.0.2:80"),
                remote: end("10.0.0.1:4000"),
            },
            theirs: Seq(0),
        }
    }

    /// With a connection that is complete; the peer has the options.
    fn established(options: Options) -> Self {
        let mut bench = Self::new(TcpSettings::default());
        let syn = Header {
            seq: FIRST,
            options,
            ..header(SYN, 0)
        };
        let answers = bench.send(&syn, b"");
        assert_eq!(answers[0].flags, SYN | ACK);
        bench.theirs = answers[0].seq.after(1);
        assert!(!bench.heard.is_connected, "one SYN is not enough");
        let ack = Header {
            ack: bench.theirs,
            options: Options {
                timestamps: options.timestamps,
                ..Options::default()
            },
            ..header(ACK, 0)
        };
        assert!(bench.send(&ack, b"").is_empty());
        assert!(bench.heard.is_connected);
        bench
    }

    /// Sends a segment to the end; returns what it answers.
    fn send(&mut self, header: &Header, data: &[u8]) -> Vec<Header> {
        let peer = Pair {
            local: self.pair.remote,
            remote: self.pair.local,
        };
        let mut bytes = [0; 2000];
        let len = header.write(&peer, (data, b""), &mut bytes).unwrap();
        let addresses = (peer.local.ip(), peer.remote.ip());
        let taken = self
            .tcp
            .receive(addresses, &bytes[..len], self.now, &mut self.heard);
        assert_eq!(taken, Ok(()));
        self.sent()
    }

    /// What the end sends now.
    fn sent(&mut self) -> Vec<Header> {
        let mut out = [0; 2000];
        let mut sent = Vec::new();
        while let Some(outgoing) = self.tcp.transmit(self.now, &mut out) {
            let bytes = &out[..outgoing.len];
            let read = Segment::read(outgoing.source, outgoing.destination, bytes);
            let (_, segment) = read.expect("what is sent is sound");
            sent.push(segment.header);
        }
        sent
    }

    /// Lets time pass; returns what the end sends meanwhile.
    fn wait(&mut self, nanos: u64) -> Vec<Header> {
        let end = self.now.after(nanos);
        let mut sent = self.sent();
        while let Some(due) = self.tcp.due().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.tcp.run(self.now, &mut self.heard);
            sent.extend(self.sent());
        }
        self.now = end;
        sent
    }

    fn state(&self) -> Option<State> {
        self.tcp.connections().next().map(|(_, _, state)| state)
    }
}

/// A segment of the peer, `at` bytes behind its SYN.
fn header(flags: u8, at: i32) -> Header {
    Header {
        seq: FIRST.after(1).after(at as u32),
        flags,
        window: 5000,
        ..Header::default()
    }
}

/// Flags, place, data, acknowledged beyond what was sent; flags of the answer, state, data heard.
type Case = (
    u8,
    i32,
    &'static [u8],
    u32,
    Option<u8>,
    Option<State>,
    &'static [u8],
);

#[test]
fn segments_to_an_open_connection_are_judged_by_the_rfc() {
    const OPEN: Option<State> = Some(State::Established);
    let cases: [Case; 15] = [
        (RST, 0, b"", 0, None, None, b""),
        (RST, 1, b"", 0, Some(ACK), OPEN, b""),
        (RST, -1, b"", 0, None, OPEN, b""),
        (RST, 1 << 30, b"", 0, None, OPEN, b""),
        (SYN, 0, b"", 0, Some(ACK), OPEN, b""),
        (SYN | ACK, -1, b"", 0, Some(ACK), OPEN, b""),
        (ACK, 0, b"x", 1, Some(ACK), OPEN, b""),
        (0, 0, b"x", 0, None, OPEN, b""),
        (ACK, 0, b"x", 0, None, OPEN, b"x"),
        (ACK | 32, 0, b"urgent", 0, None, OPEN, b"urgent"),
        (ACK, 5, b"x", 0, Some(ACK), OPEN, b""),
        (ACK, -1, b"x", 0, Some(ACK), OPEN, b""),
        (ACK, -1, b"xy", 0, None, OPEN, b"y"),
        (
            ACK | FIN,
            0,
            b"end",
            0,
            Some(ACK),
            Some(State::CloseWait),
            b"end",
        ),
        (ACK | FIN, 3, b"", 0, Some(ACK), OPEN, b""),
    ];
    for (flags, at, data, beyond, answer, state, heard) in cases {
        let mut bench = Bench::established(Options::default());
        let segment = Header {
            ack: bench.theirs.after(beyond),
            ..header(flags, at)
        };
        let answers = bench.send(&segment, data);
        let found: Option<u8> = answers.first().map(|answer| answer.flags);
        let what = format!("flags {flags}, at {at}, {data:?}");
        assert_eq!((found, bench.state()), (answer, state), "{what}");
        assert_eq!(bench.heard.data, heard, "{what}");
        let is_reset = bench.heard.closed == Some(Cause::Reset);
        assert_eq!(is_reset, state.is_none(), "{what}");
    }
}

#[test]
fn segments_to_nobody_are_reset_and_resets_never_answered() {
    for (port, flags, answer) in [
        (81, SYN, Some(RST | ACK)),
        (81, ACK, Some(RST)),
        (81, RST, None),
        (81, RST | ACK, None),
        (81, FIN, Some(RST | ACK)),
        (PORT, SYN, Some(SYN | ACK)),
        (PORT, SYN | ACK, Some(RST)),
        (PORT, ACK, Some(RST)),
        (PORT, RST | SYN, None),
    ] {
        let mut bench = Bench::new(TcpSettings::default());
        bench.pair.local.set_port(port);
        let answers = bench.send(&header(flags, 0), b"");
        let found: Option<u8> = answers.first().map(|answer| answer.flags);
        assert_eq!(found, answer, "port {port}, flags {flags}");
    }
}

#[test]
fn challenges_are_limited_for_each_connection() {
    let mut bench = Bench::established(Options::default());
    let answers: usize = (0..100)
        .map(|_| bench.send(&header(SYN, 0), b"").len())
        .sum();
    assert_eq!(answers, 10);
}

#[test]
fn an_old_clock_is_refused() {
    let clocks = |value| Options {
        timestamps: Some(Timestamps { value, echo: 0 }),
        ..Options::default()
    };
    for (value, heard) in [(1000, &b"x"[..]), (1001, b"x"), (999, b"")] {
        let mut bench = Bench::established(clocks(1000));
        let segment = Header {
            ack: bench.theirs,
            options: clocks(value),
            ..header(ACK, 0)
        };
        bench.send(&segment, b"x");
        assert_eq!(bench.heard.data, heard, "clock {value}");
    }
}

/// Fills the room for half-open connections.
fn flooded(connections_max: usize) -> Bench {
    let mut bench = Bench::new(TcpSettings {
        half_open_max: 4,
        connections_max,
        ..TcpSettings::default()
    });
    for port in 1000..1010 {
        bench.pair.remote.set_port(port);
        bench.send(&header(SYN, 0), b"");
    }
    bench
}

#[test]
fn a_flood_of_requests_takes_no_more_than_its_limit_and_passes() {
    for (connections_max, cookies, no_room) in [(100, 6, 0), (4, 0, 6)] {
        let mut bench = flooded(connections_max);
        assert_eq!((bench.tcp.half_open(), bench.tcp.len()), (4, 4));
        let counts = bench.tcp.counts();
        assert_eq!((counts.cookies, counts.no_room), (cookies, no_room));
        bench.wait(120 * SECOND);
        assert_eq!((bench.tcp.half_open(), bench.tcp.len()), (0, 0));
        assert_eq!(bench.heard.closed, None, "nobody heard of them");
    }
}

#[test]
fn who_sends_a_cookie_back_gets_in_with_what_was_agreed() {
    let clocks = |echo| Some(Timestamps { value: 9, echo });
    let with_clocks = Options {
        mss: Some(1400),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: clocks(0),
        ..Options::default()
    };
    let without = Options {
        timestamps: None,
        ..with_clocks
    };
    // What the SYN has, how wrong the acknowledgment is, when it comes; whether it gets in.
    for (options, wrong, seconds, gets_in) in [
        (with_clocks, 0, 0, true),
        (without, 0, 0, true),
        (with_clocks, 0, 60, true),
        (with_clocks, 1, 0, false),
        (with_clocks, 256, 0, false),
        (with_clocks, 0, 1000, false),
    ] {
        let mut bench = flooded(100);
        bench.pair.remote.set_port(5000);
        let syn = Header {
            seq: FIRST,
            options,
            ..header(SYN, 0)
        };
        let answer = bench.send(&syn, b"")[0];
        let has_clocks = options.timestamps.is_some();
        assert_eq!(answer.options.sack_permitted, has_clocks);
        assert_eq!(answer.options.window_scale.is_some(), has_clocks);
        assert_eq!(bench.tcp.half_open(), 4, "nothing is kept");
        bench.now = bench.now.after(seconds * SECOND);
        let echo = answer.options.timestamps.map(|clocks| clocks.value);
        let data = Header {
            ack: answer.seq.after(1 + wrong),
            options: Options {
                timestamps: echo.and_then(clocks),
                ..Options::default()
            },
            ..header(ACK, 0)
        };
        let answers = bench.send(&data, b"hello");
        // Data may come before its cookie, as long as there may be one.
        let is_reset = answers.iter().any(|answer| answer.flags == RST);
        assert_eq!(is_reset, seconds == 1000);
        let what = format!("{options:?}, {wrong} off, after {seconds} s");
        assert_eq!(bench.heard.is_connected, gets_in, "{what}");
        assert_eq!(bench.heard.data == b"hello", gets_in, "{what}");
    }
}

#[test]
fn a_closed_window_is_probed_and_its_opening_used() {
    let mut bench = Bench::established(Options::default());
    let closed = Header {
        ack: bench.theirs,
        window: 0,
        ..header(ACK, 0)
    };
    bench.send(&closed, b"");
    let id = bench.heard.id.unwrap();
    let send = |socket: &mut Socket<'_>| assert_eq!(socket.send(&[7; 100]), 100);
    assert!(bench.tcp.act(id, bench.now, &mut bench.heard, send));
    assert!(bench.sent().is_empty(), "nothing against a closed window");
    // A window that stays closed for longer than the user timeout closes nothing.
    for _ in 0..10 {
        let probes = bench.wait(60 * SECOND);
        assert!(!probes.is_empty() && probes.iter().all(|probe| probe.seq == bench.theirs));
        bench.send(&closed, b"");
    }
    let open = Header {
        window: 1000,
        ..closed
    };
    let sent = bench.send(&open, b"");
    assert_eq!(sent[0].seq, bench.theirs, "the probe's byte at once");
    assert_eq!(bench.state(), Some(State::Established));
}

#[test]
fn both_ends_may_ask_at_the_same_time() {
    let mut bench = Bench::new(TcpSettings::default());
    let (own, remote) = (bench.pair.local.ip(), bench.pair.remote);
    bench.tcp.connect(own, remote, bench.now).unwrap();
    let syn = bench.sent()[0];
    assert_eq!(syn.flags, SYN);
    bench.pair = *bench.tcp.connections().next().unwrap().1;
    let request = Header {
        seq: FIRST,
        ..header(SYN, 0)
    };
    let answers = bench.send(&request, b"");
    assert_eq!((answers[0].flags, answers[0].seq), (SYN | ACK, syn.seq));
    let both = Header {
        seq: FIRST,
        ack: syn.seq.after(1),
        ..header(SYN | ACK, 0)
    };
    bench.send(&both, b"");
    assert!(bench.heard.is_connected);
    assert_eq!(bench.state(), Some(State::Established));
}

/// Has the end send `len` bytes.
fn make_send(bench: &mut Bench, len: usize) -> Vec<Header> {
    let id = bench.heard.id.unwrap();
    let data = vec![7; len];
    let send = |socket: &mut Socket<'_>| assert_eq!(socket.send(&data), len);
    assert!(bench.tcp.act(id, bench.now, &mut bench.heard, send));
    bench.sent()
}

#[test]
fn what_is_left_in_flight_is_sent_again_after_a_part_is_acknowledged() {
    let mut bench = Bench::established(Options::default());
    let sent = make_send(&mut bench, 2 * 536);
    assert_eq!(sent.len(), 2);
    let ack = Header {
        ack: bench.theirs.after(536),
        ..header(ACK, 0)
    };
    assert!(bench.send(&ack, b"").is_empty());
    let again = bench.wait(2 * SECOND);
    let last = bench.theirs.after(536);
    assert!(again.iter().any(|segment| segment.seq == last), "{again:?}");
}

#[test]
fn after_a_timeout_the_window_grows_while_the_rest_is_sent_again() {
    let mut bench = Bench::established(Options::default());
    let sent = make_send(&mut bench, 8 * 536);
    assert_eq!(sent.len(), 8, "the peer's window has room for them");
    let again = bench.wait(SECOND / 4);
    assert_eq!(again.len(), 1, "one after the timeout: {again:?}");
    let mut sizes = Vec::new();
    for arrived in [1, 3] {
        let ack = Header {
            ack: bench.theirs.after(arrived * 536),
            ..header(ACK, 0)
        };
        sizes.push(bench.send(&ack, b"").len());
    }
    assert_eq!(sizes, [2, 4]);
}

#[test]
fn a_closed_connection_is_remembered_and_its_ends_are_used_again_by_what_is_later() {
    // Behind the last number of the old connection; the answer's flags.
    for (flags, behind, answer) in [
        (SYN, 1, Some(SYN | ACK)),
        (SYN, 1 << 20, Some(SYN | ACK)),
        (SYN, -1, Some(ACK)),
        (RST, 0, None),
        (FIN | ACK, -1, Some(ACK)),
    ] {
        let mut bench = Bench::established(Options::default());
        let id = bench.heard.id.unwrap();
        let close = |socket: &mut Socket<'_>| socket.close();
        assert!(bench.tcp.act(id, bench.now, &mut bench.heard, close));
        assert_eq!(bench.sent()[0].flags, FIN | ACK);
        let end = Header {
            ack: bench.theirs.after(1),
            ..header(FIN | ACK, 0)
        };
        assert_eq!(bench.send(&end, b"")[0].flags, ACK);
        assert_eq!(bench.heard.closed, Some(Cause::Finished));
        assert_eq!((bench.tcp.len(), bench.tcp.time_waits()), (0, 1));
        let later = Header {
            ack: bench.theirs.after(1),
            ..header(flags, 1 + behind)
        };
        let answers = bench.send(&later, b"");
        let found: Option<u8> = answers.first().map(|answer| answer.flags);
        assert_eq!(found, answer, "flags {flags}, {behind} behind");
        bench.wait(130 * SECOND);
        assert_eq!((bench.tcp.len(), bench.tcp.time_waits()), (0, 0));
        assert!(bench.tcp.due().is_none(), "no timer is left");
    }
}
