//! What the kernel is asked by system calls and shared memory: the only modules of this crate in
//! which `unsafe` may stand. Each gives a safe face to what it does.
#![allow(unsafe_code)]

pub(crate) mod xdp_bpf;
pub(crate) mod xdp_interface;
pub(crate) mod xdp_ring;
pub(crate) mod xdp_rings;
pub(crate) mod xdp_socket;
