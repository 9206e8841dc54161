//! Folders that a user needs and only root can make.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::PrivilegeError;
use super::accounts::Account;
use crate::config::{Config, DEFAULT_SOCKET};
use port::interface::records_folder;

/// Makes the folders of state, of the control socket, and of what is changed on interfaces, for the
/// user. That of the socket stays whose it is if it is there, unless it is the program's own.
pub(super) fn make(config: &Config, account: &Account) -> Result<(), PrivilegeError> {
    if let Some(dir) = &config.state.dir {
        fresh(dir, 0o700, account).map_err(|error| refused(dir, error))?;
        give(dir, account).map_err(|error| refused(dir, error))?;
    }
    if let Some(dir) = config.control.socket.parent() {
        fresh(dir, 0o755, account).map_err(|error| refused(dir, error))?;
    }
    let records = records_folder(account.uid.as_raw());
    fresh(&records, 0o755, account).map_err(|error| refused(&records, error))?;
    // A folder of the program's own that root's processes made before is needed for the socket.
    let own = Path::new(DEFAULT_SOCKET).parent();
    match own.filter(|own| config.control.socket.parent() == Some(own)) {
        Some(own) => give_alone(own, account).map_err(|error| refused(own, error)),
        None => Ok(()),
    }
}

fn refused(folder: &Path, error: io::Error) -> PrivilegeError {
    PrivilegeError::Folder(folder.display().to_string(), error)
}

/// Makes a folder for the user, if it is not there.
fn fresh(folder: &Path, mode: u32, account: &Account) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::DirBuilder::new().mode(mode).create(folder)?;
    give(folder, account)
}

/// Makes a folder, and what root left in it, the user's. Links are not followed: what they point
/// to may be anybody's.
fn give(folder: &Path, account: &Account) -> io::Result<()> {
    give_alone(folder, account)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            give(&entry.path(), account)?;
        } else {
            give_alone(&entry.path(), account)?;
        }
    }
    Ok(())
}

fn give_alone(path: &Path, account: &Account) -> io::Result<()> {
    let (uid, gid) = (account.uid.as_raw(), account.gid.as_raw());
    std::os::unix::fs::lchown(path, Some(uid), Some(gid))
}
