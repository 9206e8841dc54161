//! The socket's file: made without a moment in which others may open it, taken over when nobody
//! answers, refused when somebody does.

use rustix::fs::{FlockOperation, Gid, Mode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 64;

/// Who may connect: the owner and the group.
const MODE: u32 = 0o660;

/// A socket that is listened on. Its file goes away with it.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
    inode: (u64, u64),
    /// Locked as long as this lives: of two daemons that start at once, one sees the other.
    _lock: File,
}

/// Why there is no socket.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// Another daemon has it.
    Taken(PathBuf),
    /// Something that is no socket is there.
    NoSocket(PathBuf),
    /// The operating system refused.
    Refused(PathBuf, io::Error),
    /// The group may not be given to it.
    Group(PathBuf, u32, io::Error),
}

impl Socket {
    /// Listens at `path`, for the owner and `group`; without one, for the process's own group.
    pub(super) fn bind(path: &Path, group: Option<u32>) -> Result<Self, BindError> {
        let refused = |error: io::Error| BindError::Refused(path.to_owned(), error);
        let lock = lock(path)?;
        take_over(path)?;
        let address = SocketAddrUnix::new(path).map_err(|error| refused(error.into()))?;
        let socket = listening(&address, path, group)?;
        let found = fs::symlink_metadata(path).map_err(refused)?;
        Ok(Self {
            listener: UnixListener::from(socket),
            path: path.to_owned(),
            inode: (found.dev(), found.ino()),
            _lock: lock,
        })
    }
}

impl Drop for Socket {
    /// Takes the file away, unless it is another's by now. The lock's file stays: taking it away
    /// would let two have a lock each.
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == self.inode);
        if ours {
            // Without it, what follows takes it over.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Nobody can connect before `listen`, and by then the file has its mode and group.
fn listening(
    address: &SocketAddrUnix,
    path: &Path,
    group: Option<u32>,
) -> Result<OwnedFd, BindError> {
    let refused = |error: Errno| BindError::Refused(path.to_owned(), error.into());
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let socket = socket.map_err(refused)?;
    rustix::net::bind(&socket, address).map_err(refused)?;
    if let Some(group) = group {
        let owned = rustix::fs::chown(path, None, Some(Gid::from_raw(group)));
        owned.map_err(|error| BindError::Group(path.to_owned(), group, error.into()))?;
    }
    rustix::fs::chmod(path, Mode::from_raw_mode(MODE)).map_err(refused)?;
    rustix::net::listen(&socket, BACKLOG).map_err(refused)?;
    Ok(socket)
}

/// The lock beside the socket, `PATH.lock`.
fn lock(path: &Path) -> Result<File, BindError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options
        .open(PathBuf::from(&name))
        .map_err(|error| BindError::Refused(name.into(), error))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(BindError::Taken(path.to_owned())),
        Err(error) => Err(BindError::Refused(path.to_owned(), error.into())),
    }
}

/// Takes away a socket that nobody listens on any more.
fn take_over(path: &Path) -> Result<(), BindError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(BindError::Refused(path.to_owned(), error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(BindError::NoSocket(path.to_owned()));
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        // Only this is said of a socket without a listener.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| BindError::Refused(path.to_owned(), error))
        }
        _ => Err(BindError::Taken(path.to_owned())),
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(path) => write!(
                f,
                "another daemon answers at {}: stop it, or give this one another socket in \
                 [control]",
                path.display()
            ),
            Self::NoSocket(path) => write!(
                f,
                "{} is there and is no socket: move it away, or name another path in [control]",
                path.display()
            ),
            Self::Refused(path, error) => write!(
                f,
                "{} cannot be listened on: {error}; check that its folder is there and may be \
                 written",
                path.display()
            ),
            Self::Group(path, group, error) => write!(
                f,
                "{} cannot be given to group {group}: {error}; start as root, or name a group \
                 in [control] that the daemon's user is in",
                path.display()
            ),
        }
    }
}

impl std::error::Error for BindError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_socket_is_taken_over_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        // As kill -9 leaves it: the file without the listener.
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let first = Socket::bind(&path, None).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, MODE);
        assert!(matches!(
            Socket::bind(&path, None),
            Err(BindError::Taken(_))
        ));
        drop(first);
        assert!(!path.exists());
        // One that answers and knows nothing of locks.
        let foreign = UnixListener::bind(&path).unwrap();
        assert!(matches!(
            Socket::bind(&path, None),
            Err(BindError::Taken(_))
        ));
        assert!(path.exists());
        drop(foreign);
        drop(Socket::bind(&path, None).unwrap());
    }

    #[test]
    fn what_is_no_socket_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "precious").unwrap();
        assert!(matches!(
            Socket::bind(&path, None),
            Err(BindError::NoSocket(_))
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        let missing = folder.path().join("no/folder");
        let error = Socket::bind(&missing, None).unwrap_err();
        assert!(
            error.to_string().contains("cannot be listened on"),
            "{error}"
        );
    }
}
