//! A router beside the kernel: the kernel finds neighbours and speaks for the own addresses, and
//! the control side tells workers what it knows.

use std::net::IpAddr;

use frame::{Consumer, PortId, Producer, ring};
use stack::neighbours::{Key, Told};

use super::{InterfaceId, Router};
use crate::{DropReason, Ports};

/// Neighbours of one request to a worker at most: some microseconds of its time.
pub const FOLLOWED_MAX: usize = 256;
/// Neighbours that a worker wants and that the control side has not looked at yet.
const WANTED_MAX: usize = 1024;

/// A neighbour that packets wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// The interface that it is behind.
    pub interface: InterfaceId,
    /// Its address.
    pub address: IpAddr,
}

/// What the kernel told of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The interface that it is behind.
    pub interface: InterfaceId,
    /// Its address.
    pub address: IpAddr,
    /// What was told.
    pub told: Told,
}

/// The control side's end: whom a worker wants.
#[derive(Debug)]
pub struct Wants(Consumer<Wanted>);

impl Wants {
    /// The next one.
    pub fn take(&mut self) -> Option<Wanted> {
        self.0.pop()
    }
}

/// The worker's end.
#[derive(Debug)]
pub(super) struct Kernel {
    wants: Producer<Wanted>,
    /// The ports whose frames the kernel sees too.
    shared: Ports,
}

impl Kernel {
    /// Says that packets wait for a neighbour. One that finds no room is wanted again in a second.
    pub(super) fn want(&mut self, key: &Key) {
        let wanted = Wanted {
            interface: InterfaceId(key.interface),
            address: key.address,
        };
        let _full = self.wants.push(wanted);
    }
}

impl Kernel {
    /// Whether the kernel itself tells the sender of an IPv6 packet that came by a port, since it
    /// has no route for it either.
    pub(super) fn tells(&self, port: PortId, reason: DropReason) -> bool {
        let is_of_route = matches!(
            reason,
            DropReason::NoRoute | DropReason::RouteUnreachable | DropReason::RouteProhibited
        );
        is_of_route && self.shared.contains(port)
    }
}

impl Router {
    /// Leaves neighbours and own addresses to the kernel from now on, which sees the frames of the
    /// `shared` ports itself.
    pub fn follow_kernel(&mut self, shared: Ports) -> Wants {
        let (wants, from) = ring(WANTED_MAX);
        self.kernel = Some(Kernel { wants, shared });
        Wants(from)
    }

    /// Takes over what the kernel told.
    pub(super) fn follow(&mut self, news: &[Followed]) {
        for followed in news {
            let key = Key {
                interface: followed.interface.0,
                address: followed.address,
            };
            self.neighbours.follow(key, followed.told, self.now);
        }
    }
}
