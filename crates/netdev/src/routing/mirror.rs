//! The mirror: bytes of the kernel in, what is known and what changed out.

use netlink_packet_core::{NLM_F_DUMP_INTR, NLM_F_MULTIPART, NetlinkBuffer};

use super::address::{Address, AddressKey};
use super::fault::{Fault, Reason};
use super::link::Link;
use super::message::{Listing, Messages, Standing, Update, read};
use super::neighbour::{Neighbour, NeighbourKey};
use super::route::{Hop, Prefix, Route, RouteKey};
use super::state::{Effects, State};
use super::{Change, TableChoice};

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_OVERRUN: u16 = 4;
const EBUSY: i32 = 16;
const EOPNOTSUPP: i32 = 95;
/// Updates that are kept during a listing at most; it is begun anew when there are more.
const LOG_MAX: usize = 1 << 20;

/// A namespace's routing as the kernel has it, without a socket.
///
/// Whoever has the socket sends what [`Mirror::request`] returns, gives [`Mirror::receive`] what
/// comes, and calls [`Mirror::overrun`] when the kernel dropped messages.
#[derive(Debug)]
pub struct Mirror {
    tables: TableChoice,
    port: u32,
    sequence: u32,
    state: State,
    listings: Vec<Listing>,
    is_doubtful: bool,
    overruns: u64,
    under_way: Option<UnderWay>,
}

/// A listing that the kernel is sending.
///
/// Updates come meanwhile, and which of both is newer nobody can say. They are therefore kept and
/// applied to the listing too: an update that the listing has already changes nothing in it.
#[derive(Debug)]
struct UnderWay {
    listing: Listing,
    sequence: u32,
    fresh: State,
    log: Vec<Update>,
    is_broken: bool,
}

impl Mirror {
    /// One in which nothing is known. `port` is the netlink port number of the socket.
    #[must_use]
    pub fn new(port: u32, tables: TableChoice) -> Self {
        Self {
            tables,
            port,
            sequence: 0,
            state: State::default(),
            listings: Vec::new(),
            is_doubtful: true,
            overruns: 0,
            under_way: None,
        }
    }

    /// What is to be sent to the kernel now.
    pub fn request(&mut self) -> Option<Vec<u8>> {
        if self.under_way.is_some() {
            return None;
        }
        if self.listings.is_empty() && self.is_doubtful {
            self.is_doubtful = false;
            self.listings = Listing::ALL.iter().rev().copied().collect();
        }
        let listing = self.listings.pop()?;
        self.sequence = self.sequence.wrapping_add(1);
        self.under_way = Some(UnderWay {
            listing,
            sequence: self.sequence,
            fresh: State::default(),
            log: Vec::new(),
            is_broken: false,
        });
        Some(listing.request(self.sequence))
    }

    /// The request whose answer should have come by now, once more.
    #[must_use]
    pub fn repeated_request(&self) -> Option<Vec<u8>> {
        let under_way = self.under_way.as_ref()?;
        Some(under_way.listing.request(under_way.sequence))
    }

    /// The kernel dropped messages: all is to be listed anew.
    pub fn overrun(&mut self) {
        self.is_doubtful = true;
        self.overruns += 1;
        if let Some(under_way) = &mut self.under_way {
            under_way.is_broken = true;
        }
    }

    /// How often the kernel dropped messages.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        self.overruns
    }

    /// What is known is what the kernel has, as far as it has told yet.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.under_way.is_none() && self.listings.is_empty() && !self.is_doubtful
    }

    /// Takes a datagram of the kernel in. What it changes is added to `changes`, and the mirror
    /// has it already. Returns whether it is of the answer to the last request.
    pub fn receive(&mut self, datagram: &[u8], changes: &mut Vec<Change>) -> bool {
        let mut effects = Effects::default();
        let mut is_answer = false;
        for message in Messages(datagram) {
            let done = message.and_then(|message| {
                let answers = self.answers(&message);
                is_answer |= answers;
                self.message(&message, answers, &mut effects)
            });
            if let Err(fault) = done {
                effects.changes.push(Change::Unreadable(fault));
            }
        }
        self.is_doubtful |= effects.is_doubtful;
        changes.append(&mut effects.changes);
        is_answer
    }

    fn answers(&self, message: &NetlinkBuffer<&[u8]>) -> bool {
        let under_way = self.under_way.as_ref();
        message.port_number() == self.port
            && under_way.is_some_and(|listing| listing.sequence == message.sequence_number())
    }

    fn message(
        &mut self,
        message: &NetlinkBuffer<&[u8]>,
        is_answer: bool,
        effects: &mut Effects,
    ) -> Result<(), Fault> {
        let is_of_a_listing =
            message.port_number() == self.port && message.flags() & NLM_F_MULTIPART != 0;
        match message.message_type() {
            NLMSG_DONE | NLMSG_ERROR if is_answer => self.answered(message, effects),
            NLMSG_OVERRUN => {
                self.overrun();
                Ok(())
            }
            _ if is_answer => self.listed(message),
            // One that was asked for twice.
            _ if is_of_a_listing => Ok(()),
            _ => self.updated(message, effects),
        }
    }

    /// Something happened in the kernel.
    fn updated(
        &mut self,
        message: &NetlinkBuffer<&[u8]>,
        effects: &mut Effects,
    ) -> Result<(), Fault> {
        let Some(update) = read(message)?.filter(|update| self.tables.includes(update)) else {
            return Ok(());
        };
        if let Some(under_way) = &mut self.under_way {
            under_way.keep(&update);
        }
        self.state.apply(update, effects);
        Ok(())
    }

    /// The kernel lists something.
    fn listed(&mut self, message: &NetlinkBuffer<&[u8]>) -> Result<(), Fault> {
        let Some(under_way) = &mut self.under_way else {
            return Ok(());
        };
        under_way.is_broken |= message.flags() & NLM_F_DUMP_INTR != 0;
        let Some(update) = read(message)?.filter(|update| self.tables.includes(update)) else {
            return Ok(());
        };
        let update = match update {
            Update::Route(placed, _) => Update::Route(placed, Standing::Listed),
            update => update,
        };
        under_way.fresh.apply(update, &mut Effects::default());
        Ok(())
    }

    /// A listing is at its end, or was refused. One that was refused is asked for again by
    /// [`Mirror::repeated_request`].
    fn answered(
        &mut self,
        message: &NetlinkBuffer<&[u8]>,
        effects: &mut Effects,
    ) -> Result<(), Fault> {
        let code = message.payload().first_chunk().copied();
        let error = i32::from_ne_bytes(code.unwrap_or_default()).wrapping_neg();
        // A listing that was asked for twice: the first answer is still to come.
        if error == EBUSY {
            return Ok(());
        }
        let Some(under_way) = self.under_way.take() else {
            return Ok(());
        };
        let is_old_kernel = under_way.listing == Listing::NextHops && error == EOPNOTSUPP;
        if error != 0 && !is_old_kernel {
            let fault = Fault {
                message: under_way.listing.kind(),
                reason: Reason::Refused(error),
            };
            self.under_way = Some(under_way);
            return Err(fault);
        }
        if under_way.is_broken || message.flags() & NLM_F_DUMP_INTR != 0 {
            self.listings.push(under_way.listing);
            return Ok(());
        }
        let listing = under_way.listing;
        let (fresh, is_ambiguous) = under_way.caught_up();
        self.is_doubtful |= is_ambiguous;
        self.state.take_over(listing, fresh, effects);
        Ok(())
    }
}

