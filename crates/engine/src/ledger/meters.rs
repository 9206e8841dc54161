//! When the counters of interfaces are read, for a run of any kind: on the thread that starts it
//! and on the one that ends it, never on a worker.

use std::thread::sleep;
use std::time::{Duration, Instant};

use frame::PortId;
use port::Port;
use port::interface::{Meter, Reading};

use super::Ledger;
use super::interface::{Around, PortCounts};

/// For how long late counters are waited for: Intel's NICs update theirs every two seconds.
const SETTLE_MAX: Duration = Duration::from_millis(2_500);
/// The first nap between two looks; each is twice as long as the one before, up to a bound.
const NAP_FIRST: Duration = Duration::from_millis(1);
const NAP_MAX: Duration = Duration::from_millis(100);

/// The counters of the interfaces behind a run's ports.
#[derive(Debug, Default)]
pub(crate) struct Meters(Vec<Metered>);

#[derive(Debug)]
struct Metered {
    port: PortId,
    meter: Meter,
    around: Around,
}

impl Metered {
    /// An interface that is not there has no number and no counts.
    fn read(&mut self) -> Reading {
        self.meter.read().unwrap_or_default()
    }
}

impl Meters {
    /// Of ports that are open. Their queues may have begun or not.
    pub(crate) fn of(ports: &[Box<dyn Port>]) -> Self {
        let metered = ports.iter().filter_map(|port| {
            let meter = port.meter()?;
            Some(Metered {
                port: port.id(),
                around: Around {
                    queues: meter.queues(),
                    by_qdisc: meter.is_by_qdisc(),
                    passes_by: meter.passes_by(),
                    ..Around::default()
                },
                meter,
            })
        });
        Self(metered.collect())
    }

    /// Reads before queues begin, or before they are asked what they counted so far.
    pub(crate) fn opened(&mut self) {
        for metered in &mut self.0 {
            metered.around.opened = metered.read();
        }
    }

    /// Reads when all queues have begun, or have been asked.
    pub(crate) fn begun(&mut self) {
        for metered in &mut self.0 {
            metered.around.begun = metered.read();
        }
    }

    /// Keeps counts that the kernel would let run over. To be called now and then.
    pub(crate) fn follow(&mut self) {
        self.0.iter_mut().for_each(|metered| metered.meter.follow());
    }

    /// Reads when workers are done, before queues are closed.
    pub(crate) fn ended(&mut self) {
        for metered in &mut self.0 {
            metered.around.ended = metered.read();
        }
    }

    /// Reads until the ledger that is drawn of it closes, for as long as counters may be late.
    pub(crate) fn settle(&mut self, draw: impl Fn(&Self) -> Ledger) -> Ledger {
        let (started, mut nap) = (Instant::now(), NAP_FIRST);
        loop {
            for metered in &mut self.0 {
                metered.around.last = metered.read();
            }
            let ledger = draw(self);
            if ledger.closes() || self.0.is_empty() || started.elapsed() > SETTLE_MAX {
                return ledger;
            }
            sleep(nap);
            nap = (nap * 2).min(NAP_MAX);
        }
    }

    /// Adds the steps of a port's interface, where it has one.
    pub(crate) fn enter(&self, counts: &PortCounts, ledger: &mut Ledger) {
        let own = self.0.iter().find(|metered| metered.port == counts.id);
        if let Some(own) = own {
            let others = self.0.iter().filter(|other| other.port != counts.id);
            let passed = others.filter(|other| other.around.passes_by);
            let passed = passed.map(|other| other.around.at_the_edges()).sum();
            own.around.enter(counts, passed, ledger);
        }
    }
}
