//! System calls and memory shared with the kernel: the only folder of this crate with `unsafe`.
//!
//! Everything here is small and safe to call; what it means is decided outside.

#![allow(unsafe_code)]

pub(crate) mod ethtool;
pub(crate) mod hardware_stamps;
pub(crate) mod ioctl;
pub(crate) mod memif_bell;
pub(crate) mod memif_memory;
pub(crate) mod memif_socket;
pub(crate) mod packet_ring;
pub(crate) mod packet_send;
pub(crate) mod packet_socket;
pub(crate) mod private_space;
pub(crate) mod ptp_clock;
#[cfg(test)]
pub(crate) mod stamped_frame;
pub(crate) mod tun;
pub(crate) mod xdp_batch;
pub(crate) mod xdp_bpf;
pub(crate) mod xdp_chunks;
pub(crate) mod xdp_maps;
pub(crate) mod xdp_netlink;
pub(crate) mod xdp_pins;
pub(crate) mod xdp_ring;
pub(crate) mod xdp_rings;
pub(crate) mod xdp_run;
pub(crate) mod xdp_socket;
