//! What the integration tests share: a folder of their own, a pool, and ports run to their end.

#![allow(dead_code)] // Each test file uses its part.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use frame::{Burst, FramePool, PoolRequest, PortId, QueueId, Region};
use port::pcap::{CapturePath, CaptureReader, CaptureWriter, Format, Step};
use port::{OpenContext, Port, PortError, PortQueue, PortSpec, PortStatistics, RxState};

/// A frame: time, original length, bytes.
pub(crate) type Owned = (u64, u32, Vec<u8>);

/// A folder that is removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("linerate-port-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Chunks for frames of up to 1792 bytes.
pub(crate) fn pool() -> FramePool {
    let request = PoolRequest {
        frames: 512,
        stride_bytes: 1920,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request]).unwrap();
    pools.remove(0)
}

pub(crate) fn open(text: &str, context: &OpenContext) -> Result<Box<dyn Port>, PortError> {
    port::open(&PortSpec::parse(text).unwrap(), PortId(0), context)
}

pub(crate) fn open_queue(text: &str, context: &OpenContext) -> Box<dyn PortQueue> {
    open(text, context)
        .unwrap()
        .open_queue(QueueId(0), 1)
        .unwrap()
}

/// What came of moving all frames of one queue into another.
pub(crate) struct Moved {
    pub(crate) rx: PortStatistics,
    pub(crate) tx: PortStatistics,
    pub(crate) rx_end: Result<Vec<String>, PortError>,
    pub(crate) tx_end: Result<Vec<String>, PortError>,
    /// Frames the output did not take.
    pub(crate) left: usize,
}

/// Moves frames until the input ends or the output fails, and sees that none is lost on the way.
pub(crate) fn move_all(input: &mut dyn PortQueue, output: &mut dyn PortQueue) -> Moved {
    let mut pool = pool();
    let mut burst = Burst::new();
    loop {
        let state = input.rx_burst(&mut pool, &mut burst, 64);
        output.tx_burst(&mut burst, &mut pool);
        output.reclaim(&mut pool);
        if output.failed() || state == RxState::Ended && burst.is_empty() {
            break;
        }
    }
    let left = burst.len();
    pool.free_burst(&mut burst);
    assert_eq!(pool.free_count(), pool.total(), "frames were lost");
    let (rx_end, tx_end) = (input.finish(), output.finish());
    let (rx, tx) = (input.statistics(), output.statistics());
    assert_eq!(rx.rx_frames, tx.tx_frames + left as u64);
    Moved {
        rx,
        tx,
        rx_end,
        tx_end,
        left,
    }
}

/// Moves all frames of one spec into another.
pub(crate) fn run(input: &str, output: &str, context: &OpenContext) -> Moved {
    let mut input = open_queue(input, context);
    let mut output = open_queue(output, context);
    move_all(input.as_mut(), output.as_mut())
}

pub(crate) fn write_capture(path: &Path, format: Format, frames: &[Owned]) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = CaptureWriter::new("test", Box::new(file), format);
    for (time_ns, original_len, bytes) in frames {
        assert!(writer.write(*time_ns, *original_len, bytes));
    }
    writer.finish().unwrap();
}

pub(crate) fn read_capture(path: &Path) -> Vec<Owned> {
    let mut reader = CaptureReader::open(&CapturePath::File(path.into())).unwrap();
    let mut frames = Vec::new();
    while let Step::Record(record) = reader.next() {
        frames.push((record.time_ns, record.original_len, record.bytes.to_vec()));
    }
    assert_eq!(reader.warnings(), Vec::<String>::new());
    frames
}

/// Frames of changing lengths, some snapped, at odd nanoseconds.
pub(crate) fn frames(count: u64) -> Vec<Owned> {
    (0..count)
        .map(|number| {
            let bytes: Vec<u8> = (0..60 + number % 1400)
                .map(|at| (at ^ number) as u8)
                .collect();
            let cut = if number % 5 == 0 { 100 } else { 0 };
            let time_ns = 1_700_000_000_999_999_000 + number * 333;
            (time_ns, bytes.len() as u32 + cut, bytes)
        })
        .collect()
}
