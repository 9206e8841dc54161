//! Whom the daemon runs as: a user of its own that keeps three capabilities.
//!
//! | capability | what for |
//! | --- | --- |
//! | `CAP_NET_ADMIN` | attaching programs to interfaces, their settings, promiscuous mode |
//! | `CAP_NET_RAW` | AF_XDP and packet sockets |
//! | `CAP_BPF` | loading programs and maps |
//!
//! They are kept, so that an interface that went away can be opened again when it comes back.
//! Credentials are a thread's own: [`become_user`] is called while there is one thread, and all
//! that are started from it inherit what is left.

mod accounts;
mod folders;
mod giving;
#[cfg(test)]
mod giving_tests;

use std::fmt;
use std::io;

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, geteuid, set_dumpable_behavior, setrlimit,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_no_new_privs,
    set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

pub use accounts::{group_id, is_user, user_name};
pub use giving::NotGiven;

use crate::config::Config;
use accounts::Account;

/// What stays.
const KEPT: CapabilitySet = CapabilitySet::NET_ADMIN
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::BPF);

/// Why the daemon cannot run as the user it is told to.
#[derive(Debug)]
#[non_exhaustive]
pub enum PrivilegeError {
    /// There is no such user.
    NoUser(String),
    /// There is no such group.
    NoGroup(String),
    /// Only root can become somebody else.
    NotRoot(String),
    /// A folder cannot be made, or is not given to the user.
    Folder(NotGiven),
    /// The kernel refused a step.
    Step(&'static str, io::Error),
}

impl fmt::Display for PrivilegeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUser(name) => write!(
                f,
                "there is no user '{name}' in /etc/passwd: make one with useradd --system {name}, \
                 or let systemd choose by User="
            ),
            Self::NoGroup(name) => write!(
                f,
                "there is no group '{name}' in /etc/group: make one with groupadd --system {name}"
            ),
            Self::NotRoot(name) => write!(
                f,
                "only root can become user '{name}': start it as root, or leave [user] out"
            ),
            Self::Folder(why) => why.fmt(f),
            Self::Step(step, error) => write!(
                f,
                "the kernel refuses to {step} ({error}): start it with all capabilities, or leave \
                 [user] out"
            ),
        }
    }
}

impl std::error::Error for PrivilegeError {}

impl From<NotGiven> for PrivilegeError {
    fn from(why: NotGiven) -> Self {
        Self::Folder(why)
    }
}

/// Becomes the user of the configuration, who keeps the three capabilities and gains no other; the
/// folders of state and of the control socket are made and become his. Without `[user]` nothing
/// changes.
///
/// To be called before any other thread is started: it speaks for the calling thread and those
/// that it starts later.
///
/// # Errors
///
/// [`PrivilegeError`]; then the process should end, since it may be half of each.
pub fn become_user(config: &Config) -> Result<(), PrivilegeError> {
    let Some(user) = &config.user else {
        return Ok(());
    };
    let account = Account::of(&user.name)?;
    let group = config.control.group.as_deref();
    let group =
        group.map(|name| group_id(name).ok_or_else(|| PrivilegeError::NoGroup(name.into())));
    let groups = account.groups(group.transpose()?);
    let now = geteuid();
    if now.is_root() && account.uid != now {
        folders::make(config, &account)?;
        let step = |what| move |error: rustix::io::Errno| PrivilegeError::Step(what, error.into());
        lock_memory();
        limit_bounds().map_err(step("give up other capabilities for good"))?;
        set_keep_capabilities(true).map_err(step("keep capabilities"))?;
        set_thread_groups(&groups).map_err(step("change groups"))?;
        let gid = Some(account.gid);
        set_thread_res_gid(gid, gid, gid).map_err(step("change the group"))?;
        let uid = Some(account.uid);
        set_thread_res_uid(uid, uid, uid).map_err(step("change the user"))?;
        set_keep_capabilities(false).map_err(step("stop keeping capabilities"))?;
        // After a change of user the files of /proc/self are root's otherwise, and who we are is
        // asked there.
        set_dumpable_behavior(DumpableBehavior::Dumpable)
            .map_err(step("stay readable in /proc"))?;
    } else if account.uid != now {
        return Err(PrivilegeError::NotRoot(user.name.clone()));
    }
    keep_three()
}

/// AF_XDP's memory counts as locked for everybody but root. Where this is refused, the port says
/// what to do.
fn lock_memory() {
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    let _ = setrlimit(Resource::Memlock, unlimited);
}

/// Gives up all capabilities but the three, and any way to gain one.
fn keep_three() -> Result<(), PrivilegeError> {
    let step = |what| move |error: rustix::io::Errno| PrivilegeError::Step(what, error.into());
    let had = capabilities(None).map_err(step("tell capabilities"))?;
    let kept = had.permitted & KEPT;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(step("give up capabilities"))?;
    set_no_new_privs(true).map_err(step("give up gaining privileges"))
}

/// Nothing that this process may execute gives it a capability that it gave up.
fn limit_bounds() -> rustix::io::Result<()> {
    for capability in CapabilitySet::all().difference(KEPT).iter() {
        // Kernels that do not know the capability have nothing to give up.
        if capability_is_in_bounding_set(capability).unwrap_or(false) {
            remove_capability_from_bounding_set(capability)?;
        }
    }
    Ok(())
}
