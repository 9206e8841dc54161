//! A command whose standard output is a list: run without a shell, bounded, and not left behind.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal as Kill, kill_process_group, pidfd_open};

use super::backoff::Backoff;
use super::copied::Copied;
use super::copies::Spooled;
use super::error::SourceError;
use super::left_behind::{self, Mark};
use super::signal::{Signal, Why};
use super::source::SourceSpec;
use super::task::{Desk, Task};

/// The wait after the first failure.
const FIRST_WAIT: Duration = Duration::from_secs(15);

/// Where programs are looked for by those that the command starts itself.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Standard error is read to its end, and so much of its end is kept.
const STDERR_BYTES_KEPT: usize = 4 << 10;

/// The longest line of standard error that is told.
const STDERR_LINE_MAX: usize = 200;

/// How long after the command has ended its output may stay open: what it left behind is killed.
const LINGER: Duration = Duration::from_millis(500);

/// A command that feeds a set.
pub(crate) struct CommandTask {
    copied: Copied,
    argv: Vec<String>,
    timeout: Duration,
    backoff: Backoff,
}

impl CommandTask {
    pub(crate) fn new(
        spec: SourceSpec,
        argv: Vec<String>,
        timeout: Duration,
        folder: &Path,
    ) -> Self {
        let name = spec.source.name();
        Self {
            backoff: Backoff::new(FIRST_WAIT.min(spec.refresh), spec.refresh),
            copied: Copied::new(spec, name, argv.join("\0").as_bytes(), folder),
            argv,
            timeout,
        }
    }

    fn refresh(&mut self, desk: &Desk, why: Why) -> Result<(), SourceError> {
        desk.tried();
        let spooled = self.run(desk)?;
        let copy = self.copied.describe();
        self.copied.take(desk, spooled, copy, why)
    }

    /// Runs the command to its end and keeps what it wrote.
    fn run(&self, desk: &Desk) -> Result<Spooled, SourceError> {
        let spec = &self.copied.spec;
        let name = spec.source.name();
        let mut output = Output::start(&self.argv, &spec.set, self.timeout)
            .map_err(|error| SourceError::io(name.as_str(), "be run", error))?;
        output.signal = Some(Arc::clone(&desk.signal));
        let bytes_max = spec.limits.bytes_max;
        let stopped = || match desk.signal.is_stopped() {
            true => Err(SourceError::Stopped),
            false => Ok(()),
        };
        let limit = self.timeout;
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut => SourceError::TooSlow {
                name: name.clone(),
                limit,
            },
            io::ErrorKind::ConnectionAborted => SourceError::Stopped,
            _ => SourceError::io(name.as_str(), "be read", error),
        };
        let copies = &self.copied.copies;
        let spooled = copies.spool(&name, &mut output, bytes_max, stopped, failed)?;
        let (status, stderr) = output
            .finish()
            .map_err(|error| SourceError::io(name.as_str(), "be waited for", error))?;
        if !status.success() {
            let ending = ending(status);
            return Err(SourceError::Command {
                name,
                ending,
                stderr,
            });
        }
        Ok(spooled)
    }
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in a way that is not known".to_owned(),
    }
}

/// A command that runs, read as its standard output. Whatever is left of its process group, and of
/// what has its mark, is killed when this goes.
struct Output {
    child: Child,
    group: Pid,
    mark: Mark,
    ended: OwnedFd,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    kept: Vec<u8>,
    end: Instant,
    signal: Option<Arc<Signal>>,
    /// True when the command has ended and its output has not.
    lingering: bool,
    reaped: bool,
}

impl Output {
    fn start(argv: &[String], set: &str, timeout: Duration) -> io::Result<Self> {
        let [program, arguments @ ..] = argv else {
            return Err(io::Error::other("the command is empty"));
        };
        if !Path::new(program).is_absolute() {
            let told = "a program is named by its whole path, as in /usr/bin/curl";
            return Err(io::Error::other(told));
        }
        let mark = Mark::new();
        let mut child = Command::new(PathBuf::from(program))
            .args(arguments)
            .env_clear()
            .env("PATH", PATH)
            .env("LANG", "C.UTF-8")
            .env("LINERATE_SET", set)
            .env(left_behind::VARIABLE, mark.value())
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let pipes = (child.stdout.take(), child.stderr.take());
        let watched = pidfd_open(group, PidfdFlags::empty());
        let (Ok(ended), (Some(stdout), stderr)) = (watched, pipes) else {
            let _ = kill_process_group(group, Kill::KILL);
            let _ = child.wait();
            return Err(io::Error::other("its end cannot be watched (pidfd_open)"));
        };
        Ok(Self {
            child,
            group,
            mark,
            ended,
            stdout,
            stderr,
            kept: Vec::new(),
            end: Instant::now() + timeout,
            signal: None,
            lingering: false,
            reaped: false,
        })
    }

