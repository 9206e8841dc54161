//! Folders that a user needs and only root can make.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::PrivilegeError;
use super::accounts::Account;
use crate::config::Config;

/// Makes the folders of state and of the control socket, for the user. One that is there stays
/// whose it is, unless it is that of the state, which nobody else has a use for.
pub(super) fn make(config: &Config, account: &Account) -> Result<(), PrivilegeError> {
    if let Some(dir) = &config.state.dir {
        fresh(dir, 0o700, account).map_err(|error| refused(dir, error))?;
        give(dir, account).map_err(|error| refused(dir, error))?;
    }
    match config.control.socket.parent() {
        Some(dir) => fresh(dir, 0o755, account).map_err(|error| refused(dir, error)),
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
    let (uid, gid) = (Some(account.uid.as_raw()), Some(account.gid.as_raw()));
    std::os::unix::fs::lchown(folder, uid, gid)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            give(&entry.path(), account)?;
        } else {
            std::os::unix::fs::lchown(entry.path(), uid, gid)?;
        }
    }
    Ok(())
}
