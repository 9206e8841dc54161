//! What stands behind the policy, and what it does with one frame.

use std::net::IpAddr;
use std::sync::Arc;

use daemon::Stage;
use daemon::router::{PortFacts, route_facts};
use daemon::rpc::answers::RouteFacts;
use daemon::switch::PortNames;
use frame::{Burst, FramePool, Nanos, PortId};
use plane::router::{Router, RouterConfig, RouterTable};
use plane::switch::{Switch, SwitchTable};
use plane::{
    Bridge, Forwarding, HitAddresses, Links, Node, Origin, Outbox, Policy, Verdict, Verdicts,
};
use port::PortSpec;
use port::interface::Interface;
use wire::MacAddress;

use crate::error::Error;
use crate::resolve::BridgeSettings;

/// When a frame comes in: after the start, so that what is timed from zero is not due.
const NOW: Nanos = Nanos(1_000_000_000);

/// Nobody chooses addresses against a table that sees one frame.
const TABLE_KEY: [u64; 2] = [1, 2];

/// What decides where frames leave. It is at its start for each frame: it knows what is written
/// down, and has learned nothing.
pub(super) enum Behind {
    /// A bridge of two ports, of which nothing more is to say.
    Pair,
    Switch(Arc<SwitchTable>, PortNames),
    Router(Arc<RouterTable>, PortNames),
}

/// A frame on its way out.
pub(super) struct Leaving {
    pub(super) port: String,
    pub(super) what: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// What became of a frame.
pub(super) struct Fate {
    pub(super) verdict: Verdict,
    pub(super) leaving: Vec<Leaving>,
}

impl Behind {
    /// That of a switch or router whose ports are not open. What it takes from an interface, as
    /// its Ethernet address and MTU, is that of the interface now.
    pub(super) fn of(settings: &BridgeSettings, names: PortNames) -> Result<Self, Error> {
        Ok(match &settings.stage {
            Stage::Pair => Self::Pair,
            Stage::Switch(table) => Self::Switch(Arc::clone(table), names),
            Stage::Router(router) => {
                let facts: Vec<PortFacts> = settings.ports.iter().map(facts_of).collect();
                let config = RouterConfig {
                    announces: false,
                    ..router.config(&facts)
                };
                let table = RouterTable::new(config).map_err(Error::refused)?;
                Self::Router(Arc::new(table), names)
            }
        })
    }

    fn names(&self) -> Option<&PortNames> {
        match self {
            Self::Pair => None,
            Self::Switch(_, names) | Self::Router(_, names) => Some(names),
        }
    }

    /// The route to an address, of a router that has one for frames like this.
    pub(super) fn route(
        &self,
        (from, bytes): (PortId, &[u8]),
        to: Option<IpAddr>,
    ) -> Option<RouteFacts> {
        match (self, to) {
            (Self::Router(table, _), Some(to)) => {
                let route = table
                    .book(table.vrf_of_frame(from, bytes).unwrap_or_default())?
                    .route_to(to)?;
                Some(route_facts(route, table))
            }
            _ => None,
        }
    }

    /// The policy's stage in front of it.
    pub(super) fn bridge(&self, policy: &Policy) -> Bridge {
        let addresses = Box::new(HitAddresses::new([0, 0]));
        let bridge = match self.names() {
            None => Bridge::new([PortId(0), PortId(1)], addresses),
            Some(names) => Bridge::before_node(names.len(), addresses),
        };
        bridge.with_tunnels(policy)
    }

    /// What becomes of the frame in the burst, on which the policy gave its verdict.
    pub(super) fn fate(
        &self,
        from: PortId,
        burst: &mut Burst,
        verdicts: Verdicts,
        pool: &mut FramePool,
    ) -> Result<Option<Fate>, Error> {
        let Some(names) = self.names() else {
            return Ok(None);
        };
        let through = Through { from, names, pool };
        Ok(match self {
            Self::Pair => None,
            Self::Switch(table, _) => {
                let switch = Switch::new(Arc::clone(table), TABLE_KEY, Links::alone());
                through.run(switch.map_err(Error::refused)?, burst, verdicts)
            }
            Self::Router(table, _) => {
                let router = Router::new(Arc::clone(table), TABLE_KEY, Links::alone());
                through.run(router.map_err(Error::refused)?, burst, verdicts)
            }
        })
    }
}

fn facts_of(port: &PortSpec) -> PortFacts {
    let interface = port.interface().map(Interface::named).and_then(Result::ok);
    let mac = interface
        .as_ref()
        .and_then(|one| one.hardware_address().ok());
    PortFacts {
        mac: mac.map(|(_, mac)| MacAddress(mac)),
        mtu: interface.and_then(|one| one.mtu().ok()),
    }
}

/// One frame's way through a node.
struct Through<'a> {
    from: PortId,
    names: &'a PortNames,
    pool: &'a mut FramePool,
}

impl Through<'_> {
    fn run<N: Node>(self, mut node: N, burst: &mut Burst, mut verdicts: Verdicts) -> Option<Fate> {
        let mut out = Outbox::with_room(self.names.len() * frame::BURST_MAX);
        let mut cx = Forwarding {
            from: self.from,
            now: NOW,
            pool: &mut *self.pool,
            out: &mut out,
        };
        node.process(&mut cx, burst, &mut verdicts);
        node.poll(&mut cx);
        let verdict = *verdicts.as_slice().first()?;
        let mut leaving = Vec::new();
        if let (Verdict::Forward(to), Some(frame)) = (verdict, burst.frames().first()) {
            leaving.push(self.leaving(to, "the frame", frame.bytes()));
        }
        for outgoing in out.drain() {
            if let Verdict::Forward(to) = outgoing.verdict {
                let what = match outgoing.origin {
                    Origin::Copy => "a copy",
                    Origin::Made => "a new frame",
                    Origin::Held => "a frame that waited",
                };
                leaving.push(self.leaving(to, what, outgoing.frame.bytes()));
            }
            self.pool.free(outgoing.frame);
        }
        node.give_up(self.pool);
        Some(Fate { verdict, leaving })
    }

    fn leaving(&self, to: PortId, what: &'static str, bytes: &[u8]) -> Leaving {
        Leaving {
            port: self.names.shown(to),
            what,
            bytes: bytes.to_vec(),
        }
    }
}
