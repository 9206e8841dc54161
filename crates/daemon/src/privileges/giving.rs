//! Giving a folder that root has to a user, and nothing that is somebody else's.
//!
//! Whoever may write into a folder may have put anything there by the time that root looks: a link
//! to a file of another's, by name or by number, would become the user's with it. So root gives
//! what nobody but root could write to, and holds folders by descriptors, never by names.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, chownat, fchown, fstat, mkdirat,
    openat, openat2, statat,
};
use rustix::io::Errno;

use super::accounts::Account;

/// Bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// What a name in a folder is.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// A file of ours.
    File,
    /// A folder of ours, and what is in it.
    Folder(Names),
    /// Anything else.
    Foreign,
}

/// Tells what a name in a folder is.
pub(super) type Names = fn(&str) -> Known;

/// Why a folder is not given.
#[derive(Debug)]
pub enum NotGiven {
    /// The kernel refuses; what it was to do, where.
    Io(PathBuf, io::Error),
    /// Its path goes through a symbolic link.
    Link(PathBuf),
    /// It belongs to neither root nor the user: the number of its owner.
    Owned(PathBuf, u32),
    /// Others may write into it.
    Open(PathBuf),
    /// It holds something that is not ours.
    Foreign(PathBuf),
    /// A file of ours has another name somewhere.
    Linked(PathBuf),
    /// A file of another in a folder that the user has already.
    Theirs(PathBuf, u32),
}

impl fmt::Display for NotGiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(
                f,
                "{} cannot be made or given to the user ({error}): make it, and give it to the \
                 user",
                path.display()
            ),
            Self::Link(path) => write!(
                f,
                "{} is reached by a symbolic link, which root does not follow: write the path that \
                 it stands for",
                path.display()
            ),
            Self::Owned(path, uid) => write!(
                f,
                "{} belongs to user {uid}, who is neither root nor the user of [user]: name \
                 another folder, or chown it",
                path.display()
            ),
            Self::Open(path) => write!(
                f,
                "{} can be written by others, so that what it holds is not given to the user: \
                 chmod go-w it after a look at what is in it",
                path.display()
            ),
            Self::Foreign(path) => write!(
                f,
                "{} is nothing that linerate keeps, so its folder is not given to the user: name a \
                 folder of linerate's own, or move the file away",
                path.display()
            ),
            Self::Linked(path) => write!(
                f,
                "{} has a second name elsewhere (a hard link), so it is not given to the user: \
                 remove one of the two",
                path.display()
            ),
            Self::Theirs(path, uid) => write!(
                f,
                "{} belongs to user {uid}, in a folder that the user of [user] may write to: look \
                 at it, then chown it to that user or remove it",
                path.display()
            ),
        }
    }
}

impl std::error::Error for NotGiven {}

/// A folder, open.
struct Held {
    fd: OwnedFd,
    path: PathBuf,
    stat: Stat,
}

/// Makes a folder, if it is not there, and those above it, which stay root's.
pub(super) fn make(path: &Path, mode: u32) -> Result<(), NotGiven> {
    let failed = |error: io::Error| NotGiven::Io(path.to_owned(), error);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    match mkdirat(CWD, path, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(failed(error.into())),
    }
}

/// Gives a folder and what is in it to the user, if `names` knows all of it. What is the user's
/// already stays as it is.
pub(super) fn give(path: &Path, names: Names, account: &Account) -> Result<(), NotGiven> {
    let mut entries = Vec::new();
    let top = Held::open(path)?;
    let mut folders = vec![(top, names)];
    let mut seen = 0;
    // All is looked at before anything is given.
    while let Some((folder, names)) = folders.get(seen) {
        let found = folder.look(*names, account)?;
        for (name, known) in found {
            if let Known::Folder(names) = known {
                folders.push((folders[seen].0.inner(&name)?, names));
            } else {
                entries.push((seen, name));
            }
        }
        seen += 1;
    }
    for (at, name) in &entries {
        folders[*at].0.give_file(name, account)?;
    }
    // Until a folder is his, nobody but root writes there: the outermost goes last.
    for (folder, _) in folders.iter().rev() {
        folder.give(account)?;
    }
    Ok(())
}

