//! A pretended kernel with one table of routes, which lists while it changes.

use std::collections::{BTreeMap, VecDeque};

use crate::made::{
    CREATE, DELETED_ROUTE, DONE, From, MULTIPART, NEW_ROUTE, REPLACE, message, route_ipv4,
    route_ipv6,
};
use crate::recorded::PORT;

/// Routes that it lists in one datagram.
const PORTION: usize = 5;
const GET_ROUTE: u16 = 26;

/// A number of a prefix, and a metric.
pub(crate) type Place = (u8, u32);

/// What becomes of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Add(u8),
    Remove(u8),
    Replace(u8),
    Clear,
}

/// Prefixes of odd numbers are of IPv6.
pub(crate) fn is_ipv6(place: Place) -> bool {
    place.0 % 2 == 1
}

fn body(place: Place, gateways: &[u8]) -> Vec<u8> {
    match is_ipv6(place) {
        true => route_ipv6(place.0, place.1, gateways),
        false => route_ipv4(place.0, place.1, gateways[0]),
    }
}

/// It, and what waits in the socket.
#[derive(Default)]
pub(crate) struct Pretended {
    /// The gateways of each place, in order: one, or of IPv6 one and more.
    pub(crate) routes: BTreeMap<Place, Vec<u8>>,
    pub(crate) waiting: VecDeque<Vec<u8>>,
    pub(crate) has_overrun: bool,
    listing: Option<Listing>,
    /// A datagram that it made and has not sent: changes may be told before it.
    held: Option<Vec<u8>>,
}

struct Listing {
    from: From,
    /// All up to here are listed; `None`: it begins.
    after: Option<Place>,
    is_of_routes: bool,
}

impl Pretended {
    /// A route changes, if it can. `room`: datagrams that may wait.
    pub(crate) fn change(&mut self, (place, change): (Place, Change), room: usize) {
        let Some((kind, flags, gateways)) = self.effect(place, change) else {
            return;
        };
        if self.waiting.len() >= room {
            self.has_overrun = true;
            return;
        }
        let bytes = message(kind, flags, From::default(), &body(place, &gateways));
        self.waiting.push_back(bytes);
    }

    /// What it does, and tells: type, flags and gateways of the message.
    fn effect(&mut self, place: Place, change: Change) -> Option<(u16, u16, Vec<u8>)> {
        let here = self.routes.entry(place).or_default();
        let told = match change {
            Change::Add(gateway) if here.contains(&gateway) => None,
            Change::Add(_) if !here.is_empty() && !is_ipv6(place) => None,
            Change::Add(gateway) => {
                here.push(gateway);
                let all = here.iter().rev().copied().collect();
                Some((NEW_ROUTE, CREATE, all))
            }
            Change::Replace(gateway) if *here == [gateway] => None,
            Change::Replace(gateway) => {
                let flags = if here.is_empty() { CREATE } else { REPLACE };
                *here = vec![gateway];
                Some((NEW_ROUTE, flags, vec![gateway]))
            }
            Change::Remove(gateway) => {
                let at = here.iter().position(|other| *other == gateway);
                at.map(|at| (DELETED_ROUTE, 0, vec![here.remove(at)]))
            }
            Change::Clear => {
                let all = std::mem::take(here);
                Some((DELETED_ROUTE, 0, all)).filter(|told| !told.2.is_empty())
            }
        };
        if here.is_empty() {
            self.routes.remove(&place);
        }
        told
    }

    /// It is asked for something.
    pub(crate) fn asked(&mut self, request: &[u8]) {
        assert!(
            self.listing.is_none() && self.held.is_none(),
            "one at a time"
        );
        let kind = u16::from_ne_bytes([request[4], request[5]]);
        let sequence = u32::from_ne_bytes(request[8..12].try_into().expect("four bytes"));
        self.listing = Some(Listing {
            from: From {
                port: PORT,
                sequence,
            },
            after: None,
            is_of_routes: kind == GET_ROUTE,
        });
    }

    /// It makes the next datagram of a listing, and sends the one that it made before.
    pub(crate) fn list(&mut self) {
        self.waiting.extend(self.held.take());
        let Some(listing) = &mut self.listing else {
            return;
        };
        let from = listing.from;
        let rest = self
            .routes
            .iter()
            .filter(|(place, _)| Some(**place) > listing.after);
        let rest = rest.filter(|_| listing.is_of_routes);
        let portion: Vec<_> = rest.take(PORTION).collect();
        let bodies = portion.iter().map(|(place, to)| body(**place, to));
        let listed = bodies.map(|body| message(NEW_ROUTE, MULTIPART, from, &body));
        let mut datagram: Vec<u8> = listed.flatten().collect();
        match portion.last() {
            Some((place, _)) => listing.after = Some(**place),
            None => {
                datagram = message(DONE, MULTIPART, from, &[0; 4]);
                self.listing = None;
            }
        }
        self.held = Some(datagram);
    }
}
