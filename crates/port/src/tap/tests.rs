//! A tap records what passed, and nothing that did not.

use std::io::Write;
use std::sync::{Arc, Mutex};

use super::*;
use crate::pcap::{CaptureReader, Format, Step};
use crate::tests_support::{Script, expect_whole, pool};

/// A place to write to that can be looked at afterwards.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn read_back(file: &Shared) -> Vec<(u64, Vec<u8>)> {
    let bytes = file.0.lock().unwrap().clone();
    let cursor = Box::new(std::io::Cursor::new(bytes));
    let mut reader = CaptureReader::from_read("tap", cursor).unwrap();
    let mut records = Vec::new();
    while let Step::Record(record) = reader.next() {
        records.push((record.time_ns, record.bytes.to_vec()));
    }
    assert!(reader.warnings().is_empty());
    records
}

#[test]
fn frames_are_recorded_once_however_often_they_are_offered() {
    let file = Shared::default();
    let mut pool = pool(64);
    let mut script = Script::new((0..3).map(|byte| vec![byte; 60]));
    script.tx_max = 2;
    let writer = CaptureWriter::new("tap", Box::new(file.clone()), Format::Pcapng);
    let mut tap = Tap::new(script, writer, 77);
    let mut burst = Burst::new();
    assert_eq!(tap.rx_burst(&mut pool, &mut burst, 10), RxState::Ended);
    assert_eq!(burst.len(), 3);
    tap.tx_burst(&mut burst, &mut pool); // takes two of three
    assert_eq!(burst.len(), 1);
    tap.tx_burst(&mut burst, &mut pool);
    tap.reclaim(&mut pool);
    assert_eq!(tap.finish().unwrap(), Vec::<String>::new());
    let order: Vec<_> = read_back(&file)
        .iter()
        .map(|(time, bytes)| (*time, bytes[0]))
        .collect();
    assert_eq!(
        order,
        [(77, 0), (77, 1), (77, 2), (77, 0), (77, 1), (77, 2)]
    );
    assert_eq!(tap.statistics(), tap.inner.statistics());
    expect_whole(&mut pool, &mut burst);
}

/// A disk that is full from the start.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_stops_the_recording_and_not_the_traffic() {
    let mut pool = pool(64);
    let writer = CaptureWriter::new("tap.pcap", Box::new(Full), Format::Pcap);
    let mut tap = Tap::new(Script::new((0..3).map(|byte| vec![byte; 60])), writer, 0);
    let mut burst = Burst::new();
    tap.rx_burst(&mut pool, &mut burst, 10);
    tap.writer.flush();
    tap.tx_burst(&mut burst, &mut pool);
    assert_eq!(tap.inner.sent.len(), 3);
    assert!(!tap.failed());
    let error = tap.finish().unwrap_err();
    assert!(error.to_string().contains("tap.pcap"), "{error}");
    expect_whole(&mut pool, &mut burst);
}
