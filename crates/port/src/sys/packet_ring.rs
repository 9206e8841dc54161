//! The receive ring of a packet socket: TPACKET_V3, blocks of frames behind one another
//! (Documentation/networking/packet_mmap.rst).
//!
//! ```text
//!        kernel fills          ours            kernel may fill
//!  +----------------+----------------+----------------+----------------+
//!  | block          | block          | block          | block          |
//!  +----------------+----------------+----------------+----------------+
//!                    ^ current        block_status: USER until we set it to KERNEL
//! ```
//!
//! A block belongs to us exactly while its `block_status` has TP_STATUS_USER; the kernel sets it
//! last, with a release, and takes the block again only when we have set it to TP_STATUS_KERNEL.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{
    TP_STATUS_KERNEL, TP_STATUS_USER, sockaddr_ll, tpacket_block_desc, tpacket_hdr_v1,
    tpacket_req3, tpacket3_hdr,
};

use super::packet_socket::PacketSocket;

/// `struct virtio_net_hdr`, which stands right before each frame.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offload {
    pub(crate) flags: u8,
    /// Not 0: several frames of the wire were merged into this one.
    pub(crate) segmentation: u8,
    pub(crate) header_len: u16,
    /// Payload of each frame that was merged, bytes.
    pub(crate) segment_len: u16,
    /// Where the bytes begin that the checksum covers, from the frame's first byte.
    pub(crate) checksum_start: u16,
    /// Where the checksum lies, from there.
    pub(crate) checksum_offset: u16,
}

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: only the pseudo header is summed up yet.
pub(crate) const CHECKSUM_UNFINISHED: u8 = 1;

/// linux/if_packet.h: the hash of each frame is told.
const TP_FT_REQ_FILL_RXHASH: u32 = 1;

/// One frame in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received<'a> {
    /// What the kernel kept of it.
    pub(crate) bytes: &'a [u8],
    /// Its own length.
    pub(crate) len: usize,
    /// `TP_STATUS_...`.
    pub(crate) status: u32,
    pub(crate) vlan_tci: u16,
    pub(crate) vlan_tpid: u16,
    /// Nanoseconds since 1970.
    pub(crate) time_ns: u64,
    pub(crate) offload: Offload,
    /// It left by the interface; only kernels that cannot leave those out show them.
    pub(crate) outgoing: bool,
    /// What the driver or the kernel hashed it to; 0 where nobody was asked.
    pub(crate) hash: u32,
}

/// How a ring is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RingSize {
    /// A multiple of the page size; a frame is never longer.
    pub(crate) block_bytes: u32,
    pub(crate) blocks: u32,
    /// A block that is not full is handed over after this time.
    pub(crate) retire_ms: u32,
}

/// The ring, mapped; the socket it belongs to.
pub(crate) struct BlockRing {
    socket: PacketSocket,
    start: NonNull<u8>,
    size: RingSize,
    current: u32,
    /// Frames of the current block not yet shown, when it is ours.
    left: u32,
    /// Where the next of them is, from the block's beginning.
    offset: u32,
    ours: bool,
}

// SAFETY: the mapping is this ring's alone and belongs to no thread.
unsafe impl Send for BlockRing {}

