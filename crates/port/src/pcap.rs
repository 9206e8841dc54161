//! `pcap:`: capture files, read and written.
//!
//! * Reads pcap (micro- and nanoseconds, either byte order) and pcapng, plain or gzip, from files,
//!   pipes and standard input, told by their first bytes. Frames keep their bytes, times and
//!   original lengths exactly. What pcapng says beside frames (comments, names, statistics) is not
//!   carried over.
//! * Packets of other link types that have an EtherType (Linux cooked, raw IP, loopback of BSD) are
//!   made Ethernet frames: each interface of a pcapng by its own link type. What cannot is left out
//!   and counted; a capture of nothing else is refused.
//! * A capture that is cut off or damaged gives what it has and a warning.
//! * Frames may have up to 65,581 bytes. [`Port::frame_bytes_max_hint`] looks ahead: a small file
//!   is read through once for its longest frame, a large one is believed its snap length. What
//!   does not fit a chunk all the same is counted as missed, never cut.
//! * Writes pcap with nanoseconds, or pcapng for a name that ends so; `format=` decides else.
//!   An output is emptied only when the first queue is opened, and never if any port of the run
//!   reads it.

mod blocks;
mod files;
mod findings;
mod gunzip;
mod head;
mod input;
mod interfaces;
mod link;
mod output;
mod queue;
mod reader;
mod record;
mod source;
mod spec;
mod survey;
#[cfg(test)]
mod tests;
mod window;
mod writer;

use frame::{PortId, QueueId};

use files::Direction;
pub use files::OpenFiles;
use input::Input;
use output::Output;
use queue::PcapQueue;
pub(crate) use queue::time_and_len;
pub use reader::CaptureReader;
pub use record::{LeftOut, Record, Step};
use source::Source;
pub(crate) use spec::begins_with_setting;
pub use spec::{CapturePath, Format, Loops, PcapSpec, expect_packing, is_gzip};
pub use writer::CaptureWriter;

use crate::port::check_queue;
use crate::{OpenContext, Port, PortError, PortErrorKind, PortQueue, TimeSource};

/// Capture files as a port.
pub struct PcapPort {
    id: PortId,
    spec: String,
    mode: String,
    frame_bytes_max: usize,
    has_input: bool,
    has_output: bool,
    /// What the one queue is made of; gone once it is given out.
    parts: Option<Parts>,
}

struct Parts {
    input: Option<Input>,
    output: Option<Output>,
    start_time_ns: u64,
}

impl PcapPort {
    /// Opens the files. The output is not emptied yet.
    ///
    /// # Errors
    /// What cannot be opened or read as a capture of Ethernet, or would be overwritten.
    pub fn open(spec: &PcapSpec, id: PortId, context: &OpenContext) -> Result<Self, PortError> {
        let mut frame_bytes_max = 0;
        let mut modes = Vec::new();
        let mut input = None;
        if let Some(path) = &spec.input {
            let reader = CaptureReader::open_in(path, &context.files)?;
            expect_rewind(&reader, spec.loops)?;
            frame_bytes_max = survey::frame_bytes_max(path, &reader);
            modes.push(reader.mode());
            input = Some(Input::new(reader, spec.loops, context.looks_up));
        }
        let mut output = None;
        if let Some((path, format)) = &spec.output {
            output = Some(Output::open(path, *format, &context.files)?);
            modes.push(match format {
                Format::Pcap => "writes pcap (nanosecond)".to_owned(),
                Format::PcapMicro => "writes pcap (microsecond)".to_owned(),
                Format::Pcapng => "writes pcapng (nanosecond)".to_owned(),
            });
        }
        Ok(Self {
            id,
            spec: spec.to_string(),
            mode: modes.join(", "),
            frame_bytes_max,
            has_input: input.is_some(),
            has_output: output.is_some(),
            parts: Some(Parts {
                input,
                output,
                start_time_ns: context.start_time_ns,
            }),
        })
    }
}

fn expect_rewind(reader: &CaptureReader, loops: Loops) -> Result<(), PortError> {
    if loops == Loops::Times(1) || reader.can_rewind() {
        return Ok(());
    }
    let name = reader.name();
    let sentence = format!("{name} is no file that can be read again for loop=; name a file");
    Err(PortError::new(PortErrorKind::Setting, sentence))
}

impl Port for PcapPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        &self.spec
    }

    fn mode(&self) -> String {
        self.mode.clone()
    }

    fn queues_max(&self) -> usize {
        1
    }

    fn lossless(&self) -> bool {
        true
    }

    fn rx_source(&self) -> bool {
        self.has_input
    }

    fn tx_sink(&self) -> bool {
        self.has_output
    }

    fn records(&self) -> bool {
        self.has_output
    }

    fn time_source(&self) -> TimeSource {
        match self.has_input {
            true => TimeSource::Recorded,
            false => TimeSource::default(),
        }
    }

    fn frame_bytes_max_hint(&self) -> usize {
        self.frame_bytes_max
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec, queue, of, self.queues_max())?;
        let Some(Parts {
            input,
            output,
            start_time_ns,
        }) = self.parts.take()
        else {
            let sentence = format!("the queue of {} was given out before", self.spec);
            return Err(PortError::new(PortErrorKind::Queue, sentence));
        };
        let writer = output.map(Output::begin).transpose()?;
        Ok(Box::new(PcapQueue::new(
            self.id,
            queue,
            input,
            writer,
            start_time_ns,
        )))
    }
}
