//! From arguments to a host and what it runs on.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use daemon::Layout;
use engine::placement::{BUCKETS_MIN, Indirection};
use engine::{DispatchPolicy, DispatchSettings, Limits, Plan};
use frame::PortId;
use plane::host::{Host, HostConfig, HostPort, QueryShape, RoleConfig, Share};
use plane::{Otherwise, Policy};
use port::interface::Claims;
use port::{OpenContext, Port, PortSpec};
use table::CompiledLists;
use wire::MacAddress;

use crate::args::{HostRunArgs, OwnAddress};
use crate::error::Error;
use crate::resolve::ports;

/// The Ethernet address of a host whose port has none.
const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
/// The MTU where a port has none.
const MTU: u32 = 1500;

/// What is to be run.
pub(super) struct HostSpec<'a> {
    pub(super) port: &'a str,
    pub(super) own: &'a [OwnAddress],
    pub(super) role: RoleConfig,
    /// What is asked and answered by TCP.
    pub(super) query: QueryShape,
    pub(super) run: &'a HostRunArgs,
}

impl HostSpec<'_> {
    /// Opens the port and makes the host, a part for each worker. `look` sees the layout before.
    pub(super) fn open(&self, look: impl FnOnce(&Layout)) -> Result<(Plan, Vec<Host>), Error> {
        let specs = ports::parse(&[self.port])?;
        check(&specs)?;
        let layout = self.run.workers.layout(&specs)?;
        self.check_workers(layout.cpus.len())?;
        look(&layout);
        let context = OpenContext {
            interfaces: Claims::of_bridge(),
            ..OpenContext::default()
        };
        let opened = specs
            .iter()
            .map(|spec| port::open(spec, PortId(0), &context).map_err(Error::refused));
        let ports = opened.collect::<Result<Vec<_>, _>>()?;
        let hosts = self.hosts(&ports, layout.cpus.len())?;
        let stride_bytes = layout.stride_for(&specs, &ports).map_err(Error::refused)?;
        let plan = Plan {
            ports,
            policy: policy()?,
            lists: Arc::new(CompiledLists::compile(&[]).map_err(Error::refused)?),
            cpus: layout.cpus.clone(),
            burst: layout.burst,
            stride_bytes,
            pool_frames: layout.pool_frames_at(stride_bytes),
            dispatch: dispatch(layout.cpus.len()),
            idle: self.run.idle.into(),
            limits: Limits {
                duration: self.run.duration,
                frames: None,
            },
        };
        Ok((plan, hosts))
    }

    fn check_workers(&self, workers: usize) -> Result<(), Error> {
        if workers == 1 || !matches!(self.role, RoleConfig::Udp(_)) {
            return Ok(());
        }
        Err(Error::refused(format!(
            "a UDP socket is one worker's, and there are {workers} workers: leave out --workers \
             and name one CPU"
        )))
    }

    /// The parts of the host that so many workers have.
    fn hosts(&self, ports: &[Box<dyn Port>], workers: usize) -> Result<Vec<Host>, Error> {
        let config = self.config(ports)?;
        let key = [(); 2].map(|()| RandomState::new().hash_one(()));
        let workers = u16::try_from(workers).unwrap_or(u16::MAX);
        let (_, owners) = Indirection::dealt(BUCKETS_MIN, workers).owners().copy();
        let shares = Share::of_workers(workers, &owners).into_iter();
        shares
            .map(|share| Host::of_worker(config.clone(), key, share).map_err(Error::refused))
            .collect()
    }

    fn config(&self, ports: &[Box<dyn Port>]) -> Result<HostConfig, Error> {
        let ports = ports.iter().map(|port| self.host_port(&**port));
        Ok(HostConfig {
            ports: ports.collect::<Result<_, _>>()?,
            role: self.role,
            query: self.query.clone(),
        })
    }

    fn host_port(&self, port: &dyn Port) -> Result<HostPort, Error> {
        let identity = port.identity();
        let mtu = port.mtu().unwrap_or(MTU);
        let own = HostPort {
            mac: identity.as_ref().and_then(|own| own.mac).unwrap_or(MAC),
            mtu: u16::try_from(mtu).unwrap_or(u16::MAX),
            own: self.own.iter().map(|one| one.own).collect(),
            on_link: self.own.iter().filter_map(|one| one.on_link).collect(),
            gateway: self.run.gateway,
        };
        let of_kernel = identity.filter(|identity| identity.host_answers);
        let mut of_kernel = of_kernel.into_iter().flat_map(|own| own.addresses);
        match of_kernel.find(|address| own.owns(*address)) {
            Some(address) => Err(Error::refused(format!(
                "the kernel has {address} on {} and would answer for it, too: take it off there or \
                 choose another address",
                port.spec()
            ))),
            None => Ok(own),
        }
    }
}

/// A connection is the worker's that has its bucket, and buckets stay where they are.
fn dispatch(workers: usize) -> DispatchSettings {
    DispatchSettings {
        policy: (workers > 1).then_some(DispatchPolicy::Hybrid),
        balance: false,
        ..DispatchSettings::default()
    }
}

/// A host talks: a port that only gives or takes is no place for it.
fn check(specs: &[PortSpec]) -> Result<(), Error> {
    ports::check_rings(specs)?;
    let one_way = specs
        .iter()
        .find(|spec| matches!(spec, PortSpec::Gen(_) | PortSpec::Null | PortSpec::Pcap(_)));
    match one_way {
        Some(spec) => Err(Error::refused(format!(
            "nobody answers at {spec}: a host needs a port with stations behind it, as packet:eth1"
        ))),
        None => Ok(()),
    }
}

/// Everything reaches the host, which judges by itself.
fn policy() -> Result<Policy, Error> {
    let mut policy = Policy::new(Vec::new()).map_err(Error::refused)?;
    policy.malformed = Otherwise::Forward;
    Ok(policy)
}
