//! An AF_XDP socket: its options, what it is bound to, how it is woken.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use frame::Region;

use super::xdp_ring::Shape;

/// How many frames one transmit call may send, kernel 6.18 on (`XDP_MAX_TX_SKB_BUDGET`).
const XDP_MAX_TX_SKB_BUDGET: c_int = 9;
const SO_PREFER_BUSY_POLL: c_int = 69;
const SO_BUSY_POLL_BUDGET: c_int = 70;

/// Frames that the kernel takes in one busy-polling call.
const BUSY_POLL_BUDGET: c_int = 64;

/// The socket.
#[derive(Debug)]
pub(crate) struct XdpSocket(OwnedFd);

/// The shapes of the four rings of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingShapes {
    pub(crate) fill: Shape,
    pub(crate) completion: Shape,
    pub(crate) rx: Shape,
    pub(crate) tx: Shape,
}

/// Frames that the kernel dropped at a socket (`XDP_STATISTICS`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelDrops {
    /// Received frames that found no chunk or were too long for one.
    pub(crate) dropped: u64,
    /// Received frames that found no place in the ring.
    pub(crate) ring_full: u64,
    /// Times that the FILL ring was found empty: in copy mode, one of each frame that found no
    /// chunk; in zero-copy mode of nothing that is a frame.
    pub(crate) fill_empty: u64,
    /// Descriptors of frames to be sent that the kernel refused.
    pub(crate) tx_invalid: u64,
    /// Descriptors that the kernel refused, either way: ours are never wrong, so a bug.
    pub(crate) invalid: u64,
}

/// How a socket is to be bound.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binding<'a> {
    /// With a UMEM of its own, in zero-copy mode or else in copy mode; with `several`, frames may
    /// come and go in several pieces, which kernels from 6.6 on grant.
    Own { zero_copy: bool, several: bool },
    /// With the UMEM of another socket, in that one's mode, several pieces or not.
    Shared(BorrowedFd<'a>),
}

