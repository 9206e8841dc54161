//! Segments of a peer that keeps no rules, for an end of TCP.

use std::net::{IpAddr, Ipv4Addr};

use frame::Nanos;
use stack::tcp::{Application, ConnectionId, Event, Socket, StateCounts, Tcp, TcpSettings};
use wire::view::TcpView;
use wire::{checksum, protocol};

const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PORT: u16 = 80;
const HEADER: usize = 20;
const OPTIONS_MAX: usize = 40;
const ACK: u8 = 16;
const CONNECTIONS_MAX: usize = 8;
const TIME_WAITS_MAX: usize = 4;
const OUT_OF_ORDER_MAX: usize = 20_000;
/// Segments that may leave in one step: what is queued, and answers.
const SENT_MAX: usize = 4096;

/// Options of every kind, right ones and wrong ones.
const OPTIONS: [&[u8]; 16] = [
    &[],
    &[2, 4, 5, 0xB4],
    &[2, 4, 0, 0],
    &[
        2, 4, 5, 0xB4, 4, 2, 3, 3, 7, 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0,
    ],
    &[3, 3, 255],
    &[4, 2],
    &[8, 10, 0, 0, 0, 2, 0, 0, 0, 1],
    &[8, 10, 0x80, 0, 0, 2, 0, 0, 0, 0],
    &[8, 9, 0, 0, 0, 2, 0, 0, 0],
    &[5, 10, 0, 0, 0, 0, 255, 255, 255, 255],
    &[5, 2],
    &[5, 9, 0, 0, 0, 0, 0, 0, 0],
    &[1, 1, 1, 0, 8, 10],
    &[30, 4, 1, 2],
    &[0xFF, 0],
    &[0xFF, 41],
];

/// What a connection's user does, and has to hear in order.
#[derive(Default)]
struct User {
    open: Vec<ConnectionId>,
    echoes: bool,
}

impl Application for User {
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        let id = socket.id();
        let is_known = self.open.contains(&id);
        match event {
            Event::Connected => {
                assert!(!is_known, "connected twice");
                self.open.push(id);
            }
            Event::Closed(_) => self.open.retain(|own| *own != id),
            Event::Data(bytes) => {
                assert!(is_known && !bytes.is_empty(), "data before its connection");
                if self.echoes {
                    socket.send(bytes);
                }
            }
            Event::Ended => socket.close(),
            Event::Acknowledged(_) | Event::Writable => {}
        }
    }
}

struct Bench {
    tcp: Tcp,
    user: User,
    now: Nanos,
    /// What the end sent last, by which a segment can be one that it wants.
    next: u32,
    wanted: u32,
    /// The port that it was from.
    from: u16,
}

/// Steps of bytes: raw segments, made ones, time, and what the user does.
pub fn tcp(bytes: &[u8]) {
    let settings = TcpSettings {
        connections_max: CONNECTIONS_MAX,
        half_open_max: 2,
        time_wait_max: TIME_WAITS_MAX,
        out_of_order_max: OUT_OF_ORDER_MAX,
        send_queue_max: 4096,
        ..TcpSettings::default()
    };
    let mut bench = Bench {
        tcp: Tcp::new(settings, [3, 5]),
        user: User::default(),
        now: Nanos(1_000_000_000),
        next: 0,
        wanted: 0,
        from: PORT,
    };
    bench.tcp.listen(PORT);
    let mut rest = bytes;
    while let Some(left) = bench.step(rest) {
        rest = left;
        bench.drain();
        bench.check();
    }
}

