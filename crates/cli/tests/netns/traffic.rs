//! Traffic of the kernel's own stack between two hosts.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::{Bench, PATIENCE, RIGHT_ADDRESS, Side};

const PORT: u16 = 5201;

/// One host asks another one at an address.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub(crate) from: Side,
    pub(crate) to: Side,
    pub(crate) address: &'a str,
}

impl Ends<'_> {
    /// From the left host to the right one.
    pub(crate) fn across(address: &str) -> Ends<'_> {
        Ends {
            from: Side::Left,
            to: Side::Right,
            address,
        }
    }

    fn socket_address(self) -> SocketAddr {
        let address: IpAddr = self.address.parse().expect("an address");
        SocketAddr::new(address, PORT)
    }

    fn any(self) -> SocketAddr {
        let any = if self.socket_address().is_ipv6() {
            "[::]:0"
        } else {
            "0.0.0.0:0"
        };
        any.parse().expect("an address")
    }
}

/// Bytes that are different at every place of any frame, and nothing like another seed's.
pub(crate) fn pattern(seed: u32, length: usize) -> Vec<u8> {
    let byte = |place: usize| {
        let mixed = (place as u32 ^ seed.rotate_left(16)).wrapping_mul(2_654_435_761);
        (mixed ^ (mixed >> 15)).to_be_bytes()[1]
    };
    (0..length).map(byte).collect()
}

/// Sends a stream to the right host and back; both must be whole.
pub(crate) fn tcp_echo(bench: &Bench, length: usize) {
    tcp_both_ways(bench, Ends::across(RIGHT_ADDRESS), length);
}

/// Two streams of one connection at the same time, one each way; each end holds what came against
/// what the other end had to send.
pub(crate) fn tcp_both_ways(bench: &Bench, ends: Ends<'_>, length: usize) {
    thread::scope(|scope| {
        let (ready, listens) = mpsc::channel();
        scope.spawn(move || {
            bench.enter(ends.to);
            let listener = bound(|| TcpListener::bind(ends.socket_address()));
            ready.send(()).expect("the test waits");
            exchange(
                &accepted(&listener),
                &pattern(1, length),
                &pattern(2, length),
            );
        });
        listens.recv().expect("the listener starts");
        scope.spawn(move || {
            bench.enter(ends.from);
            let stream = TcpStream::connect_timeout(&ends.socket_address(), PATIENCE);
            let stream = stream.expect("a connection");
            exchange(&stream, &pattern(2, length), &pattern(1, length));
        });
    });
}

/// A socket at a port that the one before may hold for a moment after it was closed: in a process
/// that another test begins at that moment, until it is another program.
#[track_caller]
fn bound<T>(bind: impl Fn() -> io::Result<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        match bind() {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => {
                thread::sleep(Duration::from_millis(5));
            }
            bound => return bound.expect("a socket"),
        }
    }
}

/// The next connection; one that does not come in time fails the test, or it would wait for ever.
fn accepted(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).expect("a setting");
    let until = Instant::now() + PATIENCE;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).expect("a setting");
                return stream;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                assert!(Instant::now() < until, "no connection came");
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => panic!("no connection: {error}"),
        }
    }
}

/// Writes one stream and reads another at the same time.
fn exchange(stream: &TcpStream, sent: &[u8], expected: &[u8]) {
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    stream.set_write_timeout(Some(PATIENCE)).expect("a limit");
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut writer = stream;
            writer.write_all(sent).expect("the stream out");
            stream.shutdown(std::net::Shutdown::Write).expect("an end");
        });
        let mut reader = stream;
        let mut received = Vec::with_capacity(expected.len());
        reader.read_to_end(&mut received).expect("the stream in");
        let (came, of) = (received.len(), expected.len());
        assert!(received == expected, "{came} bytes of {of}, or others");
    });
}

/// Sends datagrams of each length to the right host, one after the other, each until it is
/// answered by its mirror image.
pub(crate) fn udp_echo(bench: &Bench, lengths: &[usize]) {
    udp_mirrored(bench, Ends::across(RIGHT_ADDRESS), lengths);
}

/// As [`udp_echo`], between any two hosts.
pub(crate) fn udp_mirrored(bench: &Bench, ends: Ends<'_>, lengths: &[usize]) {
    thread::scope(|scope| {
        let (ready, listens) = mpsc::channel();
        let count = lengths.len();
        scope.spawn(move || {
            bench.enter(ends.to);
            let socket = bound(|| UdpSocket::bind(ends.socket_address()));
            socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
            ready.send(()).expect("the test waits");
            let mut buffer = vec![0; 65_536];
            for _ in 0..count {
                let (length, from) = awaited(|| socket.recv_from(&mut buffer));
                buffer[..length].reverse();
                socket.send_to(&buffer[..length], from).expect("the answer");
            }
        });
        listens.recv().expect("the socket is there");
        scope.spawn(move || {
            bench.enter(ends.from);
            let socket = UdpSocket::bind(ends.any()).expect("a socket");
            socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
            for &length in lengths {
                must_be_mirrored(&socket, ends.socket_address(), length);
            }
        });
    });
}

/// The kernel interrupts a wait with a limit when somebody stops the process for a while.
#[track_caller]
fn awaited<T>(mut receive: impl FnMut() -> io::Result<T>) -> T {
    loop {
        match receive() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => return received.expect("a datagram"),
        }
    }
}

fn must_be_mirrored(socket: &UdpSocket, to: SocketAddr, length: usize) {
    let mut sent = pattern(3, length);
    socket.send_to(&sent, to).expect("a datagram");
    let mut buffer = vec![0; 65_536];
    let got = awaited(|| socket.recv(&mut buffer));
    sent.reverse();
    assert!(buffer[..got] == sent[..], "{length} bytes came as {got}");
}

/// Five echo requests answered. `ping` sends on until it has five answers: the first of all may ask
/// for the address in vain, when it comes before both ports have begun.
#[track_caller]
pub(crate) fn ping(bench: &Bench) {
    ping_between(bench, Ends::across(RIGHT_ADDRESS));
}

/// As [`ping`], between any two hosts, of either family.
#[track_caller]
pub(crate) fn ping_between(bench: &Bench, ends: Ends<'_>) {
    let words = format!("ping -c 5 -i 0.05 -w 20 {}", ends.address);
    let output = bench.on(ends.from, &words);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("DUP!"), "frames came twice: {said}");
}
