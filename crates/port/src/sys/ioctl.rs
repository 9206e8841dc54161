//! The ioctls that ask and change one interface by its name (netdevice(7)).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_ulong};

/// Bytes of a name in the kernel's structures, the closing zero among them.
pub(crate) const NAME_BYTES: usize = libc::IFNAMSIZ;

/// `struct ifreq`: the name, and as many bytes as the largest member of its union has.
#[repr(C, align(8))]
struct Request {
    name: [u8; NAME_BYTES],
    value: [u8; 24],
}

const _: () = assert!(size_of::<Request>() >= size_of::<libc::ifreq>());

/// The name of an interface, known to fit. The default is a name that none has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InterfaceName([u8; NAME_BYTES]);

impl InterfaceName {
    /// `None` where the kernel takes no such name: empty, longer than 15 bytes, with a zero byte.
    /// Nor with a colon: ioctls cut it off with all behind it, and speak of another interface.
    pub(crate) fn new(name: impl AsRef<[u8]>) -> Option<Self> {
        let bytes = name.as_ref();
        if bytes.is_empty() || bytes.len() >= NAME_BYTES {
            return None;
        }
        if bytes.iter().any(|byte| matches!(byte, 0 | b':')) {
            return None;
        }
        let mut padded = [0; NAME_BYTES];
        padded[..bytes.len()].copy_from_slice(bytes);
        Some(Self(padded))
    }

    pub(crate) fn padded(&self) -> [u8; NAME_BYTES] {
        self.0
    }

    /// The kernel allows bytes that are no text.
    pub(crate) fn bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0);
        &self.0[..end.unwrap_or(NAME_BYTES)]
    }
}

/// A socket that is good for nothing but such questions. It belongs to the network namespace it
/// was made in.
#[derive(Debug)]
pub(crate) struct ControlSocket(OwnedFd);

impl ControlSocket {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was made just now and is nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// A number of the network namespace, which no other one gets while this kernel runs.
    pub(crate) fn namespace_cookie(&self) -> io::Result<u64> {
        let mut cookie = 0_u64;
        let mut bytes = size_of::<u64>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `bytes` bytes, and `cookie` has as many.
        let done = unsafe {
            libc::getsockopt(
                self.0.as_raw_fd(),
                libc::SOL_SOCKET,
                SO_NETNS_COOKIE,
                (&raw mut cookie).cast(),
                &raw mut bytes,
            )
        };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(cookie)
    }

    /// One request; the value is what goes in and what comes out. Only for requests whose value
    /// lies in the structure itself, which all callers in this file see to.
    fn request(
        &self,
        what: c_ulong,
        name: &InterfaceName,
        value: [u8; 24],
    ) -> io::Result<[u8; 24]> {
        let mut request = Request {
            name: name.padded(),
            value,
        };
        // SAFETY: the kernel reads and writes one `ifreq` there, for which there is room.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), what as _, &raw mut request) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(request.value)
    }

    fn number(&self, what: c_ulong, name: &InterfaceName) -> io::Result<c_int> {
        let value = self.request(what, name, [0; 24])?;
        Ok(c_int::from_ne_bytes([
            value[0], value[1], value[2], value[3],
        ]))
    }

    /// The number the kernel gave the interface; another one when it was removed and made anew.
    pub(crate) fn index(&self, name: &InterfaceName) -> io::Result<u32> {
        let index = self.number(libc::SIOCGIFINDEX as c_ulong, name)?;
        u32::try_from(index).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// The name that the interface of this number has now, in the socket's network namespace.
    pub(crate) fn name_of(&self, index: u32) -> io::Result<InterfaceName> {
        let mut request = Request {
            name: [0; NAME_BYTES],
            value: [0; 24],
        };
        request.value[..4].copy_from_slice(&index.to_ne_bytes());
        let what = libc::SIOCGIFNAME as c_ulong;
        // SAFETY: the kernel reads and writes one `ifreq` there, for which there is room.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), what as _, &raw mut request) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(InterfaceName(request.name))
    }

    /// Another descriptor of the same socket.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Longest IP packet, bytes.
    pub(crate) fn mtu(&self, name: &InterfaceName) -> io::Result<u32> {
        let mtu = self.number(libc::SIOCGIFMTU as c_ulong, name)?;
        u32::try_from(mtu).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// `IFF_UP`, `IFF_RUNNING` and the others.
    pub(crate) fn flags(&self, name: &InterfaceName) -> io::Result<u16> {
        let value = self.request(libc::SIOCGIFFLAGS as c_ulong, name, [0; 24])?;
        Ok(u16::from_ne_bytes([value[0], value[1]]))
    }

    pub(crate) fn set_flags(&self, name: &InterfaceName, flags: u16) -> io::Result<()> {
        let mut value = [0; 24];
        value[..2].copy_from_slice(&flags.to_ne_bytes());
        self.request(libc::SIOCSIFFLAGS as c_ulong, name, value)
            .map(|_| ())
    }

    /// Hardware type (`ARPHRD_ETHER` ...) and the first six bytes of the address.
    pub(crate) fn hardware_address(&self, name: &InterfaceName) -> io::Result<(u16, [u8; 6])> {
        let value = self.request(libc::SIOCGIFHWADDR as c_ulong, name, [0; 24])?;
        let mut address = [0; 6];
        address.copy_from_slice(&value[2..8]);
        Ok((u16::from_ne_bytes([value[0], value[1]]), address))
    }

    /// One command of ethtool. `words` begins with the command and has room for its answer.
    ///
    /// # Safety
    /// `words` is at least as long as the kernel's structure for this command, the part behind it
    /// whose length the structure itself announces included.
    pub(super) unsafe fn ethtool(&self, name: &InterfaceName, words: &mut [u32]) -> io::Result<()> {
        // SAFETY: the caller's.
        unsafe { self.pointed(SIOCETHTOOL, name, words) }
    }

    /// One request whose value lies elsewhere: what goes in and what comes out.
    ///
    /// # Safety
    /// `words` is at least as long as the kernel's structure for this request.
    pub(super) unsafe fn pointed(
        &self,
        what: c_ulong,
        name: &InterfaceName,
        words: &mut [u32],
    ) -> io::Result<()> {
        let mut request = Request {
            name: name.padded(),
            value: [0; 24],
        };
        let pointer = words.as_mut_ptr().addr().to_ne_bytes();
        request.value[..pointer.len()].copy_from_slice(&pointer);
        words.as_mut_ptr().expose_provenance();
        // SAFETY: the kernel reads one `ifreq`, and reads and writes behind the pointer in it what
        // the caller promises room for; `words` is borrowed until the call returns.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), what as _, &raw mut request) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// asm-generic/socket.h, since Linux 5.14.
const SO_NETNS_COOKIE: c_int = 71;
/// linux/sockios.h.
const SIOCETHTOOL: c_ulong = 0x8946;
