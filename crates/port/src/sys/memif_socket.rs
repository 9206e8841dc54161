//! The control channel of a `memif:` port: SEQPACKET sockets by which descriptors pass, and the
//! files by which one side interrupts the other (unix(7), eventfd(2)).

use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::{c_int, sockaddr_un, socklen_t};

/// Bytes of every message.
pub(crate) const MESSAGE_BYTES: usize = 128;
/// Room for the descriptors of one message: one is expected, and those that come beside it are
/// closed. The kernel closes what there is no room for.
const DESCRIPTORS_MAX: usize = 4;
const CONTROL_BYTES: usize = 64;
/// Where the path stands in an address.
const PATH_AT: usize = mem::offset_of!(sockaddr_un, sun_path);
/// Bytes of a path, the 0 at its end among them.
pub(crate) const PATH_BYTES_MAX: usize = 108;

/// Where a socket is: a file, or a name without one, which goes with its last socket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Address {
    File(Vec<u8>),
    Abstract(Vec<u8>),
}

impl Address {
    /// `None` where the name is too long, empty, or has a byte 0.
    fn encode(&self) -> Option<(sockaddr_un, socklen_t)> {
        let (path, first) = match self {
            Self::File(path) => (path, 0),
            Self::Abstract(name) => (name, 1),
        };
        if path.is_empty() || path.len() + 1 > PATH_BYTES_MAX || path.contains(&0) {
            return None;
        }
        let mut address = sockaddr_un {
            sun_family: libc::AF_UNIX as libc::sa_family_t,
            sun_path: [0; PATH_BYTES_MAX],
        };
        for (place, byte) in address.sun_path[first..].iter_mut().zip(path) {
            *place = *byte as libc::c_char;
        }
        // A name without a file is as long as it says; a path ends with a 0.
        Some((address, (PATH_AT + path.len() + 1) as socklen_t))
    }
}

/// A socket that listens, or is connected. Never waits but in [`Socket::wait`].
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

/// What came.
#[derive(Debug)]
pub(crate) enum Received {
    /// A message, and the descriptor that came with it.
    Message([u8; MESSAGE_BYTES], Option<OwnedFd>),
    /// Something of another length.
    Misshapen(usize),
    /// Nothing yet.
    Nothing,
    /// The other side is gone.
    End,
}

impl Socket {
    fn new() -> io::Result<Self> {
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no memory is passed.
        owned(unsafe { libc::socket(libc::AF_UNIX, kind, 0) }).map(Self)
    }

    /// Listens at an address where nothing is. A file is readable and writable for owner and group.
    pub(crate) fn listen(at: &Address) -> io::Result<Self> {
        let socket = Self::new()?;
        let (address, bytes) = at.encode().ok_or(io::ErrorKind::InvalidInput)?;
        // The mode that bind gives the file is the socket's own, less the umask: no moment in
        // which others could connect.
        // SAFETY: no memory is passed.
        checked(unsafe { libc::fchmod(socket.raw(), 0o660) })?;
        // SAFETY: the kernel reads `bytes` bytes of the address, which has them.
        checked(unsafe { libc::bind(socket.raw(), (&raw const address).cast(), bytes) })?;
        // SAFETY: no memory is passed.
        checked(unsafe { libc::listen(socket.raw(), 16) })?;
        Ok(socket)
    }

    /// Connects, or says why not; never waits.
    pub(crate) fn connect(to: &Address) -> io::Result<Self> {
        let socket = Self::new()?;
        let (address, bytes) = to.encode().ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: the kernel reads `bytes` bytes of the address, which has them.
        checked(unsafe { libc::connect(socket.raw(), (&raw const address).cast(), bytes) })?;
        Ok(socket)
    }

    /// The next that connected; `None` where nobody did.
    pub(crate) fn accept(&self) -> Option<Self> {
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no address is asked for.
        let fd = unsafe { libc::accept4(self.raw(), ptr::null_mut(), ptr::null_mut(), flags) };
        owned(fd).ok().map(Self)
    }

    fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Sends a message, with a descriptor that the other side gets a copy of.
    pub(crate) fn send(
        &self,
        message: &[u8],
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let mut place = libc::iovec {
            iov_base: message.as_ptr().cast_mut().cast(),
            iov_len: message.len(),
        };
        let mut control = Control([MaybeUninit::zeroed(); CONTROL_BYTES]);
        // SAFETY: zero is a value of every field.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_iov = &raw mut place;
        header.msg_iovlen = 1;
        if let Some(descriptor) = descriptor {
            let fd = descriptor.as_raw_fd();
            header.msg_control = (&raw mut control).cast();
            // SAFETY: the macros compute with the length alone, and then lead to the first header
            // in `control`, which is aligned for one and has room for it and a descriptor.
            unsafe {
                header.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as _;
                let first = libc::CMSG_FIRSTHDR(&raw const header);
                (*first).cmsg_level = libc::SOL_SOCKET;
                (*first).cmsg_type = libc::SCM_RIGHTS;
                (*first).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as _;
                libc::CMSG_DATA(first).cast::<c_int>().write_unaligned(fd);
            }
        }
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the header leads to the message and the control data above, which live until
        // the call returns; the kernel only reads them.
        let sent = unsafe { libc::sendmsg(self.raw(), &raw const header, flags) };
        match sent {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// What came, if anything did.
    pub(crate) fn receive(&self) -> io::Result<Received> {
        // A byte more: a longer message is seen to be one.
        let mut bytes = [0_u8; MESSAGE_BYTES + 1];
        let mut place = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: bytes.len(),
        };
        let mut control = Control([MaybeUninit::zeroed(); CONTROL_BYTES]);
        // SAFETY: zero is a value of every field.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_iov = &raw mut place;
        header.msg_iovlen = 1;
        header.msg_control = (&raw mut control).cast();
        header.msg_controllen = CONTROL_BYTES as _;
        let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the header leads to `bytes` and `control`, of the lengths it says, which are
        // this call's.
        let count = unsafe { libc::recvmsg(self.raw(), &raw mut header, flags) };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Received::Nothing),
                _ => Err(error),
            };
        }
        let descriptor = descriptors(&header).into_iter().flatten().next();
        Ok(match count as usize {
            0 => Received::End,
            MESSAGE_BYTES => {
                let mut message = [0; MESSAGE_BYTES];
                message.copy_from_slice(&bytes[..MESSAGE_BYTES]);
                Received::Message(message, descriptor)
            }
            other => Received::Misshapen(other),
        })
    }

    /// Waits until something comes, for so many milliseconds at most; whether something did.
    pub(crate) fn wait(&self, milliseconds: c_int) -> bool {
        readable(self.0.as_fd(), milliseconds)
    }
}

/// Control data, aligned as its headers are.
#[repr(C, align(8))]
struct Control([MaybeUninit<u8>; CONTROL_BYTES]);

/// The descriptors that came, each owned now: what the caller does not keep is closed.
fn descriptors(header: &libc::msghdr) -> [Option<OwnedFd>; DESCRIPTORS_MAX] {
    let mut found = [const { None }; DESCRIPTORS_MAX];
    let mut places = found.iter_mut();
    // SAFETY: the header leads to control data that the kernel wrote, of the length it wrote.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !next.is_null() {
        // SAFETY: the macros lead to headers that lie whole within the control data.
        let (one, data) = unsafe { (&*next, libc::CMSG_DATA(next).cast::<c_int>()) };
        if (one.cmsg_level, one.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: computes with the length alone.
            let head = unsafe { libc::CMSG_LEN(0) } as usize;
            // Its type is another with another C library.
            let all: usize = one.cmsg_len as _;
            let count = all.saturating_sub(head) / size_of::<c_int>();
            for index in 0..count {
                // SAFETY: the kernel wrote `count` descriptors there, which are ours from now on.
                let one = unsafe { OwnedFd::from_raw_fd(data.add(index).read_unaligned()) };
                match places.next() {
                    Some(place) => *place = Some(one),
                    None => drop(one),
                }
            }
        }
        // SAFETY: as above.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    found
}

/// A file by which one side wakes the other. Both have the same, and the peer may change whether
/// calls on it wait: none of ours does.
#[derive(Debug)]
pub(crate) struct Interrupt(OwnedFd);

impl Interrupt {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed.
        owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) }).map(Self)
    }

    /// What the peer sent.
    pub(crate) fn of(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    /// Readable once it was raised.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Takes back that it was raised; `false` where that cannot be done without waiting.
    pub(crate) fn clear(&self) -> bool {
        let mut count = 0_u64;
        let place = libc::iovec {
            iov_base: (&raw mut count).cast(),
            iov_len: size_of::<u64>(),
        };
        // RWF_NOWAIT: O_NONBLOCK belongs to the file, which the peer has, too.
        // SAFETY: the kernel writes at most eight bytes to `count`.
        let read = unsafe {
            libc::preadv2(
                self.0.as_raw_fd(),
                &raw const place,
                1,
                -1,
                libc::RWF_NOWAIT,
            )
        };
        read >= 0 || io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
    }
}

/// Whether a descriptor is readable within so many milliseconds.
pub(crate) fn readable(descriptor: BorrowedFd<'_>, milliseconds: c_int) -> bool {
    let mut place = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: the kernel reads and writes one structure.
    unsafe { libc::poll(&raw mut place, 1, milliseconds) > 0 }
}

fn owned(fd: c_int) -> io::Result<OwnedFd> {
    checked(fd)?;
    // SAFETY: the descriptor was made just now and is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn checked(done: c_int) -> io::Result<()> {
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
