//! AF_PACKET sockets and their options (packet(7), linux/if_packet.h).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, c_uint, c_void, socklen_t};

/// Every protocol, for [`PacketSocket::bind`].
pub(crate) const EVERY_PROTOCOL: u16 = libc::ETH_P_ALL as u16;
/// No protocol: a socket that only sends.
pub(crate) const NO_PROTOCOL: u16 = 0;

/// What frames of ports that go by a queueing discipline are marked with, so that a tap tells them
/// from those of others: "line".
pub(crate) const OWN_MARK: u32 = 0x6c69_6e65;

/// A raw packet socket: whole frames, Ethernet header included.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    fd: OwnedFd,
    /// The interface that it made promiscuous; 0 for none.
    promiscuous: AtomicU32,
}

impl PacketSocket {
    /// A socket that receives nothing until it is bound. Needs `CAP_NET_RAW`.
    pub(crate) fn new() -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no memory is passed.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            // SAFETY: the descriptor was made just now and is nobody else's.
            fd: unsafe { OwnedFd::from_raw_fd(fd) },
            promiscuous: AtomicU32::new(0),
        })
    }

    /// Readable when the ring has something to read, or an error waits.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(super) fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// From now on frames of this interface alone come in and go out.
    pub(crate) fn bind(&self, ifindex: u32, protocol: u16) -> io::Result<()> {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol.to_be(),
            sll_ifindex: ifindex as c_int,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let bytes = size_of_val(&address) as socklen_t;
        // SAFETY: the kernel reads one address of the length given.
        let done = unsafe { libc::bind(self.raw(), (&raw const address).cast(), bytes) };
        checked(done)
    }

    /// The number of the interface that it is bound to: the kernel takes it away when the interface
    /// is removed or moves to another network namespace, and a later one of the number is no more
    /// this socket's.
    pub(crate) fn bound_to(&self) -> Option<u32> {
        let mut address = libc::sockaddr_ll {
            sll_family: 0,
            sll_protocol: 0,
            sll_ifindex: 0,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let mut bytes = size_of_val(&address) as socklen_t;
        let into = &raw mut address;
        // SAFETY: the kernel writes at most so many bytes there, integers all of them.
        let done = unsafe { libc::getsockname(self.raw(), into.cast(), &raw mut bytes) };
        checked(done).ok()?;
        u32::try_from(address.sll_ifindex)
            .ok()
            .filter(|&index| index != 0)
    }

    /// Sets an option of the packet level whose value is a plain structure of integers.
    pub(super) fn set<T: Copy>(&self, level: c_int, option: c_int, value: &T) -> io::Result<()> {
        let (bytes, value) = (size_of::<T>() as socklen_t, &raw const *value);
        // SAFETY: the kernel reads the value, as many bytes as it has.
        let done =
            unsafe { libc::setsockopt(self.raw(), level, option, value.cast::<c_void>(), bytes) };
        checked(done)
    }

    fn get<T: Copy>(&self, level: c_int, option: c_int, mut value: T) -> io::Result<T> {
        let mut bytes = size_of::<T>() as socklen_t;
        let into = &raw mut value;
        // SAFETY: the kernel writes at most so many bytes there; callers ask for integers, which
        // have a meaning whatever the bits.
        let done =
            unsafe { libc::getsockopt(self.raw(), level, option, into.cast(), &raw mut bytes) };
        checked(done).map(|()| value)
    }

    /// Frames that leave by the interface are not given back as received ones. Linux 4.20.
    pub(crate) fn ignore_outgoing(&self) -> io::Result<()> {
        self.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)
    }

    /// What is sent goes straight to the driver, past queueing disciplines. Linux 3.14.
    pub(crate) fn bypass_qdisc(&self) -> io::Result<()> {
        self.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)
    }

    /// Each received frame is told what the kernel knows of its checksum and segments. Before the
    /// ring is made.
    pub(crate) fn ask_for_offloads(&self) -> io::Result<()> {
        self.set(libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1_i32)
    }

    /// Frames come with the time that the NIC gave them, where it gave one. Before the ring is
    /// made.
    pub(crate) fn take_nic_times(&self) -> io::Result<()> {
        let asked = libc::SOF_TIMESTAMPING_RAW_HARDWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
        self.set(libc::SOL_PACKET, libc::PACKET_TIMESTAMP, &asked)
    }

    /// Bytes that may be under way in the driver. Past the system's limit where we may.
    pub(crate) fn send_room(&self, bytes: c_int) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &bytes)
            .or_else(|_| self.set(libc::SOL_SOCKET, libc::SO_SNDBUF, &bytes))
    }

    /// The interface receives frames for every address as long as this socket is open: the kernel
    /// counts such sockets and ends it itself, whatever ends the process.
    pub(crate) fn be_promiscuous(&self, ifindex: u32) -> io::Result<()> {
        self.set(
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            &promiscuity(ifindex),
        )?;
        self.promiscuous.store(ifindex, Ordering::Relaxed);
        Ok(())
    }

    /// Shares the interface's frames with the other sockets of a group, by a `PACKET_FANOUT_...`;
    /// without a number a new group, whose number comes back. Fragments stay as they are.
    pub(crate) fn fan_out(&self, group: Option<u16>, by: c_uint) -> io::Result<u16> {
        let unique = match group {
            Some(_) => 0,
            None => libc::PACKET_FANOUT_FLAG_UNIQUEID,
        };
        let asked = u32::from(group.unwrap_or(0)) | (by | unique) << 16;
        self.set(libc::SOL_PACKET, libc::PACKET_FANOUT, &asked)?;
        let granted: c_uint = self.get(libc::SOL_PACKET, libc::PACKET_FANOUT, 0)?;
        Ok(granted as u16)
    }

    /// Nothing comes in until [`PacketSocket::let_in`]: what comes between binding and joining a
    /// group would come twice, here and to a member of the group.
    pub(crate) fn keep_out(&self) -> io::Result<()> {
        // BPF_RET with a constant of 0: keep no byte of any frame.
        let mut refuse = libc::sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: 0,
        };
        let program = libc::sock_fprog {
            len: 1,
            filter: &raw mut refuse,
        };
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
    }

    /// Of all frames of its interface this socket is to count those alone that leave by it, and
    /// were sent neither past the taps nor with [`OWN_MARK`]. It keeps a byte of a few of them.
    pub(crate) fn count_outgoing(&self) -> io::Result<()> {
        // Offsets of linux/filter.h into what the kernel knows of a frame.
        const KIND: u32 = 0xffff_f004;
        const MARK: u32 = 0xffff_f014;
        let step = |code: u32, yes: u8, no: u8, k: u32| libc::sock_filter {
            code: code as u16,
            jt: yes,
            jf: no,
            k,
        };
        let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        let mut steps = [
            step(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, 0, 0, KIND),
            step(equal, 0, 3, u32::from(libc::PACKET_OUTGOING)),
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, MARK),
            step(equal, 1, 0, OWN_MARK),
            step(libc::BPF_RET | libc::BPF_K, 0, 0, 1),
            step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
        ];
        let program = libc::sock_fprog {
            len: steps.len() as u16,
            filter: steps.as_mut_ptr(),
        };
        self.set(libc::SOL_SOCKET, libc::SO_RCVBUF, &0_i32)?;
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
    }

    /// What is sent carries this mark.
    pub(crate) fn mark(&self, mark: u32) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_MARK, &mark)
    }

    pub(crate) fn let_in(&self) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0_i32)
    }

    /// Frames meant for this socket since the last call, and how many of them the kernel dropped
    /// because the ring was full.
    pub(crate) fn take_statistics(&self) -> io::Result<(u32, u32)> {
        let zero = libc::tpacket_stats_v3 {
            tp_packets: 0,
            tp_drops: 0,
            tp_freeze_q_cnt: 0,
        };
        let counts = self.get(libc::SOL_PACKET, libc::PACKET_STATISTICS, zero)?;
        Ok((counts.tp_packets, counts.tp_drops))
    }

    /// The error that waits at the socket, if one does: `ENETDOWN` after the interface went down.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        match self.get(libc::SOL_SOCKET, libc::SO_ERROR, 0) {
            Ok(0) => None,
            Ok(number) => Some(io::Error::from_raw_os_error(number)),
            Err(error) => Some(error),
        }
    }
}

impl Drop for PacketSocket {
    /// Ends promiscuous mode before the socket is closed. Linux takes a socket that is closed off
    /// its list first and looks for the interface then: one that moves to another network
    /// namespace in between keeps the mode for good (3 of 40 moves under load, Linux 6.18).
    fn drop(&mut self) {
        let ifindex = *self.promiscuous.get_mut();
        if ifindex != 0 {
            // It may have moved away, with the mode taken back.
            let _gone = self.set(
                libc::SOL_PACKET,
                libc::PACKET_DROP_MEMBERSHIP,
                &promiscuity(ifindex),
            );
        }
    }
}

fn promiscuity(ifindex: u32) -> libc::packet_mreq {
    libc::packet_mreq {
        mr_ifindex: ifindex as c_int,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    }
}

fn checked(done: c_int) -> io::Result<()> {
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
