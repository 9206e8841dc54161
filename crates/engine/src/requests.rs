//! What the control side has a worker do now and then, and what comes back: tables and samplers are
//! given and taken over two rings, so that a worker neither waits nor allocates nor frees.

use std::any::Any;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};

use frame::{Consumer, PortId, Producer, ring};
use plane::{Bridge, HitAddresses, LinkDown, Node, Ports};

use crate::samples::Sampler;

/// Captures at a time.
pub(crate) const SAMPLERS_MAX: usize = 4;

/// Requests to a worker's node at a time.
const NODE_REQUESTS_MAX: usize = 4;

/// Room in either ring: a table, requests to the node, and each sampler there and back.
const ERRANDS_MAX: usize = 1 + NODE_REQUESTS_MAX + 2 * SAMPLERS_MAX;

/// A request to a node; the answer is written into it.
pub(crate) type NodeRequest = Box<dyn Any + Send>;

/// Either way.
pub(crate) enum Errand {
    /// To: count in this from now on. Back: what was counted before.
    Addresses(Box<HitAddresses>),
    /// To: take samples. Back: nobody wants them any more.
    Sampler(Sampler),
    /// To: have the node carry this out. Back: with the answer, for whoever asked.
    Node(NodeRequest, Sender<NodeRequest>),
}

/// A worker's end.
pub(crate) struct Requests {
    given: Consumer<Errand>,
    done: Producer<Errand>,
    /// Never more than [`SAMPLERS_MAX`].
    pub(crate) samplers: Vec<Sampler>,
}

/// The control side's end.
pub(crate) struct Requester {
    give: Producer<Errand>,
    back: Consumer<Errand>,
    /// A table that is not with the worker.
    spare: Option<Box<HitAddresses>>,
    /// Tables that were given to the worker, and that came back.
    asked: u64,
    came: u64,
    /// Samplers that are with the worker.
    samplers: usize,
    /// Requests to the node that are with the worker.
    node_requests: usize,
    /// Ports whose link went down, which the node is not told yet.
    down: Ports,
}

/// The ends for one worker, which has a table already; `spare` is another.
pub(crate) fn requester(spare: Box<HitAddresses>) -> (Requester, Requests) {
    let (give, given) = ring(ERRANDS_MAX);
    let (done, back) = ring(ERRANDS_MAX);
    let requester = Requester {
        give,
        back,
        spare: Some(spare),
        asked: 0,
        came: 0,
        samplers: 0,
        node_requests: 0,
        down: Ports::NONE,
    };
    let requests = Requests {
        given,
        done,
        samplers: Vec::with_capacity(SAMPLERS_MAX),
    };
    (requester, requests)
}

impl Requests {
    /// Does what was given since the last call: a few moves, nothing in most calls.
    pub(crate) fn attend(&mut self, bridge: &mut Bridge, node: &mut impl Node) {
        while self.done.free_slots() > SAMPLERS_MAX {
            match self.given.pop() {
                Some(Errand::Addresses(next)) => {
                    let before = bridge.swap_addresses(next);
                    let _room = self.done.push(Errand::Addresses(before));
                }
                Some(Errand::Sampler(sampler)) => self.samplers.push(sampler),
                Some(Errand::Node(mut request, answer)) => {
                    node.control(&mut *request);
                    let _room = self.done.push(Errand::Node(request, answer));
                }
                None => break,
            }
        }
        let mut place = 0;
        while place < self.samplers.len() {
            if self.samplers[place].is_over() && self.done.free_slots() != 0 {
                let _room = self
                    .done
                    .push(Errand::Sampler(self.samplers.swap_remove(place)));
            } else {
                place += 1;
            }
        }
    }
}

impl Requester {
    /// Has the node told that the link of a port went down.
    pub(crate) fn link_down(&mut self, port: PortId) {
        self.down = self.down.with(port);
        self.tell_down();
    }

    /// Tells the node what waited for room.
    fn tell_down(&mut self) {
        for port in self.down.iter() {
            // Nobody waits for the answer.
            let (answer, _) = mpsc::channel();
            if !self.ask_node(Box::new(LinkDown(port)), answer) {
                return;
            }
            self.down = self.down.without(port);
        }
    }

    /// Takes what came back: a table with what was counted in it, if there is one.
    pub(crate) fn collect(&mut self) -> Option<&mut HitAddresses> {
        let mut counted = false;
        while let Some(errand) = self.back.pop() {
            match errand {
                Errand::Addresses(table) => {
                    self.spare = Some(table);
                    self.came += 1;
                    counted = true;
                }
                Errand::Sampler(_over) => self.samplers -= 1,
                Errand::Node(request, answer) => {
                    self.node_requests -= 1;
                    // Who asked may have given up.
                    let _ = answer.send(request);
                }
            }
        }
        self.tell_down();
        self.spare.as_deref_mut().filter(|_| counted)
    }

    /// Asks for what was counted, against an empty table; not if the last one is still out.
    pub(crate) fn ask_for_addresses(&mut self) {
        if let Some(mut table) = self.spare.take() {
            table.clear();
            match self.give.push(Errand::Addresses(table)) {
                Ok(()) => self.asked += 1,
                Err(Errand::Addresses(table)) => self.spare = Some(table),
                Err(_) => {}
            }
        }
    }

    /// The number of the next table that is asked for: with it comes all that was counted up to
    /// now.
    pub(crate) fn next_table(&self) -> u64 {
        self.asked + 1
    }

    /// Whether the table of that number came back; asks for it where that was not done yet.
    pub(crate) fn has_come(&mut self, number: u64) -> bool {
        if self.asked < number {
            self.ask_for_addresses();
        }
        self.came >= number
    }

    /// Whether the worker can be given one more sampler.
    pub(crate) fn has_room(&mut self) -> bool {
        self.samplers < SAMPLERS_MAX && self.give.free_slots() > 1
    }

    /// Has the worker's node carry out a request, which comes back by `answer`; false if too many
    /// are with it.
    pub(crate) fn ask_node(&mut self, request: NodeRequest, answer: Sender<NodeRequest>) -> bool {
        let has_room = self.node_requests < NODE_REQUESTS_MAX && self.give.free_slots() > 1;
        let given = has_room && self.give.push(Errand::Node(request, answer)).is_ok();
        self.node_requests += usize::from(given);
        given
    }

    /// Gives the worker a sampler; only where it has room.
    pub(crate) fn give_sampler(&mut self, sampler: Sampler) {
        if self.give.push(Errand::Sampler(sampler)).is_ok() {
            self.samplers += 1;
        }
    }
}

/// The desks of all workers, for whoever needs them on the control side.
pub(crate) struct Requesters(Mutex<Vec<Requester>>);

impl Requesters {
    pub(crate) fn new(requesters: Vec<Requester>) -> Self {
        Self(Mutex::new(requesters))
    }

    /// Held for some pushes and pops.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Requester>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
