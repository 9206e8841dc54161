//! A network namespace that has no name and ends with the process, however that ends.
//!
//! A child makes it and waits for the end of its input. When this process is gone, its end of
//! that pipe is closed, the child ends, and the kernel removes the namespace with all that is in
//! it: interfaces, bridges, tables. What this process had written down of those interfaces, to be
//! put back by somebody else, the child takes away then: nobody could find them any more.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use port::interface::records_prefix;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

const OURS: &str = "/proc/thread-self/ns/net";
/// What the child runs: each line that it reads is the beginning of the names of files that it
/// takes away at its end, and is answered with an empty one.
/// Ctrl-C reaches it with the rest of the program's group, and it has more to do.
const CHILD: &str = r#"
trap '' INT HUP TERM QUIT
while read -r files; do gone=$files; echo; done
[ -z "$gone" ] || rm -f -- "$gone"*
"#;

/// How long the child may take for that.
const CHILD_ENDS: Duration = Duration::from_secs(1);

/// While it lives, the calling thread and the threads that it starts are in the namespace.
pub(super) struct Namespace {
    keeper: Keeper,
    home: File,
}

/// The child.
struct Keeper(Child);

impl Namespace {
    /// Makes one and enters it.
    ///
    /// # Errors
    ///
    /// A sentence that says why there is none.
    pub(super) fn enter() -> Result<Self, String> {
        let refused = |error: io::Error| format!("no network namespace can be made: {error}");
        let home = File::open(OURS).map_err(refused)?;
        let keeper = Keeper::start()?;
        let place = File::open(format!("/proc/{}/ns/net", keeper.0.id())).map_err(refused)?;
        set(&place).map_err(refused)?;
        // From here on whatever fails takes the thread home.
        let mut namespace = Self { keeper, home };
        let records = records_prefix().unwrap_or_default();
        let told = namespace.keeper.told(records.as_os_str().as_bytes());
        told.map_err(refused)?;
        // Neighbour discovery would mix with what is counted; without IPv6 there is none.
        for scope in ["all", "default"] {
            let switch = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
            let _without_ipv6 = fs::write(switch, "1");
        }
        // Where the kernel has it built in, each bridged frame would be shown to iptables too.
        let _without_filter = fs::write("/proc/sys/net/bridge/bridge-nf-call-iptables", "0");
        Ok(namespace)
    }

    /// The child's number.
    #[cfg(test)]
    pub(super) fn keeper(&self) -> u32 {
        self.keeper.0.id()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _home_again = set(&self.home);
        self.keeper.end();
    }
}

impl Keeper {
    /// Starts the child and waits until it is in its namespace: then it answers.
    fn start() -> Result<Self, String> {
        let child = Command::new("unshare")
            .args(["--net", "sh", "-c", CHILD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut keeper = Self(child.map_err(|error| {
            format!("no network namespace can be made: unshare does not start ({error})")
        })?);
        if keeper.told(b"").is_ok() {
            return Ok(keeper);
        }
        let _ended = keeper.0.kill();
        let mut said = String::new();
        if let Some(mut stderr) = keeper.0.stderr.take() {
            let _said_nothing = stderr.read_to_string(&mut said);
        }
        Err(format!("no network namespace can be made: {}", said.trim()))
    }

    /// Tells the child a line, and waits until it has read it.
    fn told(&mut self, line: &[u8]) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = self.0.stdin.as_mut().ok_or_else(gone)?;
        input.write_all(line)?;
        input.write_all(b"\n")?;
        input.flush()?;
        let output = self.0.stdout.as_mut().ok_or_else(gone)?;
        output.read_exact(&mut [0])
    }

    /// It has records to take away that ports of this process left on purpose; what does not come
    /// to its end by itself is ended.
    fn end(&mut self) {
        drop(self.0.stdin.take());
        let begun = Instant::now();
        while begun.elapsed() < CHILD_ENDS && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
        let _ended_already = self.0.kill();
        let _ended_already = self.0.wait();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

fn set(place: &File) -> io::Result<()> {
    let kind = Some(LinkNameSpaceType::Network);
    Ok(move_into_link_name_space(place.as_fd(), kind)?)
}
