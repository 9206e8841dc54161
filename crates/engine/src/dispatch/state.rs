//! The way of a bucket's flows to its next worker: rings beside those of frames.

use frame::{Consumer, Producer, WorkerId};
use plane::{FLOW_BUCKETS, Shards};

use super::BUCKETS;

const _: () = assert!(BUCKETS == FLOW_BUCKETS as usize);

type Parcel = (u16, Shards);

/// One worker's ends. None where nothing is remembered, or nobody else is there.
#[derive(Default)]
pub(crate) struct StateLinks {
    /// By the other worker's number.
    outlets: Vec<Producer<Parcel>>,
    inlets: Vec<Consumer<Parcel>>,
}

impl StateLinks {
    /// A ring from each of `workers` to each, itself among them, with room for every bucket: one
    /// version of the table is followed at a time, and a bucket moves once in it. The last worker's
    /// come first.
    pub(crate) fn mesh(workers: usize) -> Vec<Self> {
        let mut mesh: Vec<Self> = (0..workers).map(|_| Self::default()).collect();
        for from in 0..workers {
            for to in 0..workers {
                let (outlet, inlet) = frame::ring(BUCKETS);
                mesh[from].outlets.push(outlet);
                mesh[to].inlets.push(inlet);
            }
        }
        mesh.reverse();
        mesh
    }

    /// Sends what a bucket holds. The receiver sees it when it sees that this worker has drained.
    pub(crate) fn send(&mut self, to: WorkerId, bucket: u16, shards: Shards) {
        let outlet = self.outlets.get_mut(usize::from(to.0));
        let sent = outlet.is_some_and(|outlet| outlet.push((bucket, shards)).is_ok());
        debug_assert!(sent, "bucket {bucket} had no way to worker {to}");
    }

    /// Takes what has come.
    pub(crate) fn receive(&mut self, mut each: impl FnMut(u16, Shards)) {
        for inlet in &mut self.inlets {
            while let Some((bucket, shards)) = inlet.pop() {
                each(bucket, shards);
            }
        }
    }
}