impl Bench {
    /// One step; what is left behind it.
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (&kind, rest) = bytes.split_first()?;
        match kind & 7 {
            0 => self.raw(rest),
            1 => {
                let (&time, rest) = rest.split_first()?;
                self.now = self.now.after(1 << (time & 0x3F).min(40));
                self.tcp.run(self.now, &mut self.user);
                Some(rest)
            }
            2 => {
                let (&how, rest) = rest.split_first()?;
                self.act(how);
                Some(rest)
            }
            _ => self.made(rest),
        }
    }

    /// Bytes as they are, behind their length.
    fn raw<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (&len, rest) = bytes.split_first()?;
        let (segment, rest) = rest.split_at(rest.len().min(len.into()));
        self.receive(segment);
        Some(rest)
    }

    /// A segment by nine bytes: flags, ports, distances from what is wanted, window, options, data.
    fn made<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (&[flags, port, s0, s1, a0, a1, window, options, len], rest) =
            bytes.split_first_chunk::<9>()?;
        let signed = |high, low| i32::from(i16::from_be_bytes([high, low])) as u32;
        let seq = self.wanted.wrapping_add(signed(s0, s1));
        let ack = self.next.wrapping_add(signed(a0, a1));
        let mut padded = [0; OPTIONS_MAX];
        let chosen = OPTIONS[usize::from(options) % OPTIONS.len()];
        padded[..chosen.len()].copy_from_slice(chosen);
        let options_len = chosen.len().next_multiple_of(4);
        let header_len = HEADER + options_len;
        let mut segment = vec![0x55; header_len + 6 * usize::from(len)];
        segment[..2].copy_from_slice(&(4000 + u16::from(port & 15)).to_be_bytes());
        let to = if port & 16 == 0 { PORT } else { self.from };
        segment[2..4].copy_from_slice(&to.to_be_bytes());
        segment[4..8].copy_from_slice(&seq.to_be_bytes());
        segment[8..12].copy_from_slice(&ack.to_be_bytes());
        segment[12] = (header_len as u8 / 4) << 4;
        segment[13] = flags;
        segment[14..16].copy_from_slice(&[window, window]);
        segment[16..20].fill(0);
        segment[HEADER..header_len].copy_from_slice(&padded[..options_len]);
        let sum = checksum::transport(pseudo(THERE, HERE, segment.len()), &segment);
        segment[16..18].copy_from_slice(&sum.to_be_bytes());
        self.receive(&segment);
        Some(rest)
    }

    fn receive(&mut self, segment: &[u8]) {
        let ends = (IpAddr::V4(THERE), IpAddr::V4(HERE));
        let _ = self.tcp.receive(ends, segment, self.now, &mut self.user);
    }

    /// The user sends, closes or gives up one connection, or asks for another.
    fn act(&mut self, how: u8) {
        self.user.echoes = how & 0x80 != 0;
        if how & 7 == 7 {
            let remote = (IpAddr::V4(THERE), 4000 + u16::from(how >> 3 & 15)).into();
            let _ = self.tcp.connect(HERE.into(), remote, self.now);
            return;
        }
        let Some(&id) = self.user.open.get(usize::from(how >> 3 & 7)) else {
            return;
        };
        let act = |socket: &mut Socket<'_>| match how & 7 {
            0 => socket.close(),
            1 => socket.abort(),
            _ => drop(socket.send(&[7; 3000])),
        };
        self.tcp.act(id, self.now, &mut self.user, act);
    }

    /// Takes out what leaves: each is a segment that anybody can read.
    fn drain(&mut self) {
        let mut out = [0; 1600];
        for _ in 0..SENT_MAX {
            let Some(sent) = self.tcp.transmit(self.now, &mut out) else {
                return;
            };
            let segment = &out[..sent.len];
            assert_eq!(
                checksum::transport(pseudo(HERE, THERE, sent.len), segment),
                0
            );
            let view = TcpView::new_checked(segment).expect("a segment");
            let data = segment.len() - view.header_len();
            let takes = data as u32 + u32::from(view.flags() & 3 != 0);
            self.from = view.src_port();
            self.next = view.sequence().wrapping_add(takes);
            if view.flags() & ACK != 0 {
                self.wanted = view.acknowledgment();
            }
        }
        panic!("segments leave without end");
    }

    /// Limits hold, and what is counted is what there is.
    fn check(&self) {
        let tcp = &self.tcp;
        assert!(tcp.len() <= CONNECTIONS_MAX);
        assert!(tcp.time_waits() <= TIME_WAITS_MAX);
        assert!(tcp.out_of_order() <= OUT_OF_ORDER_MAX);
        assert!(self.user.open.len() <= tcp.len());
        for state in StateCounts::STATES {
            let walked = tcp.connections().filter(|(_, _, own)| *own == state);
            assert_eq!(tcp.states().of(state) as usize, walked.count(), "{state:?}");
        }
    }
}

fn pseudo(source: Ipv4Addr, destination: Ipv4Addr, len: usize) -> u16 {
    let (source, destination) = (source.to_bits(), destination.to_bits());
    checksum::pseudo_v4(source, destination, protocol::TCP, len as u16)
}