    /// Waits for what comes first and reads standard error. True when standard output has
    /// something to say or has ended.
    fn wait(&mut self) -> io::Result<bool> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() && self.lingering {
            let told = "the command left processes behind that hold its output open";
            return Err(io::Error::other(told));
        }
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let ready = self.poll(left)?;
        if let Some(signal) = self.signal.as_ref().filter(|_| ready.bell) {
            signal.hush();
            if signal.is_stopped() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        if ready.stderr {
            self.read_stderr()?;
        }
        if ready.ended && !self.lingering {
            // What it wrote before it ended is in the pipe; what it left behind may hold it open.
            self.end = self.end.min(Instant::now() + LINGER);
            self.lingering = true;
        }
        Ok(ready.stdout)
    }

    fn poll(&self, left: Duration) -> io::Result<Ready> {
        let timeout = Timespec {
            tv_sec: left.as_secs().min(1 << 30) as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        // Once it has ended only its pipes are waited for, or its pidfd would wake at once.
        let ended = is_readable(self.ended.as_fd());
        let watched = [
            Some(self.stdout.as_fd()),
            self.stderr.as_ref().map(AsFd::as_fd),
            self.signal.as_ref().map(|signal| signal.bell()),
            (!ended).then_some(self.ended.as_fd()),
        ];
        let mut fds: Vec<PollFd<'_>> = watched
            .iter()
            .flatten()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
            .collect();
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut woken = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next =
            |watched: Option<BorrowedFd<'_>>| watched.is_some() && woken.next().unwrap_or(false);
        Ok(Ready {
            stdout: next(watched[0]),
            stderr: next(watched[1]),
            bell: next(watched[2]),
            ended: next(watched[3]) || ended,
        })
    }

    fn read_stderr(&mut self) -> io::Result<()> {
        let Some(stderr) = &mut self.stderr else {
            return Ok(());
        };
        let mut room = [0; STDERR_BYTES_KEPT];
        let count = stderr.read(&mut room)?;
        if count == 0 {
            self.stderr = None;
        }
        self.kept.extend_from_slice(&room[..count]);
        let surplus = self.kept.len().saturating_sub(STDERR_BYTES_KEPT);
        self.kept.drain(..surplus);
        Ok(())
    }

    /// After the end of its output: how it ended, and its last line of standard error.
    fn finish(mut self) -> io::Result<(ExitStatus, String)> {
        while !is_readable(self.ended.as_fd()) || self.stderr.is_some() {
            match self.wait_for_end() {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                Err(error) => return Err(error),
            }
        }
        self.kill_group();
        let status = self.child.wait()?;
        self.reaped = true;
        Ok((status, last_line(&self.kept)))
    }

    fn wait_for_end(&mut self) -> io::Result<()> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // The end of standard output is readable for ever: a short nap in place of a poll on it.
        if self
            .stderr
            .as_ref()
            .is_some_and(|pipe| is_readable(pipe.as_fd()))
        {
            return self.read_stderr();
        }
        if is_readable(self.ended.as_fd()) && !self.lingering {
            self.end = self.end.min(Instant::now() + LINGER);
            self.lingering = true;
        }
        std::thread::sleep(left.min(Duration::from_millis(2)));
        Ok(())
    }

    /// The group exists as long as its leader was not waited for: no other can have its number.
    fn kill_group(&self) {
        let _ = kill_process_group(self.group, Kill::KILL);
        self.mark.kill_all();
    }
}

/// What a poll found.
struct Ready {
    stdout: bool,
    stderr: bool,
    bell: bool,
    ended: bool,
}

fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut fds, Some(&now)).is_ok_and(|count| count != 0)
}

impl Read for Output {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while !self.wait()? {}
        self.stdout.read(room)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill_group();
            let _ = self.child.wait();
        }
    }
}

/// The last line that says something, printable and bounded.
fn last_line(kept: &[u8]) -> String {
    let text = String::from_utf8_lossy(kept);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    let printable = |c: char| if c.is_control() { '?' } else { c };
    let line = line.unwrap_or_default().trim().chars().map(printable);
    line.take(STDERR_LINE_MAX).collect()
}

impl Task for CommandTask {
    fn turn(&mut self, why: Why, desk: &Desk) -> Duration {
        self.copied.start(desk);
        match self.refresh(desk, why) {
            Ok(()) => self.backoff.regular(self.copied.spec.refresh),
            Err(SourceError::Stopped) => Duration::ZERO,
            Err(error) => {
                let count = desk.failed(&error);
                self.backoff.after_failures(count, None)
            }
        }
    }
}