impl BlockRing {
    /// Makes the ring of a socket that has none and is not bound yet, and maps it.
    /// With `hashes` the kernel tells the hash of each frame, and makes one where the driver gave
    /// none, which takes its time.
    pub(crate) fn new(socket: PacketSocket, size: RingSize, hashes: bool) -> io::Result<Self> {
        let version = libc::tpacket_versions::TPACKET_V3 as u32;
        socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        let request = tpacket_req3 {
            tp_block_size: size.block_bytes,
            tp_block_nr: size.blocks,
            tp_frame_size: FRAME_UNIT_BYTES,
            tp_frame_nr: size.block_bytes / FRAME_UNIT_BYTES * size.blocks,
            tp_retire_blk_tov: size.retire_ms,
            tp_sizeof_priv: 0,
            tp_feature_req_word: if hashes { TP_FT_REQ_FILL_RXHASH } else { 0 },
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let start = map(&socket, size.block_bytes as usize * size.blocks as usize)?;
        Ok(Self {
            socket,
            start,
            size,
            current: 0,
            left: 0,
            offset: 0,
            ours: false,
        })
    }

    pub(crate) fn socket(&self) -> &PacketSocket {
        &self.socket
    }

    /// The next frame, until the call after it; `None` where the kernel has handed over no more.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Received<'_>> {
        if self.left == 0 && !self.advance() {
            return None;
        }
        let block = self.block();
        let limit = self.size.block_bytes as usize;
        let offset = self.offset as usize;
        if offset + size_of::<tpacket3_hdr>() > limit {
            self.left = 0;
            return None;
        }
        // SAFETY: the header lies within the block, which is ours: the kernel writes it no more.
        // The kernel aligns headers to 16 bytes.
        let header = unsafe { &*block.add(offset).cast::<tpacket3_hdr>() };
        self.left -= 1;
        self.offset += header.tp_next_offset;
        let first = offset + usize::from(header.tp_mac);
        let len = header.tp_snaplen as usize;
        if first + len > limit {
            self.left = 0;
            return None;
        }
        // SAFETY: the range was just held against the block's end; ours, and shared by nobody
        // until the next call, which needs `&mut self`.
        let bytes = unsafe { std::slice::from_raw_parts(block.add(first), len) };
        // SAFETY: the kernel puts this record right before the frame, as it was asked to, behind
        // the header; any bits have a meaning.
        let offload = unsafe {
            block
                .add(first - size_of::<Offload>())
                .cast::<Offload>()
                .read_unaligned()
        };
        // SAFETY: the address stands behind the header, within what the kernel wrote.
        let address = unsafe {
            &*block
                .add(offset + size_of::<tpacket3_hdr>())
                .cast::<sockaddr_ll>()
        };
        Some(Received {
            bytes,
            len: header.tp_len as usize,
            status: header.tp_status,
            vlan_tci: header.hv1.tp_vlan_tci as u16,
            vlan_tpid: header.hv1.tp_vlan_tpid,
            time_ns: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            offload,
            outgoing: address.sll_pkttype == libc::PACKET_OUTGOING,
            hash: header.hv1.tp_rxhash,
        })
    }

    /// Gives the block back that is done with and takes the next, if the kernel has filled it.
    #[inline]
    fn advance(&mut self) -> bool {
        if self.ours {
            // Release: what was read of the block was read before the kernel may write again.
            self.status().store(TP_STATUS_KERNEL, Ordering::Release);
            self.current = (self.current + 1) % self.size.blocks;
            self.ours = false;
        }
        // Acquire: all of the block is read after the kernel has handed it over.
        if self.status().load(Ordering::Acquire) & TP_STATUS_USER == 0 {
            return false;
        }
        let descriptor = self.block().cast::<tpacket_block_desc>();
        // SAFETY: a block begins with its descriptor, and it is ours.
        let head: tpacket_hdr_v1 = unsafe { (*descriptor).hdr.bh1 };
        self.ours = true;
        self.left = head.num_pkts;
        self.offset = head.offset_to_first_pkt;
        self.left > 0
    }

    fn block(&self) -> *mut u8 {
        let offset = self.current as usize * self.size.block_bytes as usize;
        // SAFETY: `current` is below the number of blocks.
        unsafe { self.start.as_ptr().add(offset) }
    }

    fn status(&self) -> &AtomicU32 {
        let descriptor = self.block().cast::<tpacket_block_desc>();
        // SAFETY: the word lies at the start of the block, aligned, and both sides change it by
        // whole stores only.
        unsafe { AtomicU32::from_ptr(&raw mut (*descriptor).hdr.bh1.block_status) }
    }
}

impl Drop for BlockRing {
    fn drop(&mut self) {
        let bytes = self.size.block_bytes as usize * self.size.blocks as usize;
        // SAFETY: the mapping is this ring's, and what it lent out borrowed the ring.
        unsafe { libc::munmap(self.start.as_ptr().cast(), bytes) };
    }
}

/// Means nothing in version 3 but must divide the block.
const FRAME_UNIT_BYTES: u32 = 2048;

fn map(socket: &PacketSocket, bytes: usize) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, socket.raw(), 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(start.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))
}