impl UnderWay {
    fn keep(&mut self, update: &Update) {
        // With a next-hop object its routes go.
        let takes_routes = matches!(update, Update::NextHopGone(_));
        let concerns =
            self.listing == update.listing() || (self.listing == Listing::Routes && takes_routes);
        if !concerns || self.is_broken {
            return;
        }
        self.log.push(update.clone());
        if self.log.len() > LOG_MAX {
            self.log = Vec::new();
            self.is_broken = true;
        }
    }

    /// What is listed, and what happened meanwhile. True: it may be wrong.
    fn caught_up(mut self) -> (State, bool) {
        let mut effects = Effects::default();
        for update in self.log {
            self.fresh.apply(update, &mut effects);
            effects.changes.clear();
        }
        (self.fresh, effects.is_ambiguous)
    }
}

impl Mirror {
    /// The links, by their numbers.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.state.links.values()
    }

    /// The link of this number.
    #[must_use]
    pub fn link(&self, index: u32) -> Option<&Link> {
        self.state.links.get(&index)
    }

    /// The addresses, by links.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.state.addresses.values()
    }

    /// This address.
    #[must_use]
    pub fn address(&self, key: &AddressKey) -> Option<&Address> {
        self.state.addresses.get(key)
    }

    /// All routes, by tables and prefixes. Of equal prefixes the one in force is first.
    pub fn routes(&self) -> impl Iterator<Item = (&RouteKey, &Route)> {
        let routes = self.state.routes.all().iter();
        routes.flat_map(|(key, here)| here.iter().map(move |route| (key, route)))
    }

    /// The routes of a table that are in force for all packets to their prefixes, one a prefix:
    /// of several that with the least metric.
    pub fn routes_in_force(&self, table: u32) -> impl Iterator<Item = (&RouteKey, &Route)> {
        let from = RouteKey::first_of(table);
        let routes = self.state.routes.all().range(from..);
        let routes = routes.take_while(move |(key, _)| key.table == table);
        let mut last = None;
        routes
            .filter(|(key, _)| key.is_for_all())
            .filter(move |(key, _)| last.replace(key.prefix) != Some(key.prefix))
            .filter_map(|(key, here)| Some((key, here.first()?)))
    }

    /// The route that is in force for all packets to a prefix in a table.
    #[must_use]
    pub fn route_in_force(&self, table: u32, prefix: Prefix) -> Option<(&RouteKey, &Route)> {
        let from = RouteKey {
            prefix,
            ..RouteKey::first_of(table)
        };
        let to = RouteKey {
            metric: u32::MAX,
            ..from
        };
        let (key, here) = self.state.routes.all().range(from..=to).next()?;
        Some((key, here.first()?))
    }

    /// The hops of a route that the kernel would send to: those whose link is there and up. The
    /// others it keeps and passes over until their link is up again.
    pub fn hops_alive<'a>(&'a self, route: &'a Route) -> impl Iterator<Item = &'a Hop> {
        let is_up = |index| self.link(index).is_some_and(|link| link.is_up);
        route
            .hops
            .iter()
            .filter(move |hop| hop.link.is_none_or(is_up))
    }

    /// The neighbours, by links.
    pub fn neighbours(&self) -> impl Iterator<Item = &Neighbour> {
        self.state.neighbours.values()
    }

    /// The neighbour of this address on this link.
    #[must_use]
    pub fn neighbour(&self, key: &NeighbourKey) -> Option<&Neighbour> {
        self.state.neighbours.get(key)
    }
}
