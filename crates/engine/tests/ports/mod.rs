//! A port in memory for tests, whose queues a test makes: what it is, and nothing of what it does.

use frame::{PortId, QueueId};
use port::{Port, PortError, PortQueue, TimeSource};

pub(crate) type Open = dyn FnMut(QueueId, usize) -> Box<dyn PortQueue> + Send;

/// By [`TestPort::new`] one queue, from which frames come and to which they go, without loss.
pub(crate) struct TestPort {
    pub(crate) id: PortId,
    pub(crate) queues_max: usize,
    pub(crate) lossless: bool,
    pub(crate) rx_source: bool,
    pub(crate) tx_sink: bool,
    pub(crate) frame_bytes_max: usize,
    pub(crate) times: TimeSource,
    pub(crate) open: Box<Open>,
}

impl TestPort {
    /// `open` makes the queue of a number, of so many.
    pub(crate) fn new<Q: PortQueue + 'static>(
        id: u8,
        mut open: impl FnMut(QueueId, usize) -> Q + Send + 'static,
    ) -> Self {
        Self {
            id: PortId(id),
            queues_max: 1,
            lossless: true,
            rx_source: true,
            tx_sink: true,
            frame_bytes_max: 60,
            times: TimeSource::default(),
            open: Box::new(move |queue, of| Box::new(open(queue, of))),
        }
    }

    /// Port 1, with so many queues, to which frames go and from which none come.
    #[allow(dead_code, reason = "not every test binary has such a port")]
    pub(crate) fn sink<Q: PortQueue + 'static>(
        queues_max: usize,
        open: impl FnMut(QueueId, usize) -> Q + Send + 'static,
    ) -> Self {
        Self {
            queues_max,
            rx_source: false,
            frame_bytes_max: 0,
            ..Self::new(1, open)
        }
    }
}

impl Port for TestPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        "test:"
    }

    fn mode(&self) -> String {
        "memory".to_owned()
    }

    fn queues_max(&self) -> usize {
        self.queues_max
    }

    fn lossless(&self) -> bool {
        self.lossless
    }

    fn rx_source(&self) -> bool {
        self.rx_source
    }

    fn tx_sink(&self) -> bool {
        self.tx_sink
    }

    fn frame_bytes_max_hint(&self) -> usize {
        self.frame_bytes_max
    }

    fn time_source(&self) -> TimeSource {
        self.times.clone()
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        Ok((self.open)(queue, of))
    }
}
