//! The socket that leaders listen at. Several ports of one run may share one: the follower says by
//! its `id` which it wants.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::MemifSpec;
use super::message::{Init, Message, Text};
use super::talk;
use crate::sys::memif_socket::{Address, Received, Socket};
use crate::{PortError, PortErrorKind};

/// Followers that have not said yet what they want; one more makes the first go.
const WAITING_MAX: usize = 16;

/// The sockets of a run at which leaders listen; clones are the same register.
#[derive(Clone, Default)]
pub struct Listeners(Arc<Mutex<BTreeMap<Address, Weak<Listener>>>>);

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(lock(&self.0).keys()).finish()
    }
}

impl Listeners {
    /// The listener of a leader's socket, which comes to be with its first port.
    pub(super) fn claim(&self, spec: &MemifSpec) -> Result<Arc<Listener>, PortError> {
        let address = spec.address();
        let mut known = lock(&self.0);
        let listener = match known.get(&address).and_then(Weak::upgrade) {
            Some(listener) => listener,
            None => {
                let listener = Arc::new(Listener::open(&address).map_err(|why| why.of(spec))?);
                known.insert(address, Arc::downgrade(&listener));
                listener
            }
        };
        let mut state = lock(&listener.state);
        let taken = state.leaders.insert(spec.id, Leader::default()).is_some();
        drop(state);
        if taken {
            let (socket, id) = (&spec.socket, spec.id);
            let sentence = format!(
                "two ports lead id {id} of {socket}; give one of them another id= or socket"
            );
            return Err(PortError::new(PortErrorKind::Setting, sentence));
        }
        Ok(listener)
    }
}

/// Why there is no listener.
enum Refused {
    /// Somebody listens there.
    Taken,
    /// Something that is no socket.
    NoSocket,
    Error(io::Error),
}

impl Refused {
    fn of(self, spec: &MemifSpec) -> PortError {
        let socket = &spec.socket;
        let sentence = match self {
            Self::Taken => format!(
                "{spec}: another program listens at {socket}; stop it, name another socket, or be \
                 its follower: role=follower"
            ),
            Self::NoSocket => {
                format!("{spec}: {socket} is there and is no socket; name another path")
            }
            Self::Error(error) => {
                return PortError::open(&format!("the socket {socket}"), "listen at", &error);
            }
        };
        PortError::new(PortErrorKind::Open, sentence)
    }
}

/// A follower that wants one of our leaders' interface.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) socket: Socket,
    pub(super) init: Init,
}

#[derive(Debug)]
pub(super) struct Listener {
    socket: Socket,
    /// Path of the file, its device and its number, by which it is known to be ours.
    file: Option<(Vec<u8>, u64, u64)>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    leaders: BTreeMap<u32, Leader>,
    waiting: Vec<Socket>,
}

#[derive(Debug, Default)]
struct Leader {
    queues: u16,
    log2_entries: u8,
    arrival: Option<Arrival>,
    busy: bool,
}

impl Listener {
    fn open(address: &Address) -> Result<Self, Refused> {
        let file = match address {
            Address::Abstract(_) => None,
            Address::File(path) => {
                clear_away(path, address)?;
                Some(path.clone())
            }
        };
        let socket = Socket::listen(address).map_err(|error| match error.raw_os_error() {
            Some(libc::EADDRINUSE) => Refused::Taken,
            _ => Refused::Error(error),
        })?;
        let file = match file {
            None => None,
            Some(path) => Some(own(path).map_err(Refused::Error)?),
        };
        Ok(Self {
            socket,
            file,
            state: Mutex::default(),
        })
    }

    /// Lets followers in and asks those that wait what they want; one that wants interface `id`,
    /// unless it has one already.
    pub(super) fn attend(
        &self,
        id: u32,
        queues: u16,
        log2_entries: u8,
        busy: bool,
    ) -> Option<Arrival> {
        let mut state = lock(&self.state);
        if let Some(leader) = state.leaders.get_mut(&id) {
            (leader.queues, leader.log2_entries) = (queues, log2_entries);
            leader.busy = busy;
        }
        state.let_in(&self.socket);
        state.ask();
        let leader = state.leaders.get_mut(&id).filter(|_| !busy)?;
        leader.arrival.take()
    }

    /// A port of this id is no more.
    pub(super) fn release(&self, id: u32) {
        lock(&self.state).leaders.remove(&id);
    }
}

impl State {
    fn let_in(&mut self, listening: &Socket) {
        let queues = self.leaders.values().map(|leader| leader.queues).max();
        let entries = self.leaders.values().map(|leader| leader.log2_entries);
        let (Some(queues @ 1..), Some(entries)) = (queues, entries.max()) else {
            return;
        };
        for _ in 0..WAITING_MAX {
            let Some(socket) = listening.accept() else {
                return;
            };
            let hello = talk::hello(queues, entries);
            if socket.send(&hello.emit(), None).is_ok() {
                if self.waiting.len() == WAITING_MAX {
                    self.waiting.remove(0);
                }
                self.waiting.push(socket);
            }
        }
    }

    fn ask(&mut self) {
        for socket in std::mem::take(&mut self.waiting) {
            match socket.receive() {
                Ok(Received::Nothing) => self.waiting.push(socket),
                Ok(Received::Message(bytes, _)) => match Message::parse(&bytes) {
                    Some(Message::Init(init)) => self.arrive(Arrival { socket, init }),
                    _ => refuse(&socket, "unexpected message"),
                },
                Ok(Received::Misshapen(_)) => refuse(&socket, "invalid message size"),
                Ok(Received::End) | Err(_) => {}
            }
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        match self.leaders.get_mut(&arrival.init.id) {
            None => refuse(&arrival.socket, "id not found"),
            Some(leader) if leader.busy || leader.arrival.is_some() => {
                refuse(&arrival.socket, "already connected");
            }
            Some(leader) => leader.arrival = Some(arrival),
        }
    }
}

/// Tells a peer why it cannot stay.
pub(super) fn refuse(socket: &Socket, reason: &str) {
    let code = 0;
    let reason = Text::new(reason.as_bytes());
    let _gone_already = socket.send(&Message::Disconnect { code, reason }.emit(), None);
}

/// Removes what a program left that is no more. A socket that somebody answers at stays.
fn clear_away(path: &[u8], address: &Address) -> Result<(), Refused> {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(Refused::NoSocket);
    }
    match Socket::connect(address) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(Refused::Error)
        }
        _ => Err(Refused::Taken),
    }
}

/// Gives the file that was made just now its mode, whatever the umask, and notes whose it is.
fn own(path: Vec<u8>) -> io::Result<(Vec<u8>, u64, u64)> {
    let file = Path::new(std::ffi::OsStr::from_bytes(&path));
    fs::set_permissions(file, fs::Permissions::from_mode(0o660))?;
    let metadata = fs::symlink_metadata(file)?;
    let (device, number) = (metadata.dev(), metadata.ino());
    Ok((path, device, number))
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Some((path, device, number)) = &self.file else {
            return;
        };
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let ours = fs::symlink_metadata(path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == (*device, *number));
        if ours {
            let _removed_already = fs::remove_file(path);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