impl XdpSocket {
    pub(crate) fn open() -> io::Result<Self> {
        // SAFETY: no memory of ours is passed.
        let socket = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel gave this descriptor to us just now; nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(socket) }))
    }

    /// Registers a whole Region as UMEM, in chunks of any size at any address. The kernel writes
    /// only where FILL entries say, and the Region is never unmapped.
    pub(crate) fn register_umem(&self, region: &Region, chunk_bytes: u32) -> io::Result<()> {
        let umem = libc::xdp_umem_reg {
            addr: region.start_ptr().addr().get() as u64,
            len: region.bytes() as u64,
            chunk_size: chunk_bytes,
            headroom: 0,
            flags: libc::XDP_UMEM_UNALIGNED_CHUNK_FLAG,
            tx_metadata_len: 0,
        };
        self.set(libc::SOL_XDP, libc::XDP_UMEM_REG, &umem)
    }

    /// Makes the four rings, of this many entries each, a power of two.
    pub(crate) fn make_rings(&self, entries: u32) -> io::Result<RingShapes> {
        let rings = [
            libc::XDP_UMEM_FILL_RING,
            libc::XDP_UMEM_COMPLETION_RING,
            libc::XDP_RX_RING,
            libc::XDP_TX_RING,
        ];
        for ring in rings {
            self.set(libc::SOL_XDP, ring, &entries)?;
        }
        // SAFETY: all-zero bytes are a value of this struct of integers.
        let mut offsets: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
        self.get(libc::XDP_MMAP_OFFSETS, &mut offsets)?;
        let shape = |page_offset: u64, at: &libc::xdp_ring_offset| Shape {
            entries,
            page_offset,
            producer: at.producer,
            consumer: at.consumer,
            flags: at.flags,
            first: at.desc,
        };
        Ok(RingShapes {
            fill: shape(libc::XDP_UMEM_PGOFF_FILL_RING, &offsets.fr),
            completion: shape(libc::XDP_UMEM_PGOFF_COMPLETION_RING, &offsets.cr),
            rx: shape(libc::XDP_PGOFF_RX_RING as u64, &offsets.rx),
            tx: shape(libc::XDP_PGOFF_TX_RING as u64, &offsets.tx),
        })
    }

    /// Binds to one queue of an interface.
    pub(crate) fn bind(&self, interface: u32, queue: u32, how: Binding<'_>) -> io::Result<()> {
        let (flags, shared) = match how {
            Binding::Own { zero_copy, several } => {
                let mode = if zero_copy {
                    libc::XDP_ZEROCOPY
                } else {
                    libc::XDP_COPY
                };
                let pieces = if several { libc::XDP_USE_SG } else { 0 };
                (mode | pieces | libc::XDP_USE_NEED_WAKEUP, 0)
            }
            // The mode and the wake-ups are those of the socket whose UMEM it is.
            Binding::Shared(first) => (libc::XDP_SHARED_UMEM, first.as_raw_fd()),
        };
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: flags,
            sxdp_ifindex: interface,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: shared as u32,
        };
        // SAFETY: the kernel reads an address of the length given, which lives on our stack.
        let bound = unsafe {
            libc::bind(
                self.0.as_raw_fd(),
                (&raw const address).cast(),
                size_of_val(&address) as libc::socklen_t,
            )
        };
        outcome(bound)
    }

    /// Whether zero-copy mode was granted.
    pub(crate) fn has_zero_copy(&self) -> io::Result<bool> {
        let mut options = libc::xdp_options { flags: 0 };
        self.get(libc::XDP_OPTIONS, &mut options)?;
        Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }

    /// Frames that one transmit call may send in copy mode. Kernels before 6.18 refuse; with their
    /// 32 a forwarder was measured at 2.0 Mpps where 1,024 gave 2.5.
    pub(crate) fn set_tx_budget(&self, frames: u32) -> io::Result<()> {
        self.set(libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &frames)
    }

    /// How many bytes of sent frames may be with the interface at once.
    pub(crate) fn set_send_buffer(&self, bytes: c_int) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &bytes)
    }

    /// Has the kernel work for this socket on the caller's CPU, when it is called.
    pub(crate) fn set_busy_poll(&self, micros: c_int) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, SO_PREFER_BUSY_POLL, &1)?;
        self.set(libc::SOL_SOCKET, libc::SO_BUSY_POLL, &micros)?;
        self.set(libc::SOL_SOCKET, SO_BUSY_POLL_BUDGET, &BUSY_POLL_BUDGET)
    }

    pub(crate) fn kernel_drops(&self) -> io::Result<KernelDrops> {
        // SAFETY: all-zero bytes are a value of this struct of integers.
        let mut counts: libc::xdp_statistics = unsafe { std::mem::zeroed() };
        self.get(libc::XDP_STATISTICS, &mut counts)?;
        Ok(KernelDrops {
            // A frame that finds FILL empty is counted here too.
            dropped: counts.rx_dropped,
            ring_full: counts.rx_ring_full,
            fill_empty: counts.rx_fill_ring_empty_descs,
            tx_invalid: counts.tx_invalid_descs,
            invalid: counts.rx_invalid_descs + counts.tx_invalid_descs,
        })
    }

    /// Has the kernel send what is in the TX ring, a bounded number of frames.
    pub(crate) fn wake_transmit(&self) -> io::Result<()> {
        let none = ptr::null();
        // SAFETY: no bytes are passed: null with length 0.
        let sent = unsafe {
            libc::sendto(
                self.0.as_raw_fd(),
                none,
                0,
                libc::MSG_DONTWAIT,
                ptr::null(),
                0,
            )
        };
        outcome(sent.min(0) as c_int)
    }

    /// Whether the interface it was bound to is gone: the kernel has unbound the socket and uses
    /// no frame of its rings any more.
    pub(crate) fn is_unbound(&self) -> bool {
        let error = self.wake_transmit().err();
        error.and_then(|error| error.raw_os_error()) == Some(libc::ENXIO)
    }

    /// Has the kernel look into the FILL ring, and with busy polling receive.
    pub(crate) fn wake_receive(&self) -> io::Result<()> {
        // SAFETY: no buffer is passed: null with length 0, and no address.
        let received = unsafe {
            let (fd, flags) = (self.0.as_raw_fd(), libc::MSG_DONTWAIT);
            libc::recvfrom(
                fd,
                ptr::null_mut(),
                0,
                flags,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        outcome(received.min(0) as c_int)
    }

    fn set<T>(&self, level: c_int, name: c_int, value: &T) -> io::Result<()> {
        // SAFETY: the kernel reads the bytes of a value that lives as long as this call; every
        // `T` used here is made of integers without padding.
        let set = unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                level,
                name,
                ptr::from_ref(value).cast(),
                size_of::<T>() as libc::socklen_t,
            )
        };
        outcome(set)
    }

    fn get<T>(&self, name: c_int, value: &mut T) -> io::Result<()> {
        let mut bytes = size_of::<T>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `bytes` bytes to a value that is borrowed for this
        // call; every `T` used here is made of integers, so any bytes are one.
        let got = unsafe {
            let (fd, level) = (self.0.as_raw_fd(), libc::SOL_XDP);
            libc::getsockopt(fd, level, name, ptr::from_mut(value).cast(), &raw mut bytes)
        };
        outcome(got)
    }
}

/// One descriptor that is readable as soon as one of several sockets has a frame.
#[derive(Debug)]
pub(crate) struct Wake(OwnedFd);

impl Wake {
    pub(crate) fn of<'a>(sockets: impl Iterator<Item = BorrowedFd<'a>>) -> io::Result<Self> {
        // SAFETY: no memory of ours is passed.
        let set = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        outcome(set)?;
        // SAFETY: the kernel gave this descriptor to us just now; nobody else has it.
        let set = unsafe { OwnedFd::from_raw_fd(set) };
        for socket in sockets {
            let mut event = libc::epoll_event {
                events: libc::EPOLLIN as u32,
                u64: 0,
            };
            let (set, socket) = (set.as_raw_fd(), socket.as_raw_fd());
            // SAFETY: the kernel reads the event, which is borrowed for this call.
            let added =
                unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, socket, &raw mut event) };
            outcome(added)?;
        }
        Ok(Self(set))
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsFd for XdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn outcome(returned: c_int) -> io::Result<()> {
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
