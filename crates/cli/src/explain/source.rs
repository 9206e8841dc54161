//! Where frames to be explained come from: typed, or out of a capture.

use std::path::PathBuf;
use std::time::Duration;

use port::pcap::{CapturePath, CaptureReader, Step};

use crate::args::FrameSource;
use crate::error::Error;

/// A frame, and where it was.
pub(super) struct FoundFrame {
    /// As in `frame 3 of a.pcap`.
    pub(super) name: String,
    /// Its number in the capture, the first being 1.
    pub(super) number: u64,
    pub(super) bytes: Vec<u8>,
    /// Bytes it had on the wire.
    pub(super) original_len: usize,
}

/// Frames, one after the other.
pub(super) enum FrameReader {
    Typed(Option<Vec<u8>>),
    Capture {
        reader: Box<CaptureReader>,
        file: PathBuf,
        only: Option<u64>,
        seen: u64,
    },
}

impl FrameReader {
    pub(super) fn open(source: &FrameSource) -> Result<Self, Error> {
        let (file, only) = match source {
            FrameSource::Bytes(bytes) => return Ok(Self::Typed(Some(bytes.clone()))),
            FrameSource::Capture(file, only) => (file.clone(), only.map(u64::from)),
        };
        let path = match file.as_os_str() == "-" {
            true => CapturePath::Stdio,
            false => CapturePath::File(file.clone()),
        };
        let reader = CaptureReader::open(&path).map_err(Error::refused)?;
        Ok(Self::Capture {
            reader: Box::new(reader),
            file,
            only,
            seen: 0,
        })
    }

    /// The next frame that was asked for.
    pub(super) fn next(&mut self) -> Result<Option<FoundFrame>, Error> {
        let (reader, file, only, seen) = match self {
            Self::Typed(bytes) => {
                return Ok(bytes.take().map(|bytes| FoundFrame {
                    name: "frame".to_owned(),
                    number: 1,
                    original_len: bytes.len(),
                    bytes,
                }));
            }
            Self::Capture {
                reader,
                file,
                only,
                seen,
            } => (reader, file, *only, seen),
        };
        if only.is_some_and(|only| *seen >= only) {
            return Ok(None);
        }
        loop {
            let record = match reader.next() {
                Step::Record(record) => record,
                Step::Waiting => {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Step::Ended => return Ok(None),
            };
            *seen += 1;
            if only.is_none_or(|only| only == *seen) {
                return Ok(Some(FoundFrame {
                    name: format!("frame {seen} of {}", file.display()),
                    number: *seen,
                    bytes: record.bytes.to_vec(),
                    original_len: record.original_len as usize,
                }));
            }
        }
    }

    /// Whether the capture could be read, and had the frame that was asked for.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let Self::Capture {
            reader,
            file,
            only,
            seen,
        } = self
        else {
            return Ok(());
        };
        match (reader.failure(), only) {
            (Some(failure), None) => Err(Error::refused(failure)),
            (Some(failure), Some(only)) if seen < only => Err(Error::refused(failure)),
            (_, Some(only)) if seen < only => Err(Error::refused(format!(
                "{} has {seen} frames and number {only} is asked for: choose one of them",
                file.display()
            ))),
            _ => Ok(()),
        }
    }
}
