//! A network namespace without a name: it ends with the child that keeps it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// As long as it lives the calling thread is in the namespace.
pub(crate) struct Namespace {
    keeper: Child,
    home: File,
}

impl Namespace {
    /// One with a pair of veth interfaces `a` and `b`, both up; `None`, with the reason printed,
    /// where that cannot be.
    pub(crate) fn with_pair() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: network namespaces need root");
            return None;
        }
        let namespace = Self::enter()?;
        let _without_ipv6 = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        let steps = [
            "ip link add name a type veth peer name b",
            "ip link set dev a up",
            "ip link set dev b up",
        ];
        for step in steps {
            if !succeeds(step) {
                println!("skipped: `{step}` fails here");
                return None;
            }
        }
        Some(namespace)
    }

    fn enter() -> Option<Self> {
        let home = File::open("/proc/thread-self/ns/net").ok()?;
        let mut child = Command::new("unshare");
        child.args(["--net", "cat"]);
        let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(keeper) = child else {
            println!("skipped: `unshare` is not installed");
            return None;
        };
        let mut namespace = Self { keeper, home };
        if !namespace.echoes() {
            println!("skipped: no network namespace can be made here");
            return None;
        }
        let place = format!("/proc/{}/ns/net", namespace.keeper.id());
        move_to(&File::open(place).ok()?);
        Some(namespace)
    }

    /// Waits until the child is where it is to be: then it gives back a byte.
    fn echoes(&mut self) -> bool {
        let (Some(input), Some(output)) = (&mut self.keeper.stdin, &mut self.keeper.stdout) else {
            return false;
        };
        let mut byte = [0];
        input.write_all(b"x").is_ok() && output.read_exact(&mut byte).is_ok()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        move_to(&self.home);
        drop(self.keeper.stdin.take());
        let _ended = self.keeper.wait();
    }
}

fn move_to(place: &File) {
    let kind = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(place.as_fd(), kind).expect("root may");
}

/// Runs a command in the namespace of this thread.
pub(crate) fn succeeds(command: &str) -> bool {
    let mut words = command.split(' ');
    let program = words.next().unwrap_or_default();
    let status = Command::new(program).args(words).status();
    status.is_ok_and(|status| status.success())
}
