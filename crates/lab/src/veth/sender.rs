//! The sender: a generator and a port, on a CPU of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};

use engine::{DEFAULT_BURST, HEADROOM_BYTES, pin_to};
use frame::{Burst, CpuId, FramePool, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, Port, PortQueue, PortSpec};

use crate::contest::refused;
use crate::experiment::LabError;

/// Frames in the sender's own hands, beside those that its port holds.
const POOL: u32 = 1024;
const STRIDE_BYTES: u32 = 2112;

/// A thread that sends when it is told to.
pub(super) struct Sender {
    /// Which traffic to send; closed when the thread shall end.
    orders: Option<mpsc::Sender<usize>>,
    sending: Arc<AtomicBool>,
    rested: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
    /// Holds what the port has of its interface.
    _port: Box<dyn Port>,
}

/// What the thread has.
struct Outlet {
    traffics: Vec<Box<dyn PortQueue>>,
    out: Box<dyn PortQueue>,
    pool: FramePool,
    sending: Arc<AtomicBool>,
}

impl Sender {
    /// One that sends by port `out` from `cpu`. `samples` are addresses to draw hits from, a
    /// traffic each; traffic 0 is of random addresses alone.
    pub(super) fn start(
        out: &str,
        cpu: CpuId,
        samples: &[Arc<[u32]>],
        seed: u64,
    ) -> Result<Self, LabError> {
        let mut traffics = vec![traffic(&format!("gen:seed={seed}"), &[].into())?];
        for samples in samples {
            let spec = format!("gen:seed={seed},hit=1");
            traffics.push(traffic(&spec, samples)?);
        }
        let spec = PortSpec::parse(out).map_err(refused)?;
        let mut port = port::open(&spec, PortId(1), &OpenContext::default()).map_err(refused)?;
        let request = PoolRequest {
            frames: POOL + port.frames_held_max(1),
            stride_bytes: STRIDE_BYTES,
            headroom_bytes: HEADROOM_BYTES,
            node: None,
        };
        let (region, mut pools) = Region::with_pools(&[request]).map_err(refused)?;
        port.prepare(region).map_err(refused)?;
        let sending = Arc::new(AtomicBool::new(false));
        let mut pool = pools.remove(0);
        let mut out = port.open_queue(QueueId(0), 1).map_err(refused)?;
        out.begin(&mut pool).map_err(refused)?;
        let outlet = Outlet {
            traffics,
            out,
            pool,
            sending: Arc::clone(&sending),
        };
        let (orders, received) = mpsc::channel();
        let (done, rested) = mpsc::channel();
        let body = move || {
            // Begun or not, the one who waits is told by the end of the channel.
            if pin_to(cpu).is_ok() {
                outlet.run(&received, &done);
            }
        };
        let thread = Builder::new().name("sender".to_owned()).spawn(body);
        Ok(Self {
            orders: Some(orders),
            sending,
            rested,
            thread: Some(thread.map_err(refused)?),
            _port: port,
        })
    }

    /// Begins to send.
    pub(super) fn begin(&self, traffic: usize) -> Result<(), LabError> {
        self.sending.store(true, Ordering::Relaxed);
        let orders = self.orders.as_ref();
        let told = orders.is_some_and(|orders| orders.send(traffic).is_ok());
        told.then_some(()).ok_or_else(lost)
    }

    /// Ends what [`Sender::begin`] began and waits until nothing more is sent.
    pub(super) fn end(&self) -> Result<(), LabError> {
        self.sending.store(false, Ordering::Relaxed);
        self.rested.recv().map_err(|_| lost())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.sending.store(false, Ordering::Relaxed);
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl Outlet {
    fn run(mut self, orders: &mpsc::Receiver<usize>, done: &mpsc::Sender<()>) {
        let mut burst = Burst::new();
        for traffic in orders {
            while self.sending.load(Ordering::Relaxed) {
                let room = DEFAULT_BURST - burst.len().min(DEFAULT_BURST);
                self.traffics[traffic].rx_burst(&mut self.pool, &mut burst, room);
                self.out.tx_burst(&mut burst, &mut self.pool);
                self.out.reclaim(&mut self.pool);
            }
            if done.send(()).is_err() {
                break;
            }
        }
        let _nobody_reads_warnings = self.out.finish();
    }
}

fn traffic(spec: &str, samples: &Arc<[u32]>) -> Result<Box<dyn PortQueue>, LabError> {
    let context = OpenContext {
        samples_v4: Arc::clone(samples),
        ..OpenContext::default()
    };
    let spec = PortSpec::parse(spec).map_err(refused)?;
    let mut port = port::open(&spec, PortId(0), &context).map_err(refused)?;
    port.open_queue(QueueId(0), 1).map_err(refused)
}

fn lost() -> LabError {
    LabError("the sender is lost: its thread has ended or may not run on its CPU".to_owned())
}
