//! `ring:NAME`: two ports of one process, joined by memory rings. Frames move by pointer.
//!
//! The first port opened under a name is end `a`, the second end `b` (or as `end=` says). Queue `q`
//! of one end is joined to queue `q` of the other by one ring each way. The record beside a frame
//! travels with it as it is. An end has ended when the other has finished
//! and its ring is empty.

mod pipe;
mod queue;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use frame::{PortId, QueueId};

use pipe::Pipe;
pub use pipe::Rings;
use queue::RingQueue;
pub use spec::{RingEnd, RingSpec};

use crate::port::check_queue;
use crate::{OpenContext, Port, PortError, PortQueue};

/// Most queues of a ring port: one for each worker there can be.
const QUEUES_MAX: usize = 256;

/// One end of a memory ring.
pub struct RingPort {
    id: PortId,
    spec: String,
    end: RingEnd,
    pipe: Arc<Pipe>,
}

impl RingPort {
    /// Takes an end of the ring of that name, which comes to be with its first end.
    ///
    /// # Errors
    /// The end is taken, or both are; the other end asked for another capacity.
    pub fn open(spec: &RingSpec, id: PortId, context: &OpenContext) -> Result<Self, PortError> {
        let (end, pipe) = context.rings.take_end(spec)?;
        let spec = RingSpec {
            end: Some(end),
            ..spec.clone()
        }
        .to_string();
        Ok(Self {
            id,
            spec,
            end,
            pipe,
        })
    }
}

impl Port for RingPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        &self.spec
    }

    fn mode(&self) -> String {
        "memory".to_owned()
    }

    fn queues_max(&self) -> usize {
        QUEUES_MAX
    }

    /// A full ring makes its sender wait.
    fn lossless(&self) -> bool {
        true
    }

    /// Frames come in the chunks of another pool, so that they need none of their own.
    fn frame_bytes_max_hint(&self) -> usize {
        0
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec, queue, of, self.queues_max())?;
        let half = self.pipe.take_queue(self.end, queue, of, &self.spec)?;
        Ok(Box::new(RingQueue::new(half)))
    }
}
