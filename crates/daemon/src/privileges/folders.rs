//! Folders that a user needs and only root can make.

use std::path::Path;

use super::PrivilegeError;
use super::accounts::Account;
use super::giving::{self, Known};
use crate::config::{Config, DEFAULT_SOCKET};
use crate::journal;
use crate::sources::{FOLDERS, is_copy};
use port::interface::records_folder;

/// Makes the folders of state, of the control socket, and of what is changed on interfaces, for the
/// user. That of the socket stays whose it is if it is there, unless it is the program's own.
pub(super) fn make(config: &Config, account: &Account) -> Result<(), PrivilegeError> {
    if let Some(dir) = &config.state.dir {
        giving::make(dir, 0o700)?;
        giving::give(dir, of_state, account)?;
    }
    if let Some(dir) = config.control.socket.parent() {
        let own = Path::new(DEFAULT_SOCKET).parent();
        let is_there = dir.is_dir();
        giving::make(dir, 0o755)?;
        // The program's own may be root's from a run before; others are whose they are.
        if !is_there || own == Some(dir) {
            giving::give_alone(dir, account)?;
        }
    }
    let records = records_folder(account.uid.as_raw());
    giving::make(&records, 0o755)?;
    giving::give_alone(&records, account)?;
    Ok(())
}

/// What is in the folder of `[state]`.
pub(super) fn of_state(name: &str) -> Known {
    match name {
        _ if FOLDERS.contains(&name) => Known::Folder(of_copies),
        _ if journal::is_its_file(name) => Known::File,
        _ => Known::Foreign,
    }
}

fn of_copies(name: &str) -> Known {
    match is_copy(name) {
        true => Known::File,
        false => Known::Foreign,
    }
}
