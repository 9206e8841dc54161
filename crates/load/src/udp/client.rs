//! A client: connected sockets of many addresses, which send in turn.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use frame::Nanos;
use traffic::{EchoCounts, Echoes, Histogram, Pacer, Rate};

use super::Threads;
use super::socket::open;
use crate::LoadError;
use crate::poller::{Poller, Token};

/// Datagrams that are sent before what came back is read.
const AT_ONCE: usize = 64;
/// Datagrams that are read of one socket in one turn.
const READ_AT_ONCE: usize = 256;
/// How long a thread rests at most before it looks whether it should end, ns.
const REST: u64 = 20_000_000;
/// How long what is still on its way is awaited at the end, ns.
const LINGER: u64 = 100_000_000;

/// What to send.
#[derive(Clone, Debug)]
pub struct UdpClientOptions {
    /// Where to.
    pub server: SocketAddr,
    /// Own addresses, one socket each.
    pub sources: Vec<IpAddr>,
    /// Threads, which share the sockets and the rate among them.
    pub threads: usize,
    /// Bytes of a payload.
    pub size: usize,
    /// Datagrams a second, of all threads.
    pub rate: Rate,
    /// Keys of labels, drawn at random: one a thread is made of it.
    pub key: [u64; 2],
}

/// What a thread sent, and what became of it.
#[derive(Clone)]
pub struct UdpSent {
    /// Datagrams that were made, and what came back.
    pub echoes: EchoCounts,
    /// From sending to coming back.
    pub times: Histogram,
    /// Those that the kernel did not take.
    pub not_taken: u64,
    /// How often an ICMP error said that nobody has the port.
    pub refused: u64,
}

/// Opens the sockets, and sends from threads of its own.
///
/// # Errors
/// A socket cannot be had, or there is no thread.
pub fn start_client(options: &UdpClientOptions) -> Result<Threads<UdpSent>, LoadError> {
    let count = options.threads.clamp(1, options.sources.len().max(1));
    let mut shares: Vec<Vec<UdpSocket>> = (0..count).map(|_| Vec::new()).collect();
    for (at, source) in options.sources.iter().enumerate() {
        shares[at % count].push(connected(*source, options.server)?);
    }
    let mut threads = Threads::new();
    let start = Instant::now();
    for (at, sockets) in shares.into_iter().enumerate() {
        let [first, second] = options.key;
        let key = [first.wrapping_add(at as u64), second];
        let sender = Sender {
            sockets,
            next: 0,
            payload: (0..options.size).map(|at| at as u8).collect(),
            echoes: Echoes::new(key),
            not_taken: 0,
            refused: 0,
        };
        let rate = part(options.rate, count, at);
        threads.start(move |stop| sender.run(rate, start, stop))?;
    }
    Ok(threads)
}

/// The rate of one of so many threads; all together have the whole.
fn part(rate: Rate, count: usize, at: usize) -> Rate {
    match rate.units() {
        None => rate,
        Some(units) => {
            let (count, at) = (count as u64, at as u64);
            let more = u64::from(at < units % count);
            rate.with_units((units / count + more).max(1))
        }
    }
}

fn connected(source: IpAddr, server: SocketAddr) -> Result<UdpSocket, LoadError> {
    let socket = open(SocketAddr::new(source, 0), false)?;
    let ready = socket
        .connect(server)
        .and_then(|()| socket.set_nonblocking(true));
    ready.map_err(|error| {
        LoadError::new(format!(
            "{server} cannot be reached from {source}: {error}: 'ip route get' shows the way"
        ))
    })?;
    Ok(socket)
}

/// A thread's part.
struct Sender {
    sockets: Vec<UdpSocket>,
    next: usize,
    payload: Vec<u8>,
    echoes: Echoes,
    not_taken: u64,
    refused: u64,
}

impl Sender {
    fn run(mut self, rate: Rate, start: Instant, stop: &AtomicBool) -> io::Result<UdpSent> {
        let mut poller = Poller::new(start)?;
        for (at, socket) in self.sockets.iter().enumerate() {
            poller.watch_listener(socket, Token::new(at, 0))?;
        }
        let mut pacer = Pacer::new(rate, AT_ONCE, poller.now());
        while !stop.load(Ordering::Relaxed) {
            let due = pacer.due(poller.now());
            for _ in 0..due {
                self.send(poller.now());
            }
            pacer.sent(due, (due * self.payload.len()) as u64);
            let until = match rate {
                Rate::Unlimited => Nanos::ZERO,
                _ => pacer.next_due().min(poller.now().after(REST)),
            };
            self.read(&mut poller, until)?;
        }
        let until = poller.now().after(LINGER);
        while poller.now() < until {
            self.read(&mut poller, until)?;
        }
        Ok(UdpSent {
            echoes: self.echoes.counts(),
            times: self.echoes.times().clone(),
            not_taken: self.not_taken,
            refused: self.refused,
        })
    }

    /// Sends the next datagram from the next socket. An error about one before is reported once,
    /// and says nothing of this one.
    fn send(&mut self, now: Nanos) {
        self.echoes.write(now, &mut self.payload);
        let at = self.next;
        self.next = (at + 1) % self.sockets.len();
        let mut sent = self.sockets[at].send(&self.payload);
        if sent.as_ref().is_err_and(is_refusal) {
            self.refused += 1;
            sent = self.sockets[at].send(&self.payload);
        }
        self.not_taken += u64::from(sent.is_err());
    }

    /// Reads what came back, and rests until then where nothing did.
    fn read(&mut self, poller: &mut Poller, until: Nanos) -> io::Result<()> {
        poller.wait(until)?;
        // One byte more than a datagram of ours shows those that are longer.
        let mut bytes = vec![0; self.payload.len() + 1];
        let now = poller.now();
        for at in 0..poller.count() {
            let token = poller.event(at).token;
            let Some(socket) = self.sockets.get(token.index()) else {
                continue;
            };
            for _ in 0..READ_AT_ONCE {
                match socket.recv(&mut bytes) {
                    Ok(len) if len == self.payload.len() => self.echoes.take(now, &bytes[..len]),
                    Ok(_) => self.echoes.reject(),
                    Err(error) if is_refusal(&error) => self.refused += 1,
                    Err(_) => break,
                }
            }
        }
        Ok(())
    }
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}
