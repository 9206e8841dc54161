//! A server from start to end.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with, sockopt,
};

use super::counters::Shown;
use super::worker::{Orders, Worker};
use super::{Folder, ServeCounters};
use crate::LoadError;
use crate::files::open_files_max;
use crate::tls::ServerTls;

/// Connections that wait in the kernel for a worker.
const BACKLOG: i32 = 4096;

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where to listen; port 0 is one that the kernel picks.
    pub address: SocketAddr,
    /// Threads, each with its own listener.
    pub threads: usize,
    /// Requests of one connection.
    pub requests_max: u64,
    /// How long a connection may be silent.
    pub idle: Duration,
    /// Files that are served beside what paths say by themselves.
    pub folder: Option<Arc<Folder>>,
    /// TLS on all connections.
    pub tls: Option<ServerTls>,
}

/// A server that runs.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    shown: Vec<Arc<Shown>>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

impl Serving {
    /// Listens, and serves on threads of its own.
    ///
    /// # Errors
    /// The address cannot be listened at.
    pub fn start(options: &ServeOptions) -> Result<Self, LoadError> {
        // Listeners of several threads share an address, and so would those of another server.
        drop(listener(options.address, false).map_err(|error| refusal(options.address, &error))?);
        let start = Instant::now();
        // Each connection may have a file open.
        let files = open_files_max() / if options.folder.is_some() { 2 } else { 1 };
        let mut serving = Self {
            address: options.address,
            stop: Arc::default(),
            shown: Vec::new(),
            threads: Vec::new(),
        };
        for number in 0..options.threads {
            let listener = listener(serving.address, true)
                .map_err(|error| refusal(serving.address, &error))?;
            serving.address = bound(&listener).unwrap_or(serving.address);
            let shown = Arc::<Shown>::default();
            serving.shown.push(Arc::clone(&shown));
            let orders = Orders {
                listener,
                start,
                stop: Arc::clone(&serving.stop),
                shown,
                requests_max: options.requests_max.max(1),
                idle_nanos: u64::try_from(options.idle.as_nanos()).unwrap_or(u64::MAX),
                folder: options.folder.clone(),
                tls: options.tls.clone(),
                connections_max: (files / options.threads).max(1),
            };
            let thread = thread::Builder::new().name(format!("serve-{number}"));
            let thread = thread.spawn(move || Worker::new(orders)?.run());
            serving.threads.push(thread.map_err(|error| {
                LoadError::new(format!("no thread: {error}: ask for fewer with --threads"))
            })?);
        }
        Ok(serving)
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was counted up to a moment ago.
    #[must_use]
    pub fn counters(&self) -> ServeCounters {
        let mut sum = ServeCounters::default();
        self.shown.iter().for_each(|shown| sum.add(&shown.load()));
        sum
    }

    /// Whether a worker ended by itself.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Stops, and returns what was counted.
    ///
    /// # Errors
    /// A worker could not go on.
    pub fn stop(mut self) -> Result<ServeCounters, LoadError> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            match thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    return Err(LoadError::new(format!("a worker could not go on: {error}")));
                }
                Err(_) => return Err(LoadError::new("a worker panicked")),
            }
        }
        Ok(self.counters())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn listener(address: SocketAddr, shared: bool) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, shared)?;
    bind(&socket, &address)?;
    if shared {
        listen(&socket, BACKLOG)?;
    }
    Ok(socket)
}

fn bound(listener: &OwnedFd) -> Option<SocketAddr> {
    getsockname(listener).ok()?.try_into().ok()
}

fn refusal(address: SocketAddr, error: &io::Error) -> LoadError {
    let remedy = match error.kind() {
        io::ErrorKind::AddrInUse => "end the program that listens there, or take another port",
        io::ErrorKind::PermissionDenied => "ports below 1024 need root",
        _ => "'ip address' shows the addresses of this host",
    };
    LoadError::new(format!(
        "{address} cannot be listened at: {error}: {remedy}"
    ))
}
