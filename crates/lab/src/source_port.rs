//! A port that brings an experiment's frames into the engine, and takes none.

use frame::{PortId, QueueId};
use port::{OpenContext, Port, PortError, PortQueue, PortSpec};

use crate::contest::refused;
use crate::experiment::LabError;

/// Port 1 of a run, where frames end.
pub(crate) fn null_sink() -> Result<Box<dyn Port>, LabError> {
    let sink = PortSpec::parse("null:").map_err(refused)?;
    port::open(&sink, PortId(1), &OpenContext::default()).map_err(refused)
}

/// Port 0 of a run: what its queues bring, `open` makes.
pub(crate) struct SourcePort<F> {
    pub(crate) spec: &'static str,
    pub(crate) queues: usize,
    /// Bytes of its longest frame, without FCS.
    pub(crate) frame_bytes: usize,
    pub(crate) open: F,
}

impl<F: FnMut(usize) -> Box<dyn PortQueue> + Send> Port for SourcePort<F> {
    fn id(&self) -> PortId {
        PortId(0)
    }

    fn spec(&self) -> &str {
        self.spec
    }

    fn mode(&self) -> String {
        "memory".to_owned()
    }

    fn queues_max(&self) -> usize {
        self.queues
    }

    fn lossless(&self) -> bool {
        true
    }

    fn tx_sink(&self) -> bool {
        false
    }

    fn frame_bytes_max_hint(&self) -> usize {
        self.frame_bytes
    }

    fn open_queue(&mut self, queue: QueueId, _: usize) -> Result<Box<dyn PortQueue>, PortError> {
        Ok((self.open)(usize::from(queue.0)))
    }
}
