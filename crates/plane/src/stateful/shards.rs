//! Flows dealt out to several workers, by bucket, and the log of each.

use frame::Consumer;
use table::CompileError;
use table::flows::Shard;
use wire::toeplitz::{Key, Toeplitz};

use super::log::FlowLog;
use super::{FLOW_BUCKETS, FlowRecord, Stateful, StatefulConfig};

/// The flows of one bucket: what goes from worker to worker.
#[derive(Debug)]
pub struct Shards {
    v4: Box<Shard<u32>>,
    v6: Box<Shard<u128>>,
}

impl Stateful {
    pub(super) fn with_log(mut self) -> Self {
        if let Some(config) = self.config.log {
            for log in [&mut self.v4.log, &mut self.v6.log] {
                let (writer, reader) = FlowLog::new(config);
                *log = Some(Box::new(writer));
                self.readers.push(reader);
            }
        }
        self
    }

    /// The reading ends of the log; none where nothing is written down, or they were taken.
    pub fn take_readers(&mut self) -> Vec<Consumer<FlowRecord>> {
        std::mem::take(&mut self.readers)
    }

    /// Writes down what goes on at the end of a run. `wait` is called while the log is full, and
    /// says whether to go on waiting.
    pub fn write_last(&mut self, mut wait: impl FnMut() -> bool) {
        self.v4.write_last(self.now, &mut wait);
        self.v6.write_last(self.now, &mut wait);
    }

    /// Records written down, and those that found no room.
    #[must_use]
    pub fn log_counts(&self) -> (u64, u64) {
        let counts = |log: &FlowLog| (log.written, log.lost);
        let both = [&self.v4.log, &self.v6.log].map(|log| log.as_deref().map_or((0, 0), counts));
        (both[0].0 + both[1].0, both[0].1 + both[1].1)
    }

    /// One for each of `workers`, with the buckets that are `owner`'s, all in the memory of one.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn dealt(
        config: StatefulConfig,
        workers: usize,
        owner: impl Fn(u16) -> usize,
    ) -> Result<Vec<Self>, CompileError> {
        let mut all = vec![Self::new(config)?];
        all[0].shared = workers > 1;
        for _ in 1..workers {
            all.push(all[0].sibling());
        }
        for bucket in 0..FLOW_BUCKETS {
            let to = owner(bucket);
            if (1..workers).contains(&to)
                && let Some(shards) = all[0].take_bucket(bucket)
            {
                all[to].put_bucket(bucket, shards);
            }
        }
        Ok(all)
    }

    /// Another worker's, without a bucket yet.
    fn sibling(&self) -> Self {
        Self {
            config: self.config,
            hash: Toeplitz::new(&Key::SYMMETRIC),
            now: self.now,
            shared: true,
            v4: self.v4.sibling(),
            v6: self.v6.sibling(),
            readers: Vec::new(),
        }
        .with_log()
    }

    /// Gives a bucket away, with all its flows; none where it is not here.
    pub fn take_bucket(&mut self, bucket: u16) -> Option<Shards> {
        let v4 = self.v4.table.take_bucket(bucket)?;
        let v6 = self.v6.table.take_bucket(bucket)?;
        Some(Shards { v4, v6 })
    }

    /// Takes over what another worker's [`Stateful::take_bucket`] gave.
    pub fn put_bucket(&mut self, bucket: u16, shards: Shards) {
        let v4 = self.v4.table.put_bucket(bucket, shards.v4);
        let v6 = self.v6.table.put_bucket(bucket, shards.v6);
        debug_assert!(v4.is_none() && v6.is_none(), "bucket {bucket} was here");
    }
}
