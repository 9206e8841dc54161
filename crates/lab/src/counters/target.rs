//! What is measured: a command, a process, or CPUs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::session::Session;
use super::{Family, Interrupts, Report, metrics};
use crate::online::online;
use crate::sys::perf_event::Scope;

/// How often it is looked whether to end.
const LOOK: Duration = Duration::from_millis(2);
/// Threads of a process that are counted at most.
const THREADS_MAX: usize = 4096;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program that is started for it, with its arguments, and all that it starts. What it
    /// prints goes to standard error.
    Command(Vec<OsString>),
    /// A process that runs.
    Process(i32),
    /// Everything on these CPUs.
    Cpus(Vec<u32>),
}

/// Counts until the command ends, or for `wanted` (which has no say over a command), or until
/// `is_asked` says so.
///
/// # Errors
/// The command cannot be started, there is no such process, or nothing of it can be counted.
pub fn measure(
    target: &Target,
    wanted: Duration,
    is_asked: &dyn Fn() -> bool,
) -> Result<Report, String> {
    let family = Family::here();
    let session = Session::open(family, &scopes(target)?);
    let cpus = match target {
        Target::Cpus(cpus) => Some(cpus.as_slice()),
        _ => None,
    };
    if session.is_empty() && matches!(target, Target::Process(_)) {
        return Err(format!(
            "nothing can be counted: {}",
            session.missing().join("; ")
        ));
    }
    let before = Interrupts::read(cpus);
    let begun = Instant::now();
    let failure = match target {
        Target::Command(command) => run(command, is_asked)?,
        Target::Process(process) => {
            session.begin();
            let pid = Pid::from_raw(*process);
            wait(wanted, || {
                is_asked() || pid.is_none_or(|pid| test_kill_process(pid).is_err())
            });
            None
        }
        Target::Cpus(_) => {
            session.begin();
            wait(wanted, is_asked);
            None
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    let counts = session.counts();
    let interrupts = Interrupts::read(cpus).zip(before);
    Ok(Report {
        family,
        seconds,
        metrics: metrics::valued(family, seconds, &counts),
        counts,
        interrupts: interrupts.map(|(now, before)| now.since(before)),
        missing: session.missing(),
        failure,
    })
}

fn scopes(target: &Target) -> Result<Vec<Scope>, String> {
    match target {
        Target::Command(_) => Ok(vec![Scope::Children]),
        Target::Process(process) => threads(*process),
        Target::Cpus(cpus) => on_cpus(cpus),
    }
}

/// The CPUs, all of which must be online: the kernel counts nothing on others.
fn on_cpus(cpus: &[u32]) -> Result<Vec<Scope>, String> {
    let online = online();
    match cpus.iter().find(|cpu| !online.contains(cpu)) {
        Some(cpu) if !online.is_empty() => Err(format!(
            "CPU {cpu} is not there or is switched off: 'lscpu --extended' lists those that are \
             online"
        )),
        _ => Ok(cpus.iter().map(|&cpu| Scope::Cpu(cpu)).collect()),
    }
}

/// The threads of a process; those that they start later are counted with them.
fn threads(process: i32) -> Result<Vec<Scope>, String> {
    let listed = fs::read_dir(format!("/proc/{process}/task"))
        .map_err(|_| format!("there is no process {process}"))?;
    let numbers = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let threads: Vec<Scope> = numbers.map(Scope::Thread).collect();
    if threads.is_empty() {
        return Err(format!("process {process} has just ended"));
    }
    if threads.len() > THREADS_MAX {
        return Err(format!(
            "process {process} has {} threads, and {THREADS_MAX} can be counted: measure its CPUs \
             (--cpu)",
            threads.len()
        ));
    }
    Ok(threads)
}

/// Runs a command to its end, and says how it failed.
fn run(command: &[OsString], is_asked: &dyn Fn() -> bool) -> Result<Option<String>, String> {
    let mut child = start(command)?;
    let status = ended(&mut child, is_asked).map_err(|error| format!("waiting: {error}"))?;
    Ok((!status.success()).then(|| status.to_string()))
}

/// Starts a command by this thread, whose counters it inherits.
pub(crate) fn start(command: &[OsString]) -> Result<Child, String> {
    let (program, arguments) = match command.split_first() {
        Some((program, arguments)) => (program.as_os_str(), arguments),
        None => (OsStr::new(""), command),
    };
    let refused = |error: io::Error| format!("'{}' cannot be started: {error}", program.display());
    let stdout = io::stderr().as_fd().try_clone_to_owned().map_err(refused)?;
    Command::new(program)
        .args(arguments)
        .stdout(stdout)
        .spawn()
        .map_err(refused)
}

/// Waits for a child. Where the wait is to end before, the child is asked to end, too.
pub(crate) fn ended(
    child: &mut Child,
    mut is_asked: impl FnMut() -> bool,
) -> io::Result<ExitStatus> {
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if is_asked() && !told {
            // It may have ended meanwhile.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
            told = true;
        }
        thread::sleep(LOOK);
    }
}

/// Waits so long, or until it is to end.
pub(crate) fn wait(wanted: Duration, mut is_over: impl FnMut() -> bool) {
    let begun = Instant::now();
    while begun.elapsed() < wanted && !is_over() {
        thread::sleep(LOOK.min(wanted.saturating_sub(begun.elapsed())));
    }
}
