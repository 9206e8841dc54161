//! Samples as a stream of the control socket.

use std::sync::Arc;
use std::time::Duration;

use engine::{Sample, SampleReceiver};
use serde_json::value::{RawValue, to_raw_value};

use super::count::Counting;
use super::sample::CapturedFrame;
use crate::rpc::{ErrorKind, Progress, RpcError, Stream};

/// How often it is looked for samples: what a sample waits at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Samples given at once at most, 3 KiB each as JSON.
const TAKE_MAX: usize = 20;

/// Where samples come from: the engine, or a test.
pub trait Source: Send {
    /// A sample if there is one.
    fn try_next(&mut self) -> Option<Sample>;

    /// Whether none will come any more.
    fn is_over(&self) -> bool;
}

impl Source for SampleReceiver {
    fn try_next(&mut self) -> Option<Sample> {
        Self::try_next(self)
    }

    fn is_over(&self) -> bool {
        Self::is_over(self)
    }
}

/// A capture: gives what `source` has, with ports by `port_names`, and counts it.
#[must_use]
pub fn begin(
    source: Box<dyn Source>,
    port_names: Arc<[String]>,
    counting: Arc<Counting>,
) -> Box<dyn Stream> {
    Box::new(CaptureStream {
        source,
        port_names,
        counting,
    })
}

struct CaptureStream {
    source: Box<dyn Source>,
    port_names: Arc<[String]>,
    counting: Arc<Counting>,
}

impl Stream for CaptureStream {
    fn every(&self) -> Duration {
        LOOK_EVERY
    }

    fn take(&mut self, pieces: &mut Vec<Box<RawValue>>) -> Result<Progress, RpcError> {
        // Before the look: what was put in last is not missed.
        let over = self.source.is_over();
        for _ in 0..TAKE_MAX {
            let Some(sample) = self.source.try_next() else {
                return Ok(if over {
                    Progress::Ended
                } else {
                    Progress::Later
                });
            };
            self.counting.add(sample.stands_for);
            let frame = CapturedFrame::of(sample, &self.port_names);
            let piece =
                to_raw_value(&frame).map_err(|error| RpcError::new(ErrorKind::Internal, error))?;
            pieces.push(piece);
        }
        Ok(Progress::More)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frame::PortId;
    use plane::DropReason;
    use std::time::SystemTime;

    /// So many samples, and then the end.
    struct Some(usize);

    impl Source for Some {
        fn try_next(&mut self) -> Option<Sample> {
            self.0 = self.0.checked_sub(1)?;
            Option::Some(Sample {
                time: SystemTime::UNIX_EPOCH + Duration::from_secs(1),
                port: PortId(1),
                reason: Option::Some(DropReason::BlockedSrc),
                sets: Vec::new(),
                original_len: 60,
                bytes: vec![1, 2],
                stands_for: 10,
            })
        }

        fn is_over(&self) -> bool {
            self.0 == 0
        }
    }

    #[test]
    fn all_samples_come_and_are_counted() {
        let names: Arc<[String]> = ["left".to_owned(), "right".to_owned()].into();
        let counting = Arc::new(Counting::default());
        let mut stream = begin(Box::new(Some(45)), names, Arc::clone(&counting));
        let mut pieces = Vec::new();
        let mut turns = 0;
        while stream.take(&mut pieces) != Ok(Progress::Ended) {
            turns += 1;
            assert!(turns < 9, "the stream does not end");
        }
        assert_eq!((pieces.len(), turns), (45, 3));
        let counted = counting.now();
        assert_eq!((counted.samples, counted.frames), (45, 450));
        let first: CapturedFrame = serde_json::from_str(pieces[0].get()).expect("a frame");
        assert_eq!(
            (first.port.as_str(), first.time_ns),
            ("right", 1_000_000_000)
        );
        assert_eq!(first.reason.as_deref(), Option::Some("blocked_src"));
    }
}
