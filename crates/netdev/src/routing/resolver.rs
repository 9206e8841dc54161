//! Asking the kernel to find neighbours, and to keep them found.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE};

use super::attributes::{INET, INET6};
use super::message::{Messages, NEW_NEIGHBOUR, push_attribute, request};
use super::mirror::Mirror;
use super::neighbour::{
    INFO_BYTES, NDA_DST, NDA_FLAGS_EXT, NTF_EXT_MANAGED, NeighbourKey, NeighbourState,
};
use super::socket::{Channel, Received};

const NLMSG_ERROR: u16 = 2;
/// The kernel looks for the neighbour as if the host had a packet for it.
const NTF_USE: u8 = 1;
/// The kernel answers while a request is being sent.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Has the kernel find neighbours by ARP and NDP. For packets that the kernel does not see it
/// would find none, and forget those that it knows.
pub struct Resolver {
    channel: Channel,
    sequence: u32,
}

impl Resolver {
    /// For the network namespace that the calling thread is in.
    ///
    /// # Errors
    /// The kernel's, where it gives no socket.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            channel: Channel::open()?,
            sequence: 0,
        })
    }

    /// Has the kernel find a neighbour, or see whether it is still there. What comes of it, the
    /// mirror shows. The kernel keeps it no longer than any other. On a link without an IPv6
    /// link-local address it finds no IPv6 neighbours in this way.
    ///
    /// # Errors
    /// The kernel's: the link is gone or down, or the process may not do this.
    pub fn find(&mut self, mirror: &Mirror, key: &NeighbourKey) -> io::Result<()> {
        self.request_for(mirror, key, 0)
    }

    /// Has the kernel find a neighbour and keep it found, until [`Resolver::find`] is called for
    /// it. A kernel before Linux 5.16 finds it once; [`super::Neighbour::is_managed`] is false
    /// then, and it is to be found again every few seconds.
    ///
    /// # Errors
    /// As [`Resolver::find`].
    pub fn keep(&mut self, mirror: &Mirror, key: &NeighbourKey) -> io::Result<()> {
        self.request_for(mirror, key, NTF_EXT_MANAGED)
    }

    fn request_for(&mut self, mirror: &Mirror, key: &NeighbourKey, flags: u32) -> io::Result<()> {
        // The kernel would make a permanent neighbour an ordinary one.
        let known = mirror.neighbour(key).map(|neighbour| neighbour.state);
        if let Some(NeighbourState::Permanent | NeighbourState::NoArp) = known {
            return Ok(());
        }
        self.sequence = self.sequence.wrapping_add(1);
        let body = body(key, flags);
        let flags = NLM_F_CREATE | NLM_F_ACK;
        let message = request(NEW_NEIGHBOUR, flags, self.sequence, &body);
        self.channel.send(&message)?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<()> {
        while self.channel.wait(ANSWER_TIMEOUT)? {
            let Received::Datagram(datagram) = self.channel.receive()? else {
                continue;
            };
            for message in Messages(datagram).flatten() {
                let is_answer = message.sequence_number() == self.sequence;
                if is_answer && message.message_type() == NLMSG_ERROR {
                    return outcome(message.payload());
                }
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// What an answer says.
fn outcome(payload: &[u8]) -> io::Result<()> {
    let code = payload.first_chunk().copied();
    match code.map(i32::from_ne_bytes) {
        None => Err(io::ErrorKind::InvalidData.into()),
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error.wrapping_neg())),
    }
}

/// `struct ndmsg` and attributes.
fn body(key: &NeighbourKey, flags: u32) -> Vec<u8> {
    let mut body = vec![0; INFO_BYTES];
    body[4..8].copy_from_slice(&key.link.to_ne_bytes());
    body[10] = NTF_USE;
    match key.address {
        IpAddr::V4(address) => {
            body[0] = INET;
            push_attribute(&mut body, NDA_DST, &address.octets());
        }
        IpAddr::V6(address) => {
            body[0] = INET6;
            push_attribute(&mut body, NDA_DST, &address.octets());
        }
    }
    if flags != 0 {
        push_attribute(&mut body, NDA_FLAGS_EXT, &flags.to_ne_bytes());
    }
    body
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}
