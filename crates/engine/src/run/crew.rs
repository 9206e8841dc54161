//! The workers of a run before it begins: what each has of its own and what all share.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::mem::take;
use std::sync::Arc;

use frame::{Burst, FramePool, Nanos, PortId, QueueId, WorkerId};
use plane::{Bridge, Fragments, Gatherer, HitAddresses, Node, Outbox, Stateful, Verdicts};
use port::Port;

use crate::ahead::Ahead;
use crate::attachment::Attachment;
use crate::counters::Counters;
use crate::dispatch::handover::Handover;
use crate::dispatch::{By, DispatchPolicy, DispatchSettings, StateLinks, Steering};
use crate::exchange::Exchange;
use crate::gathering::{GATHERERS_MAX, Gatherers};
use crate::moves::Kept;
use crate::placement::BucketLoads;
use crate::plan::{EngineError, Plan};
use crate::publish::Publisher;
use crate::reassembly::Reassembly;
use crate::recorded::{Origin, Recorded, by_captures};
use crate::requests::{self, Requester};
use crate::start::begin_queues;
use crate::supervise::Control;
use crate::worker::Worker;

/// What all workers of a run have in common.
pub(super) struct Shared<'a> {
    pub(super) control: &'a Arc<Control>,
    pub(super) lists: &'a Publisher,
    pub(super) handover: &'a Arc<Handover>,
}

/// What one worker is made of.
pub(super) struct Own<N> {
    pub(super) pool: FramePool,
    pub(super) node: N,
    pub(super) loads: BucketLoads,
}

impl Shared<'_> {
    /// One worker a CPU, with its queues ready to receive.
    pub(super) fn make_workers<N: Node>(
        &self,
        plan: &mut Plan,
        own: impl Iterator<Item = Own<N>>,
    ) -> Result<(Vec<Worker<N>>, Vec<Requester>), EngineError> {
        let settings = (plan.dispatch, plan.gathers());
        let mut attachments = attach_ports(&mut plan.ports, plan.cpus.len(), settings)?;
        let receivers = attachments.iter().filter(|worker| receives(worker)).count() as u64;
        if receivers == 0 {
            return Err(EngineError::NoSource);
        }
        let mut sources = plan.ports.iter().filter(|port| port.rx_source());
        let can_wait = sources.all(|port| port.lossless());
        let origin = by_captures(plan, N::DECIDES).then(Origin::unknown);
        let (mut workers, mut requesters) = (Vec::new(), Vec::new());
        let mut receiver = 0;
        let (mut stateful, by) = flows(plan, self.handover)?;
        let gatherers = gatherers(plan);
        // As `stateful`, taken from the end.
        let mut state = StateLinks::mesh(stateful.len());
        for (index, (own, &cpu)) in own.zip(&plan.cpus).enumerate() {
            let id = WorkerId(index as u16);
            let Own { pool, node, loads } = own;
            let attachments = take(&mut attachments[index]);
            let quota = if receives(&attachments) {
                receiver += 1;
                quota(plan.limits.frames, receivers, receiver - 1)
            } else {
                0
            };
            let (requester, requests) = requests::requester(table());
            requesters.push(requester);
            let of = (id, plan.cpus.len());
            workers.push(Worker {
                id,
                cpu,
                pool,
                bridge: Box::new(bridge::<N>(plan, id, stateful.pop())),
                node,
                outbox: outbox::<N>(plan),
                versions: self.lists.reader(),
                would_drop_before: 0,
                attachments,
                steering: Steering::new(of, self.handover, (loads, by), &gatherers),
                state: state.pop().unwrap_or_default(),
                burst_max: plan.burst,
                quota,
                can_wait,
                burst: Box::new(Burst::new()),
                ahead: Ahead::new(),
                pieces: Burst::new(),
                reassembly: reassembly(plan),
                verdicts: Verdicts::new(),
                counters: Counters::new(),
                control: Arc::clone(self.control),
                idle: plan.idle,
                leaves: false,
                requests,
                recorded: origin
                    .as_ref()
                    .map(|origin| Box::new(Recorded::new(origin, plan.ports.len(), N::DECIDES))),
                now: Nanos(0),
                receptions: 0,
                active_until: Nanos(0),
            });
        }
        begin_queues(&mut workers)?;
        Ok((workers, requesters))
    }
}

/// Room for a burst of which each frame leaves by every other port.
fn outbox<N: Node>(plan: &Plan) -> Outbox {
    let copies = if N::DECIDES { plan.ports.len() } else { 0 };
    Outbox::with_room(copies * frame::BURST_MAX)
}

/// What says for a worker which frames may pass.
fn bridge<N: Node>(plan: &Plan, worker: WorkerId, stateful: Option<Box<Stateful>>) -> Bridge {
    let (fragments, gatherer) = followers(plan, worker);
    let bridge = match N::DECIDES {
        true => Bridge::before_node(plan.ports.len(), table()),
        false => Bridge::new([PortId(0), PortId(1)], table()),
    };
    bridge
        .with_stateful(stateful)
        .with_fragments(fragments)
        .with_gatherer(gatherer)
        .with_tunnels(&plan.policy)
}

