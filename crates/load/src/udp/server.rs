//! A server: what comes to a port is counted, and sent back where that is asked for.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Threads;
use super::socket::open;
use crate::LoadError;

/// The longest datagram.
const DATAGRAM_MAX: usize = 65_535;
/// How long a thread waits for a datagram before it looks whether it should end.
const PATIENCE: Duration = Duration::from_millis(50);

/// How to serve.
#[derive(Clone, Copy, Debug)]
pub struct UdpServerOptions {
    /// Where to listen; all threads share it (SO_REUSEPORT).
    pub address: SocketAddr,
    /// Threads, each with its own socket.
    pub threads: usize,
    /// Each datagram goes back.
    pub responds: bool,
}

/// What a thread received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpTaken {
    /// Datagrams.
    pub received: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
    /// Those that went back.
    pub answered: u64,
    /// Those that the kernel did not take back.
    pub unanswered: u64,
}

/// Opens the sockets, and serves on threads of its own; where it listens.
///
/// # Errors
/// The address cannot be listened at, or there is no thread.
pub fn start_server(
    options: &UdpServerOptions,
) -> Result<(Threads<UdpTaken>, SocketAddr), LoadError> {
    // Sockets of several threads share an address, and so would those of another server.
    drop(open(options.address, false)?);
    let mut threads = Threads::new();
    let mut address = options.address;
    for _ in 0..options.threads.max(1) {
        let socket = open(address, true)?;
        address = socket.local_addr().unwrap_or(address);
        let responds = options.responds;
        threads.start(move |stop| serve(&socket, responds, stop))?;
    }
    Ok((threads, address))
}

fn serve(socket: &UdpSocket, responds: bool, stop: &AtomicBool) -> io::Result<UdpTaken> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut bytes = vec![0; DATAGRAM_MAX];
    let mut taken = UdpTaken::default();
    while !stop.load(Ordering::Relaxed) {
        let (len, from) = match socket.recv_from(&mut bytes) {
            Ok(received) => received,
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(error),
        };
        taken.received += 1;
        taken.bytes += len as u64;
        if responds {
            let is_sent = socket.send_to(&bytes[..len], from).is_ok();
            taken.answered += u64::from(is_sent);
            taken.unanswered += u64::from(!is_sent);
        }
    }
    Ok(taken)
}

/// Whether the next call may do better.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
    )
}
