//! A namespace's routing: links, addresses, routes and neighbours, mirrored.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use netdev::routing::{MAIN_TABLE, Options, Watcher};
//!
//! # fn main() -> std::io::Result<()> {
//! let mut watcher = Watcher::open(&Options::default())?;
//! let mut changes = Vec::new();
//! watcher.complete(Duration::from_secs(10), &mut changes)?;
//! for (key, route) in watcher.mirror().routes_in_force(MAIN_TABLE) {
//!     println!("{} metric {}: {:?} {:?}", key.prefix, key.metric, route.kind, route.hops);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Changes name what is not as it was; what it is now, the mirror has. Whoever forwards looks the
//! prefix up with [`Mirror::route_in_force`], and its hops anew when one of their links changes
//! ([`Mirror::hops_alive`]).

mod address;
mod attributes;
mod fault;
mod link;
mod message;
mod mirror;
mod neighbour;
mod next_hop;
mod resolver;
mod route;
mod route_message;
mod routes;
mod socket;
mod state;
mod watcher;

pub use address::{Address, AddressKey};
pub use fault::{Fault, Reason};
pub use link::{Link, LinkKind};
pub use mirror::Mirror;
pub use neighbour::{Neighbour, NeighbourKey, NeighbourState};
pub use resolver::Resolver;
pub use route::{Hop, LOCAL_TABLE, MAIN_TABLE, Prefix, Route, RouteKey, RouteKind, Unsupported};
pub use watcher::{Options, Watcher};

use message::Update;

/// Which routes are mirrored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableChoice {
    /// Those of all tables.
    #[default]
    All,
    /// Those of this table alone.
    One(u32),
}

impl TableChoice {
    fn includes(self, update: &Update) -> bool {
        match (self, update) {
            (Self::One(table), Update::Route(placed, _) | Update::RouteGone(placed)) => {
                placed.key.table == table
            }
            _ => true,
        }
    }
}

/// Something is not what it was; what it is now, the mirror has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The link of this number is new, other than before, or gone.
    Link(u32),
    /// This address is.
    Address(AddressKey),
    /// One of the routes to this prefix in this table is. It may be one that is not in force.
    Route {
        /// The number of the table.
        table: u32,
        /// The prefix.
        prefix: Prefix,
    },
    /// This neighbour is.
    Neighbour(NeighbourKey),
    /// The kernel said something that cannot be read, and that is left out.
    Unreadable(Fault),
}

impl Change {
    fn of(key: &RouteKey) -> Self {
        Self::Route {
            table: key.table,
            prefix: key.prefix,
        }
    }
}
