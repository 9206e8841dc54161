//! What a service manager hears of a daemon: that it is ready, that its workers go round or do
//! not, that it ends, and what it logs to the journal. The tests play systemd.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::Place;
use crate::daemon::{BRIDGE, Daemon};

/// How long anything may take that takes milliseconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A datagram socket that somebody else sends to.
struct Ear(UnixDatagram);

impl Ear {
    fn at(path: &std::path::Path) -> Self {
        let socket = UnixDatagram::bind(path).expect("a socket");
        socket.set_read_timeout(Some(PATIENCE)).expect("a time");
        Self(socket)
    }

    #[track_caller]
    fn hear(&self) -> String {
        let mut bytes = [0; 64 << 10];
        let read = self.0.recv(&mut bytes).expect("a datagram in time");
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }

    /// Hears until something begins so; gives back what came before it.
    #[track_caller]
    fn await_line(&self, begin: &str) -> Vec<String> {
        let (begun, mut before) = (Instant::now(), Vec::new());
        loop {
            let heard = self.hear();
            if heard.starts_with(begin) {
                return before;
            }
            before.push(heard);
            assert!(begun.elapsed() < PATIENCE, "no {begin}: {before:?}");
        }
    }
}

/// A pipe with a name that is read as long as a test wants it to be: who writes to it waits else.
struct Pipe {
    reads: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Pipe {
    fn at(path: &std::path::Path) -> Self {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).expect("a pipe");
        // Both ways, so that neither end waits for the other to be opened.
        let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).expect("a flag");
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(nonblock);
        let mut pipe: File = options.open(path).expect("the pipe");
        let (reads, ends) = (
            Arc::new(AtomicBool::new(true)),
            Arc::new(AtomicBool::new(false)),
        );
        let (reading, ending) = (Arc::clone(&reads), Arc::clone(&ends));
        let reader = spawn(move || {
            let mut bytes = vec![0; 64 << 10];
            while !ending.load(Ordering::Relaxed) {
                let count = match reading.load(Ordering::Relaxed) {
                    true => pipe.read(&mut bytes).unwrap_or(0),
                    false => 0,
                };
                if count == 0 {
                    sleep(Duration::from_millis(1));
                }
            }
        });
        Self {
            reads,
            ends,
            reader: Some(reader),
        }
    }

    fn read(&self, on: bool) {
        self.reads.store(on, Ordering::Relaxed);
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            reader.join().expect("no panic");
        }
    }
}

#[test]
fn a_watchdog_is_fed_while_workers_go_round_and_no_longer() {
    let place = Place::new();
    let manager = Ear::at(&place.path("notify"));
    let pipe = Pipe::at(&place.path("out.pcap"));
    place.write("a.toml", BRIDGE.replace("null:", "pcap:out=out.pcap"));
    let mut command = place.command("run a.toml --json");
    command
        .env("NOTIFY_SOCKET", place.path("notify"))
        .env("WATCHDOG_USEC", "2000000");
    let daemon = Daemon::start_as(&place, &mut command);
    assert_eq!(manager.await_line("READY=1\n").len(), 0);
    manager.await_line("WATCHDOG=1\n");
    manager.await_line("WATCHDOG=1\n");
    // The worker waits in the middle of a frame from now on.
    pipe.read(false);
    manager.await_line("STATUS=Worker 0 on CPU ");
    for _ in 0..3 {
        let before = manager.await_line("STATUS=Worker 0 on CPU ");
        assert_eq!(before, Vec::<String>::new(), "fed although a worker hangs");
    }
    pipe.read(true);
    manager.await_line("WATCHDOG=1\n");
    daemon.signal(Signal::HUP);
    manager.await_line("RELOADING=1\nMONOTONIC_USEC=");
    manager.await_line("READY=1\n");
    let (_, log) = daemon.stop();
    assert!(log.contains("a worker does not go round"), "{log}");
    manager.await_line("STOPPING=1\n");
}

/// A command that runs the program where `journal` is the journal's folder; none without root.
fn with_journal(place: &Place, stderr: &File, stream: &str) -> Option<Command> {
    let mount = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal && \
                 mount --bind journal /run/systemd/journal";
    let able = Command::new("unshare")
        .args(["--mount", "sh", "-c", mount])
        .current_dir(place.path(""))
        .output();
    if !able.is_ok_and(|output| output.status.success()) {
        println!("skipped: no mounts of its own for a process here");
        return None;
    }
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c"])
        .arg(format!("{mount} && exec \"$0\" run a.toml --json"))
        .arg(env!("CARGO_BIN_EXE_linerate"))
        .current_dir(place.path(""))
        .env("JOURNAL_STREAM", stream)
        .stdout(Stdio::piped())
        .stderr(stderr.try_clone().expect("a file"));
    Some(command)
}

#[test]
fn what_is_logged_goes_to_the_journal_that_reads_standard_error() {
    let place = Place::new();
    place.write("a.toml", BRIDGE);
    fs::create_dir(place.path("journal")).expect("a folder");
    let journal = Ear::at(&place.path("journal/socket"));
    for is_journal in [true, false] {
        let stderr = File::create(place.path("stderr")).expect("a file");
        let meta = stderr.metadata().expect("its numbers");
        // Where it is another file's number, standard error was given to somebody else since.
        let ino = meta.ino() + u64::from(!is_journal);
        let stream = format!("{}:{ino}", meta.dev());
        let Some(mut command) = with_journal(&place, &stderr, &stream) else {
            return;
        };
        Daemon::start_as(&place, &mut command).stop();
        let said = String::from_utf8(place.read("stderr")).expect("text");
        if is_journal {
            // Before it is used, it is tried with nothing.
            let mut heard = journal.hear();
            while heard.is_empty() {
                heard = journal.hear();
            }
            let has = |field: &str| heard.contains(field);
            for field in [
                "SYSLOG_IDENTIFIER",
                "linerate\n",
                "PRIORITY",
                "MESSAGE",
                "F_DIR",
            ] {
                assert!(has(field), "no {field}: {heard}");
            }
            assert!(!said.contains("\"level\""), "{said}");
            journal.0.set_nonblocking(true).expect("a mode");
            while journal.0.recv(&mut [0; 64 << 10]).is_ok() {}
        } else {
            let first = said.lines().find(|line| line.starts_with('{'));
            assert!(
                first.is_some_and(|line| line.contains("\"level\"")),
                "{said}"
            );
            assert!(journal.0.recv(&mut [0; 16]).is_err(), "the journal heard");
        }
    }
}
