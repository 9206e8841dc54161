//! `memif:SOCKET[,role=leader|follower][,id=N][,queues=N]...`: what a user says of a shared-memory
//! port.

use std::fmt;

use crate::SpecError;
use crate::spec::{Settings, escape};
use crate::sys::memif_socket::{Address, PATH_BYTES_MAX};

use super::message::SECRET_BYTES;

const KEYS: [&str; 6] = ["role", "id", "queues", "ring", "buffer", "secret"];
/// As many as DPDK takes.
const QUEUES_MAX: u64 = 255;
/// Descriptors of a ring: that of DPDK and VPP; 2^14 is the most that they take.
const RING_DEFAULT: u16 = 1024;
const RING_MIN: u64 = 32;
const RING_MAX: u64 = 1 << 14;
/// Bytes of a buffer: that of DPDK and VPP. Below 128 a frame of 9,000 bytes would need a ring.
const BUFFER_DEFAULT: u16 = 2048;
const BUFFER_MIN: u64 = 128;
const BUFFER_MAX: u64 = 65_535;

/// Which side of the interface this is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemifRole {
    /// Listens at the socket. DPDK's `server`, formerly `master`.
    Leader,
    /// Connects, and owns the shared memory. DPDK's `client`, formerly `slave`.
    #[default]
    Follower,
}

impl MemifRole {
    /// The word after `role=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Follower => "follower",
        }
    }
}

/// A shared-memory port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemifSpec {
    /// Path of the socket; a name in the abstract namespace where it begins with `@`.
    pub socket: String,
    /// Which side.
    pub role: MemifRole,
    /// Tells interfaces apart that share a socket.
    pub id: u32,
    /// Rings each way.
    pub queues: u16,
    /// Descriptors of a ring, a power of two: the follower's choice, a bound for the leader.
    pub ring: u16,
    /// Bytes of a buffer: the follower's choice.
    pub buffer: u16,
    /// What both sides must say; nothing where it is empty.
    pub secret: String,
}

impl MemifSpec {
    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        let role = match settings.take("role").as_deref() {
            None | Some("follower") => MemifRole::Follower,
            Some("leader") => MemifRole::Leader,
            Some("server" | "master") => {
                return Err(SpecError::value(
                    "role",
                    "server",
                    "leader, which is the same",
                ));
            }
            Some("client" | "slave") => {
                return Err(SpecError::value(
                    "role",
                    "client",
                    "follower, which is the same",
                ));
            }
            Some(other) => return Err(SpecError::value("role", other, "leader or follower")),
        };
        let id = settings.take_number("id", 0..=u64::from(u32::MAX))?;
        let queues = settings.take_number("queues", 1..=QUEUES_MAX)?;
        let ring = settings.take_number("ring", RING_MIN..=RING_MAX)?;
        let buffer = settings.take_number("buffer", BUFFER_MIN..=BUFFER_MAX)?;
        let ring = ring.unwrap_or(u64::from(RING_DEFAULT));
        if !ring.is_power_of_two() {
            let wanted = "a power of two from 32 to 16384";
            return Err(SpecError::value("ring", &ring.to_string(), wanted));
        }
        let secret = settings.take("secret").unwrap_or_default();
        if secret.len() >= SECRET_BYTES || secret.contains('\0') {
            return Err(SpecError::value("secret", "...", "at most 23 bytes"));
        }
        Ok(Self {
            socket: socket(settings)?,
            role,
            id: id.unwrap_or(0) as u32,
            queues: queues.unwrap_or(1) as u16,
            ring: ring as u16,
            buffer: buffer.unwrap_or(u64::from(BUFFER_DEFAULT)) as u16,
            secret,
        })
    }

    /// Where the socket is.
    pub(crate) fn address(&self) -> Address {
        match self.socket.strip_prefix('@') {
            Some(name) => Address::Abstract(name.as_bytes().to_vec()),
            None => Address::File(self.socket.as_bytes().to_vec()),
        }
    }
}

/// The name of the socket, where one can be made of it.
fn socket(settings: &mut Settings) -> Result<String, SpecError> {
    let name = settings.name.take();
    let name = name.filter(|name| !matches!(&name[..], "" | "@"));
    let name = name.ok_or_else(|| {
        SpecError::new("it names no socket; write memif:/run/memif.sock, for instance")
    })?;
    let bytes = name.strip_prefix('@').unwrap_or(&name).len();
    if bytes + 1 > PATH_BYTES_MAX || name.contains('\0') {
        let longest = PATH_BYTES_MAX - 1;
        return Err(SpecError::new(format!(
            "the socket's name has {bytes} bytes, and no socket's has more than {longest}; choose \
             a shorter one"
        )));
    }
    Ok(name)
}

impl fmt::Display for MemifSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            queues,
            ring,
            buffer,
            ..
        } = self;
        write!(
            f,
            "memif:{},role={}",
            escape(&self.socket),
            self.role.name()
        )?;
        write!(f, ",id={id},queues={queues},ring={ring},buffer={buffer}")?;
        if !self.secret.is_empty() {
            write!(f, ",secret={}", escape(&self.secret))?;
        }
        Ok(())
    }
}
