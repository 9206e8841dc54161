//! The program under test: `linerate run` from a generator into a pipe.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use daemon::rpc::Client;
use daemon::rpc::answers::{NoParams, SetFacts, SetParams, Workers};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take that takes milliseconds on an idle machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A daemon while it runs, and its folder.
pub(crate) struct Bridge {
    folder: TempDir,
    child: Child,
    pipe: Option<File>,
    pub(crate) generator: String,
}

impl Bridge {
    /// Starts it with these sets, and lists, which are files of its folder.
    pub(crate) fn start(seed: u64, sets: &str, lists: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for (name, text) in lists {
            fs::write(path(name), text).expect("a list");
        }
        let generator = format!("gen:size=64,seed={seed}");
        let out = path("out.pcap");
        mknodat(CWD, &out, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
        // Without waiting for the daemon, which may refuse to start.
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        let pipe = OpenOptions::new()
            .read(true)
            .custom_flags(nonblocking)
            .open(&out)
            .expect("a pipe");
        let config = format!(
            "[[port]]\nname = 'outside'\nspec = '{generator}'\n\
             [[port]]\nname = 'inside'\nspec = 'pcap:out=out.pcap'\n\
             [workers]\ncount = 1\n[control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n{sets}"
        );
        fs::write(path("bridge.toml"), config).expect("a configuration");
        let file = |name| File::create(path(name)).expect("a file");
        let built = env!("CARGO_BIN_EXE_linerate").to_owned();
        let program = std::env::var("LINERATE_SOAK_PROGRAM").unwrap_or(built);
        let child = Command::new(program)
            .args(["run", "bridge.toml", "--json"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(file("report.json"))
            .stderr(file("log"))
            .spawn()
            .expect("it starts");
        let mut bridge = Self {
            folder,
            child,
            pipe: Some(pipe),
            generator,
        };
        let begun = Instant::now();
        while !bridge.forwards() {
            let ended = bridge.child.try_wait().expect("its state");
            let waits = ended.is_none() && begun.elapsed() < PATIENCE;
            assert!(waits, "{ended:?}: {}", bridge.log());
            sleep(Duration::from_millis(20));
        }
        bridge
    }

    /// It says so; its worker may wait already for somebody to read the pipe.
    fn forwards(&self) -> bool {
        self.log().contains("\"forwarding\"")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn socket(&self) -> PathBuf {
        self.path("ctl.sock")
    }

    /// A connection of one's own.
    pub(crate) fn client(&self) -> Client {
        let mut client = Client::connect(&self.socket()).expect("it listens");
        client.allow(PATIENCE);
        client
    }

    /// What leaves, to be read by whoever waits; taken once.
    pub(crate) fn pipe(&mut self) -> File {
        let pipe = self.pipe.take().expect("the first to ask");
        fcntl_setfl(&pipe, OFlags::empty()).expect("a pipe that is waited for");
        pipe
    }

    /// A list comes by renaming, as the guide asks for.
    pub(crate) fn replace(&self, name: &str, text: &str) {
        let beside = self.path("beside");
        fs::write(&beside, text).expect("a list");
        fs::rename(&beside, self.path(name)).expect("a list in its place");
    }

    /// Resident memory in KiB; none when it has ended.
    pub(crate) fn resident_kib(&self) -> Option<u64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(Path::new(&path)).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Ends it as a service manager does; the pipe must be read until it ends.
    pub(crate) fn stop(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // It may have ended by itself, which its exit code tells.
        let _ = kill_process(pid.expect("a process"), Signal::TERM);
    }

    /// Its report, after it was told to stop.
    #[track_caller]
    pub(crate) fn report(&mut self) -> Value {
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}: {}", self.log());
        let text = fs::read_to_string(self.path("report.json")).expect("a report");
        serde_json::from_str(&text).expect("one JSON object")
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It has ended by itself where this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a daemon says of a set.
pub(crate) fn facts(client: &mut Client, set: &str) -> SetFacts {
    let set = set.to_owned();
    let facts = client.call("set.show", &SetParams { set });
    facts.expect("the set's facts")
}

/// Frames that the only worker received, as it last showed.
pub(crate) fn received(client: &mut Client) -> u64 {
    let workers = client.call::<_, Workers>("show.workers", &NoParams {});
    workers.expect("workers").workers[0].frames
}
