//! Traffic of the kernel's own stack between the two hosts.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;

use crate::bench::{Bench, PATIENCE, RIGHT_ADDRESS, Side};

const PORT: u16 = 5201;

/// Bytes that are different at every place of any frame, and nothing like another stream's.
fn pattern(length: usize) -> Vec<u8> {
    let byte = |place: usize| (place as u32).wrapping_mul(2_654_435_761).to_be_bytes()[1];
    (0..length).map(byte).collect()
}

/// Sends a stream to the right host and back; both must be whole.
pub(crate) fn tcp_echo(bench: &Bench, length: usize) {
    let sent = pattern(length);
    thread::scope(|scope| {
        let (ready, listens) = std::sync::mpsc::channel();
        scope.spawn(move || {
            bench.enter(Side::Right);
            let listener = TcpListener::bind((RIGHT_ADDRESS, PORT)).expect("a listener");
            ready.send(()).expect("the test waits");
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
            let mut received = Vec::new();
            stream.read_to_end(&mut received).expect("the stream");
            stream.write_all(&received).expect("the stream back");
        });
        listens.recv().expect("the listener starts");
        let sent = &sent;
        scope.spawn(move || {
            bench.enter(Side::Left);
            let mut stream = TcpStream::connect((RIGHT_ADDRESS, PORT)).expect("a connection");
            stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
            stream.write_all(sent).expect("the stream");
            stream.shutdown(std::net::Shutdown::Write).expect("an end");
            let mut back = Vec::new();
            stream.read_to_end(&mut back).expect("the stream back");
            assert!(
                back == *sent,
                "{} bytes of {} came back",
                back.len(),
                sent.len()
            );
        });
    });
}

/// Sends datagrams of each length to the right host, one after the other, each until it is
/// answered by its mirror image.
pub(crate) fn udp_echo(bench: &Bench, lengths: &[usize]) {
    thread::scope(|scope| {
        let (ready, listens) = std::sync::mpsc::channel();
        let count = lengths.len();
        scope.spawn(move || {
            bench.enter(Side::Right);
            let socket = UdpSocket::bind((RIGHT_ADDRESS, PORT)).expect("a socket");
            socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
            ready.send(()).expect("the test waits");
            let mut buffer = vec![0; 65_536];
            for _ in 0..count {
                let (length, from) = socket.recv_from(&mut buffer).expect("a datagram");
                buffer[..length].reverse();
                socket.send_to(&buffer[..length], from).expect("the answer");
            }
        });
        listens.recv().expect("the socket is there");
        scope.spawn(move || {
            bench.enter(Side::Left);
            let socket = UdpSocket::bind(("0.0.0.0", 0)).expect("a socket");
            socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
            let mut buffer = vec![0; 65_536];
            for &length in lengths {
                let mut sent = pattern(length);
                socket
                    .send_to(&sent, (RIGHT_ADDRESS, PORT))
                    .expect("a datagram");
                let got = socket.recv(&mut buffer).expect("the answer");
                sent.reverse();
                assert!(
                    buffer[..got] == sent[..],
                    "{length} bytes came back as {got}"
                );
            }
        });
    });
}

/// Five echo requests answered. `ping` sends on until it has five answers: the first of all may ask
/// for the address in vain, when it comes before both ports have begun.
#[track_caller]
pub(crate) fn ping(bench: &Bench) {
    let words = format!("ping -c 5 -i 0.05 -w 20 {RIGHT_ADDRESS}");
    let output = bench.on(Side::Left, &words);
    assert!(output.status.success(), "{output:?}");
}
