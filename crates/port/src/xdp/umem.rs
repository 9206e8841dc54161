//! The UMEMs of a run and the interfaces in use: sockets of one mode share one UMEM, whatever
//! interface and queue they are bound to.
//!
//! A socket that binds with another's UMEM gets that one's mode. Where the kernel grants zero-copy
//! on one interface and copies on the other, there are two UMEMs over the same memory, so that a
//! frame still crosses between them by address.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::partners::Partners;
use crate::sys::xdp_socket::XdpSocket;
use crate::{PortError, PortErrorKind};

/// What the AF_XDP ports of a run have in common; clones are the same register.
#[derive(Clone, Default)]
pub struct Umems {
    state: Arc<Mutex<State>>,
    partners: Partners,
}

#[derive(Default)]
struct State {
    interfaces: Vec<u32>,
    /// The first socket of each mode, with the start of its memory.
    owners: Vec<(Granted, usize, Arc<XdpSocket>)>,
}

/// What sockets of one UMEM have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Granted {
    pub(super) zero_copy: bool,
    /// Frames may come and go in several pieces.
    pub(super) several: bool,
}

impl Umems {
    /// Those between which a bypass may forward.
    pub(super) fn partners(&self) -> &Partners {
        &self.partners
    }

    /// Notes that a port has this interface.
    pub(super) fn claim(&self, name: &str, interface: u32) -> Result<(), PortError> {
        let mut state = self.lock();
        if state.interfaces.contains(&interface) {
            let sentence = format!("xdp:{name} is there twice; give each port an interface");
            return Err(PortError::new(PortErrorKind::Setting, sentence));
        }
        state.interfaces.push(interface);
        Ok(())
    }

    /// The socket whose UMEM sockets of this mode bind with.
    pub(super) fn owner(&self, mode: Granted, memory: usize) -> Option<Arc<XdpSocket>> {
        let state = self.lock();
        let same = |owner: &&(Granted, usize, _)| (owner.0, owner.1) == (mode, memory);
        state
            .owners
            .iter()
            .find(same)
            .map(|owner| Arc::clone(&owner.2))
    }

    /// Makes a socket with a UMEM of its own the owner for its mode.
    pub(super) fn add_owner(&self, mode: Granted, memory: usize, socket: &Arc<XdpSocket>) {
        let mut state = self.lock();
        // One whose interface is gone lends its UMEM no more, and nobody asks for two.
        state
            .owners
            .retain(|owner| (owner.0, owner.1) != (mode, memory));
        state.owners.push((mode, memory, Arc::clone(socket)));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Umems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Umems")
            .field("interfaces", &state.interfaces)
            .field("umems", &state.owners.len())
            .finish()
    }
}