/// Who gathers fragments, where somebody does.
fn gatherers(plan: &Plan) -> Option<Gatherers> {
    let reassembles = plan.policy.reassembles;
    plan.gathers().then(|| Gatherers::new(reassembles))
}

/// What follows fragments at a worker: by itself where it is alone, else behind what gathers them.
fn followers(plan: &Plan, worker: WorkerId) -> (Option<Box<Fragments>>, Option<Box<Gatherer>>) {
    let Some(limits) = plan.fragments() else {
        return (None, None);
    };
    if plan.policy.reassembles {
        return (None, None);
    }
    if !plan.gathers() {
        return (Some(Box::new(Fragments::new(limits))), None);
    }
    let gatherers = plan.cpus.len().min(usize::from(GATHERERS_MAX));
    let fragments = Fragments::gathered(limits, gatherers);
    let gathers = usize::from(worker.0) < gatherers;
    let gatherer = gathers.then(|| Box::new(Gatherer::new(limits, worker)));
    (Some(Box::new(fragments)), gatherer)
}

/// Packets that a worker puts together, where that is asked for.
fn reassembly(plan: &Plan) -> Option<Box<Reassembly>> {
    let limits = plan.fragments().filter(|_| plan.policy.reassembles)?;
    Some(Box::new(Reassembly::new(limits)))
}

/// What each worker remembers, the last one's first, and what frames are placed by.
fn flows(plan: &Plan, handover: &Handover) -> Result<(Vec<Box<Stateful>>, By), EngineError> {
    let Some(config) = plan.policy.stateful else {
        return Ok((Vec::new(), By::Flow(plan.policy.placing())));
    };
    let owner = |bucket| usize::from(handover.owners.owner(bucket).0);
    let dealt = Stateful::dealt(config, plan.cpus.len(), owner);
    let dealt = dealt.map_err(EngineError::Flows)?;
    let boxed = dealt.into_iter().rev().map(Box::new).collect();
    Ok((boxed, By::TrackedFlow(plan.policy.placing())))
}

/// A table of addresses with a key of its own, drawn from the system's random source by way of
/// std's maps.
fn table() -> Box<HitAddresses> {
    let key = [(); 2].map(|()| RandomState::new().hash_one(()));
    Box::new(HitAddresses::new(key))
}

fn receives(attachments: &[Attachment]) -> bool {
    attachments.iter().any(|attachment| attachment.open)
}

/// A receiver's part of the frames asked for: even parts, the rest to the first ones.
fn quota(frames: Option<u64>, receivers: u64, receiver: u64) -> u64 {
    match frames {
        Some(frames) => frames / receivers + u64::from(receiver < frames % receivers),
        None => u64::MAX,
    }
}

/// The attachments of every worker to every port: one queue a worker as far as the port has them,
/// the rest shared over rings.
fn attach_ports(
    ports: &mut [Box<dyn Port>],
    workers: usize,
    (dispatch, gathers): (DispatchSettings, bool),
) -> Result<Vec<Vec<Attachment>>, EngineError> {
    let mut attachments: Vec<Vec<Attachment>> = (0..workers).map(|_| Vec::new()).collect();
    for port in ports {
        let queues = port.queues_max().clamp(1, workers);
        let (rx, tx) = (port.rx_source(), port.tx_sink());
        let owner = |worker: usize| worker % queues;
        let policy = DispatchPolicy::of_port(dispatch.policy, queues, workers);
        let decided_elsewhere = |from: usize, to: usize| match policy {
            DispatchPolicy::Direct => false,
            DispatchPolicy::Hybrid => from != to,
            DispatchPolicy::Deferred => true,
        };
        let limit = dispatch.ring_limit;
        let mut decisions = Exchange::mesh(workers, limit, |from, to| {
            rx && from < queues && decided_elsewhere(from, to)
        });
        let mut gatherings = Exchange::mesh(workers, limit, |from, to| {
            gathers && rx && from < queues && to < queues && from != to
        });
        let mut transmissions = Exchange::mesh(workers, limit, |from, to| {
            tx && from >= queues && to == owner(from)
        });
        for (place, worker) in attachments.iter_mut().enumerate() {
            let queue = QueueId(place as u16);
            let queue = (place < queues)
                .then(|| port.open_queue(queue, queues))
                .transpose()?;
            worker.push(Attachment {
                port: port.id(),
                open: rx && queue.is_some(),
                empties: false,
                had_nothing: false,
                queue,
                transmits: tx,
                policy,
                queues: queues as u16,
                shared: queues < workers,
                rx_dropped: 0,
                tx_dropped: 0,
                tx_owner: WorkerId(owner(place) as u16),
                staged: Burst::new(),
                kept: Kept::new(rx && policy != DispatchPolicy::Direct && workers > 1),
                decisions: take(&mut decisions[place]),
                gatherings: take(&mut gatherings[place]),
                transmissions: take(&mut transmissions[place]),
            });
        }
    }
    Ok(attachments)
}
