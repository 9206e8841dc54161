//! What the kernel knows of a network interface that an AF_XDP port must know before it opens.

use std::ffi::{CString, c_int, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `ETHTOOL_GCHANNELS` and the struct it fills (`linux/ethtool.h`).
const ETHTOOL_GCHANNELS: u32 = 0x3c;

#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    max: [u32; 4],
    rx: u32,
    tx: u32,
    other: u32,
    combined: u32,
}

/// `struct ifreq`: a name and a union that is a number or an address here.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    value: Value,
}

#[repr(C)]
union Value {
    number: c_int,
    address: usize,
    bytes: [u8; 24],
}

const _: () = assert!(size_of::<Request>() == 40, "struct ifreq");

/// The number of the interface of that name.
pub(crate) fn index_of(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: a string that ends in zero and lives as long as the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// The longest packet, in bytes without the Ethernet header.
pub(crate) fn mtu_of(name: &str) -> io::Result<u32> {
    let mut request = Request::new(name, Value { number: 0 })?;
    // SAFETY: this request reads the name and writes the number.
    unsafe { request.ask(libc::SIOCGIFMTU)? };
    // SAFETY: any bytes are a number.
    Ok(unsafe { request.value.number } as u32)
}

/// Receive queues in use; 1 where the driver does not tell.
pub(crate) fn rx_queues_of(name: &str) -> io::Result<u32> {
    let mut channels = Channels {
        command: ETHTOOL_GCHANNELS,
        ..Channels::default()
    };
    let address = (&raw mut channels).expose_provenance();
    let mut request = Request::new(name, Value { address })?;
    // SAFETY: this request writes a `struct ethtool_channels` to the address, on our stack.
    match unsafe { request.ask(libc::SIOCETHTOOL) } {
        Ok(()) => Ok((channels.rx + channels.combined).max(1)),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(1),
        Err(error) => Err(error),
    }
}

impl Request {
    fn new(name: &str, value: Value) -> io::Result<Self> {
        let mut bytes = [0; libc::IFNAMSIZ];
        let length = name.len();
        if length >= libc::IFNAMSIZ || name.contains('\0') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        bytes[..length].copy_from_slice(name.as_bytes());
        Ok(Self { name: bytes, value })
    }

    /// # Safety
    /// The value is what this request reads and writes.
    unsafe fn ask(&mut self, request: c_ulong) -> io::Result<()> {
        let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
        // SAFETY: the caller's; the struct is borrowed for this call.
        let answer = unsafe { libc::ioctl(socket.as_raw_fd(), request as _, &raw mut *self) };
        if answer < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: no memory of ours is passed.
    let socket = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel gave this descriptor to us just now; nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// Sends one request of route netlink and returns the first datagram of the answer.
pub(crate) fn ask_route_netlink(request: &[u8]) -> io::Result<Vec<u8>> {
    let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel reads the bytes of a slice that is borrowed for this call.
    let sent = unsafe { libc::send(fd, request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = vec![0; 64 * 1024];
    // SAFETY: the kernel writes at most the length of a buffer that is borrowed for this call.
    let received = unsafe { libc::recv(fd, answer.as_mut_ptr().cast(), answer.len(), 0) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    answer.truncate(received);
    Ok(answer)
}
