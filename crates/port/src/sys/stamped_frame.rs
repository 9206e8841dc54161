//! For tests: a frame that the kernel takes for one that a NIC stamped, on an interface that has
//! none. A program that is run for it sends a copy of the frame it is given, stamp and all.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::xdp_bpf::{bpf, bpf_fd};

const PROG_LOAD: c_int = 5;
const PROG_TEST_RUN: c_int = 10;
const PROG_TYPE_CLASSIFIER: u32 = 3;
/// `struct __sk_buff`, and where the stamp is in it.
const CONTEXT_BYTES: usize = 192;
const STAMP_AT: usize = 184;

#[repr(C)]
#[derive(Default)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
    rest: [u64; 6],
}

#[repr(C)]
#[derive(Default)]
struct Run {
    program: u32,
    answer: u32,
    data_in_bytes: u32,
    data_out_bytes: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    context_in_bytes: u32,
    context_out_bytes: u32,
    context_in: u64,
    context_out: u64,
    rest: [u32; 4],
}

/// `bpf_clone_redirect(frame, interface, 0)`, and the end.
fn instructions(interface: u32) -> [[u8; 8]; 5] {
    let [a, b, c, d] = interface.to_ne_bytes();
    [
        [0xb7, 0x02, 0, 0, a, b, c, d],
        [0xb7, 0x03, 0, 0, 0, 0, 0, 0],
        [0x85, 0x00, 0, 0, 13, 0, 0, 0],
        [0xb7, 0x00, 0, 0, 0, 0, 0, 0],
        [0x95, 0x00, 0, 0, 0, 0, 0, 0],
    ]
}

/// Sends frames with a stamp by one interface.
pub(crate) struct StampedFrames(OwnedFd);

impl StampedFrames {
    pub(crate) fn by(interface: u32) -> io::Result<Self> {
        let instructions = instructions(interface);
        let mut load = Load {
            kind: PROG_TYPE_CLASSIFIER,
            count: instructions.len() as u32,
            instructions: instructions.as_ptr().expose_provenance() as u64,
            licence: c"GPL".as_ptr().expose_provenance() as u64,
            ..Load::default()
        };
        // SAFETY: the kernel reads five instructions and a string that ends in zero, borrowed for
        // this call, and writes no log.
        unsafe { bpf_fd(PROG_LOAD, &mut load) }.map(Self)
    }

    pub(crate) fn send(&self, frame: &[u8], stamp: u64) -> io::Result<()> {
        let mut context = [0_u8; CONTEXT_BYTES];
        context[STAMP_AT..].copy_from_slice(&stamp.to_ne_bytes());
        let mut run = Run {
            program: self.0.as_raw_fd() as u32,
            data_in_bytes: frame.len() as u32,
            data_in: frame.as_ptr().expose_provenance() as u64,
            repeat: 1,
            context_in_bytes: context.len() as u32,
            context_in: context.as_ptr().expose_provenance() as u64,
            ..Run::default()
        };
        // SAFETY: the kernel reads the frame and the context, borrowed for this call, and writes
        // neither.
        unsafe { bpf(PROG_TEST_RUN, &mut run) }.map(|_| ())
    }
}