/// Gives a folder alone, whatever is in it.
pub(super) fn give_alone(path: &Path, account: &Account) -> Result<(), NotGiven> {
    let folder = Held::open(path)?;
    folder.check(account)?;
    folder.give(account)
}

impl Held {
    fn open(path: &Path) -> Result<Self, NotGiven> {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let fd = match openat2(CWD, path, flags(), Mode::empty(), resolve) {
            // Not a directory: a link of that name.
            Err(Errno::LOOP) => return Err(NotGiven::Link(path.to_owned())),
            Err(error) => return Err(NotGiven::Io(path.to_owned(), error.into())),
            Ok(fd) => fd,
        };
        Self::of(fd, path.to_owned())
    }

    fn of(fd: OwnedFd, path: PathBuf) -> Result<Self, NotGiven> {
        match fstat(&fd) {
            Ok(stat) => Ok(Self { fd, path, stat }),
            Err(error) => Err(NotGiven::Io(path, error.into())),
        }
    }

    fn inner(&self, name: &str) -> Result<Self, NotGiven> {
        let path = self.path.join(name);
        match openat(&self.fd, name, flags(), Mode::empty()) {
            Ok(fd) => Self::of(fd, path),
            Err(error) => Err(NotGiven::Io(path, error.into())),
        }
    }

    fn failed(&self, error: Errno) -> NotGiven {
        NotGiven::Io(self.path.clone(), error.into())
    }

    fn is_his(&self, account: &Account) -> bool {
        self.stat.st_uid == account.uid.as_raw()
    }

    /// Whether it may be given: it is root's alone, or the user's.
    fn check(&self, account: &Account) -> Result<(), NotGiven> {
        if self.is_his(account) {
            return Ok(());
        }
        if self.stat.st_uid != 0 {
            return Err(NotGiven::Owned(self.path.clone(), self.stat.st_uid));
        }
        match self.stat.st_mode & OTHERS_WRITE {
            0 => Ok(()),
            _ => Err(NotGiven::Open(self.path.clone())),
        }
    }

    /// What is in it and to be given.
    fn look(&self, names: Names, account: &Account) -> Result<Vec<(String, Known)>, NotGiven> {
        self.check(account)?;
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(|error| self.failed(error))? {
            let entry = entry.map_err(|error| self.failed(error))?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let path = self.path.join(std::ffi::OsStr::from_bytes(name));
            let text = std::str::from_utf8(name).ok();
            let known = text.map_or(Known::Foreign, names);
            let stat = match statat(&self.fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                // A daemon that ends takes its files away.
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(NotGiven::Io(path, error.into())),
            };
            if self.fits(known, &stat, path, account)? {
                found.extend(text.map(|text| (text.to_owned(), known)));
            }
        }
        Ok(found)
    }

    /// Whether something in it is to be given, or why the whole is not.
    fn fits(
        &self,
        known: Known,
        stat: &Stat,
        path: PathBuf,
        account: &Account,
    ) -> Result<bool, NotGiven> {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let is_known = match known {
            Known::File => kind == FileType::RegularFile,
            Known::Folder(_) => kind == FileType::Directory,
            Known::Foreign => false,
        };
        let uid = stat.st_uid;
        let is_his = uid == account.uid.as_raw();
        if self.is_his(account) {
            // What is in a folder of his is his affair, unless it is ours and would not open.
            return match is_known && !is_his {
                true => Err(NotGiven::Theirs(path, uid)),
                false => Ok(is_known && kind == FileType::Directory),
            };
        }
        match kind {
            _ if !is_known => Err(NotGiven::Foreign(path)),
            _ if uid != 0 && !is_his => Err(NotGiven::Theirs(path, uid)),
            FileType::RegularFile if stat.st_nlink != 1 => Err(NotGiven::Linked(path)),
            _ => Ok(true),
        }
    }

    fn give_file(&self, name: &str, account: &Account) -> Result<(), NotGiven> {
        let (uid, gid) = (Some(account.uid), Some(account.gid));
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        chownat(&self.fd, name, uid, gid, flags)
            .map_err(|error| NotGiven::Io(self.path.join(name), error.into()))
    }

    fn give(&self, account: &Account) -> Result<(), NotGiven> {
        if self.is_his(account) {
            return Ok(());
        }
        fchown(&self.fd, Some(account.uid), Some(account.gid)).map_err(|error| self.failed(error))
    }
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
