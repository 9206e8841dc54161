//! Sees what becomes of frames that are redirected: programs (`bpf/sent.bpf.c`) at the kernel's two
//! tracepoints that tell of it. What is lost between the redirection and the other end's ring is
//! said nowhere else: the run that sends succeeds.

use std::ffi::CStr;
use std::io;

use super::object::{Named, Object};
use crate::sys::xdp_bpf::{Program, Tracepoint};
use crate::sys::xdp_maps::Map;

const OBJECT: &[u8] = include_bytes!("../../../../bpf/sent.bpf.o");

/// The name that `bpftool` shows.
const NAME: &str = "linerate_sent";

/// The sections of the object, and the tracepoint that each is for.
const PLACES: [(&str, &CStr); 2] = [
    ("raw_tp/xdp_redirect_err", c"xdp_redirect_err"),
    ("raw_tp/xdp_devmap_xmit", c"xdp_devmap_xmit"),
];

/// Both programs at work, until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Witness {
    _tracepoints: [Tracepoint; 2],
}

impl Witness {
    /// Writes down in `batches` what becomes of each one's frames, by what the program that sends
    /// left in `running`.
    ///
    /// # Errors
    /// No right to it (CAP_PERFMON), or a kernel without these tracepoints.
    pub(super) fn call(batches: &Map, running: &Map) -> io::Result<Self> {
        let [refused, given] = PLACES.map(|(section, tracepoint)| {
            let broken = || io::Error::from(io::ErrorKind::InvalidData);
            let named = |name: &str| match name {
                "batches" => Some(Named::Map(batches.raw_fd())),
                "running" => Some(Named::Map(running.raw_fd())),
                _ => None,
            };
            let object = Object::of_section(OBJECT, section).ok_or_else(broken)?;
            let linked = object.linked(named, |_| None).ok_or_else(broken)?;
            let program = Program::load_watcher(NAME, &linked, &object.licence);
            let program = program.map_err(|(error, said)| match said.is_empty() {
                true => error,
                false => io::Error::new(error.kind(), format!("{error} ({said})")),
            })?;
            program.watch(tracepoint)
        });
        Ok(Self {
            _tracepoints: [refused?, given?],
        })
    }
}
