//! The ports of a generator or a sink: read, checked against each other, opened.

use std::time::{SystemTime, UNIX_EPOCH};

use engine::HEADROOM_BYTES;
use frame::PortId;
use port::{OpenContext, Port, PortSpec};

use crate::args::{GenArgs, SinkArgs};
use crate::error::Error;
use crate::output::Output;
use crate::resolve::ports::{check_rings, check_streams, parse, writes_stdout};
use daemon::Layout;

/// What was typed.
pub(super) struct Ports {
    pub(super) tx: Option<PortSpec>,
    pub(super) rx: Option<PortSpec>,
    /// What reads the capture that is sent.
    pub(super) replay: Option<PortSpec>,
}

/// The same, open.
pub(super) struct Opened {
    pub(super) tx: Option<Box<dyn Port>>,
    pub(super) rx: Option<Box<dyn Port>>,
    pub(super) replay: Option<Box<dyn Port>>,
    pub(super) stride_bytes: u32,
}

impl Ports {
    pub(super) fn of_generator(args: &GenArgs) -> Result<Self, Error> {
        let one = |text: &str| Ok(parse(&[text])?.pop());
        let replay = args.replay.replay.as_ref();
        let ports = Self {
            tx: one(&args.port)?,
            rx: args.sink.as_deref().map_or(Ok(None), one)?,
            replay: replay
                .map(|file| PortSpec::reading(file))
                .transpose()
                .map_err(Error::refused)?,
        };
        ports.check(args.manner.json)?;
        Ok(ports)
    }

    pub(super) fn of_sink(args: &SinkArgs) -> Result<Self, Error> {
        let ports = Self {
            tx: None,
            rx: parse(&[&args.port])?.pop(),
            replay: None,
        };
        ports.check(args.json)?;
        Ok(ports)
    }

    /// All of them, for laying out the workers.
    pub(super) fn specs(&self) -> Vec<PortSpec> {
        self.all().cloned().collect()
    }

    fn all(&self) -> impl Iterator<Item = &PortSpec> {
        self.tx.iter().chain(&self.rx).chain(&self.replay)
    }

    fn check(&self, json: bool) -> Result<(), Error> {
        let all: Vec<PortSpec> = self.all().cloned().collect();
        match (&self.tx, &self.rx) {
            // The two ends of one ring: opening them says what else may be wrong.
            (Some(PortSpec::Ring(tx)), Some(PortSpec::Ring(rx))) if tx.name == rx.name => {}
            _ => check_rings(&all)?,
        }
        check_streams(&all, 0, json)
    }

    /// Whether standard output is taken.
    pub(super) fn write_stdout(&self) -> bool {
        let all: Vec<PortSpec> = self.all().cloned().collect();
        writes_stdout(&all)
    }

    /// Opens them with one context, and says what they want known.
    pub(super) fn open(
        &self,
        layout: &Layout,
        longest: usize,
        seed: u64,
        output: Output,
    ) -> Result<Opened, Error> {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let context = OpenContext {
            seed,
            start_time_ns: u64::try_from(since_1970.as_nanos()).unwrap_or(0),
            ..OpenContext::default()
        };
        let mut id = 0;
        let mut open = |spec: &Option<PortSpec>| {
            let Some(spec) = spec else {
                return Ok(None);
            };
            let port = port::open(spec, PortId(id), &context).map_err(Error::refused)?;
            id += 1;
            port.notes().iter().for_each(|note| output.warn(note));
            Ok(Some(port))
        };
        // What is read is protected before anything is written over it.
        let (tx, rx, replay) = (open(&self.tx)?, open(&self.rx)?, open(&self.replay)?);
        let hints = [&tx, &rx, &replay].into_iter().flatten();
        let longest = hints
            .map(|port| port.frame_bytes_max_hint())
            .fold(longest, usize::max);
        let stride_bytes = layout.stride_bytes(longest);
        check_stride(layout, longest, stride_bytes)?;
        Ok(Opened {
            tx,
            rx,
            replay,
            stride_bytes,
        })
    }
}

/// Frames that fit no chunk would never be made.
fn check_stride(layout: &Layout, longest: usize, stride_bytes: u32) -> Result<(), Error> {
    let needed = longest + HEADROOM_BYTES as usize;
    if layout.stride_asked.is_some() && needed > stride_bytes as usize {
        let least = needed.next_multiple_of(64);
        return Err(Error::refused(format!(
            "--stride {stride_bytes} is too small for these frames: leave it out or give {least} \
             or more"
        )));
    }
    Ok(())
}
