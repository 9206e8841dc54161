//! An end of TCP connections for tests: IPv4 packets come by the standard input and leave by the
//! standard output, each behind its length in two bytes.
//!
//! `tcp_end serve ADDRESS PORT [HALF_OPEN]` sends back what it gets; with HALF_OPEN 0 every
//! connection begins by a SYN cookie. `tcp_end connect ADDRESS REMOTE:PORT BYTES
//! CONNECTIONS` sends bytes to such a server, one connection after another, and checks what comes
//! back; it says `ok` or what went wrong on the standard error.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use frame::Nanos;
use stack::tcp::{Application, Cause, ConnectionId, Event, Outgoing, Socket, Tcp, TcpSettings};
use wire::checksum;
use wire::view::Ipv4View;

const HEADER: usize = 20;

/// What one connection still has to do.
#[derive(Default)]
struct Flow {
    waiting: Vec<u8>,
    received: usize,
    has_ended: bool,
}

/// Sends back what it gets, or sends `total` bytes and checks what comes back.
struct Echo {
    total: Option<usize>,
    flows: HashMap<ConnectionId, Flow>,
    closed: Vec<(Cause, usize)>,
}

fn byte(at: usize) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 8)) as u8
}

impl Application for Echo {
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        let flow = self.flows.entry(socket.id()).or_default();
        match (event, self.total) {
            (Event::Connected, Some(total)) => flow.waiting = (0..total).map(byte).collect(),
            (Event::Data(bytes), None) => flow.waiting.extend_from_slice(bytes),
            (Event::Data(bytes), Some(_)) => {
                for found in bytes {
                    if *found != byte(flow.received) {
                        return socket.abort();
                    }
                    flow.received += 1;
                }
            }
            (Event::Ended, _) => flow.has_ended = true,
            (Event::Closed(cause), _) => {
                self.closed.push((cause, flow.received));
                self.flows.remove(&socket.id());
                return;
            }
            _ => {}
        }
        let sent = socket.send(&flow.waiting);
        flow.waiting.drain(..sent);
        let is_asker = self.total.is_some();
        if flow.waiting.is_empty() && (flow.has_ended || is_asker) {
            socket.close();
        }
    }
}

/// Packets of the standard input, read by a thread of its own.
fn packets() -> Receiver<Vec<u8>> {
    let (to, from) = mpsc::channel();
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut len = [0; 2];
        while input.read_exact(&mut len).is_ok() {
            let mut packet = vec![0; u16::from_be_bytes(len).into()];
            if input.read_exact(&mut packet).is_err() || to.send(packet).is_err() {
                return;
            }
        }
    });
    from
}

/// Puts an IPv4 header in front of a segment and writes the packet.
fn write(outgoing: &Outgoing, packet: &mut [u8]) -> io::Result<()> {
    let (IpAddr::V4(source), IpAddr::V4(destination)) = (outgoing.source, outgoing.destination)
    else {
        return Ok(());
    };
    let len = (HEADER + outgoing.len) as u16;
    let [high, low] = len.to_be_bytes();
    packet[..12].copy_from_slice(&[0x45, 0, high, low, 0, 0, 0x40, 0, 64, 6, 0, 0]);
    packet[12..16].copy_from_slice(&source.octets());
    packet[16..HEADER].copy_from_slice(&destination.octets());
    let sum = checksum::checksum(&packet[..HEADER]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut output = io::stdout().lock();
    output.write_all(&len.to_be_bytes())?;
    output.write_all(&packet[..len.into()])?;
    output.flush()
}

/// A host of one address.
struct Host {
    own: Ipv4Addr,
    tcp: Tcp,
    echo: Echo,
    began: Instant,
}

impl Host {
    fn now(&self) -> Nanos {
        Nanos(self.began.elapsed().as_nanos() as u64)
    }

    /// Takes one packet or waits until something is due; false when no packet will ever come.
    fn step(&mut self, packets: &Receiver<Vec<u8>>) -> io::Result<bool> {
        let mut packet = [0; 2048];
        while let Some(outgoing) = self.tcp.transmit(self.now(), &mut packet[HEADER..]) {
            write(&outgoing, &mut packet)?;
        }
        let due = self.tcp.due().map_or(u64::MAX, |due| due.since(self.now()));
        let received = packets.recv_timeout(Duration::from_nanos(due.min(1_000_000_000)));
        let now = self.now();
        match received {
            Ok(packet) => self.take(&packet, now),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        }
        self.tcp.run(now, &mut self.echo);
        Ok(true)
    }

    fn take(&mut self, packet: &[u8], now: Nanos) {
        let Ok(view) = Ipv4View::new_checked(packet) else {
            return;
        };
        let (source, destination) = (Ipv4Addr::from(view.src()), Ipv4Addr::from(view.dst()));
        let segment = packet.get(view.header_len()..view.total_len().into());
        if view.protocol() != wire::protocol::TCP || destination != self.own {
            return;
        }
        let addresses = (source.into(), destination.into());
        let segment = segment.unwrap_or_default();
        if let Err(bad) = self.tcp.receive(addresses, segment, now, &mut self.echo) {
            eprintln!("refused: {bad:?}");
        }
    }

    fn connect(&mut self, remote: SocketAddr, count: usize) -> Result<(), String> {
        let packets = packets();
        let total = self.echo.total.unwrap_or(0);
        for at in 0..count {
            let asked = self.tcp.connect(self.own.into(), remote, self.now());
            asked.map_err(|error| format!("{error:?}"))?;
            while self.echo.closed.len() == at {
                let goes_on = self.step(&packets).map_err(|error| error.to_string())?;
                if !goes_on {
                    return Err("the input ended".to_owned());
                }
            }
        }
        match self
            .echo
            .closed
            .iter()
            .find(|one| **one != (Cause::Finished, total))
        {
            None => Ok(()),
            Some((cause, received)) => Err(format!("{cause:?} after {received} of {total} bytes")),
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let wrong = || {
        "usage: tcp_end serve ADDRESS PORT [HALF_OPEN] | connect ADDRESS REMOTE BYTES N".to_owned()
    };
    let own = words
        .get(1)
        .and_then(|word| word.parse().ok())
        .ok_or_else(wrong)?;
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok());
    let is_server = words.first().is_some_and(|word| word == "serve");
    let mut settings = TcpSettings::default();
    if is_server {
        settings.half_open_max = number(3).unwrap_or(settings.half_open_max);
    }
    let mut host = Host {
        own,
        tcp: Tcp::new(settings, [std::process::id().into(), 7]),
        echo: Echo {
            total: number(3).filter(|_| !is_server),
            flows: HashMap::new(),
            closed: Vec::new(),
        },
        began: Instant::now(),
    };
    match words.first().map(String::as_str) {
        Some("serve") => {
            host.tcp.listen(number(2).ok_or_else(wrong)? as u16);
            let packets = packets();
            while host.step(&packets).map_err(|error| error.to_string())? {}
            Ok(())
        }
        Some("connect") => {
            let remote = words.get(2).and_then(|word| word.parse().ok());
            host.connect(remote.ok_or_else(wrong)?, number(4).ok_or_else(wrong)?)
        }
        _ => Err(wrong()),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => {
            eprintln!("ok");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
