//! Workers of other processes of this program: two workers on one CPU get half of it each, and the
//! rates that either reports mean little.
//!
//! A worker marks its CPU by its thread's name and by being tied to that CPU alone, which `/proc`
//! shows to every user. There is no lock file: nothing stays behind after `kill -9`.

use std::fs;
use std::path::Path;

use frame::CpuId;

/// What the name of a worker's thread begins with.
pub(crate) const THREAD_NAME: &str = "worker-";

/// A worker of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherWorker {
    /// Its process.
    pub process: u32,
    /// The CPU that it is tied to.
    pub cpu: CpuId,
}

/// The workers of other processes whose program has the name of this one. Processes that `/proc`
/// does not show are not among them.
#[must_use]
pub fn other_workers() -> Vec<OtherWorker> {
    let Ok(own) = fs::read_to_string("/proc/self/comm") else {
        return Vec::new();
    };
    workers_in(Path::new("/proc"), own.trim_end(), std::process::id())
}

fn workers_in(proc: &Path, program: &str, own: u32) -> Vec<OtherWorker> {
    let processes = numbers(proc).filter(|&process| process != own);
    let of_program = processes.filter(|process| name(&proc.join(process.to_string())) == program);
    let mut found = Vec::new();
    for process in of_program {
        let threads = proc.join(process.to_string()).join("task");
        for thread in numbers(&threads) {
            let thread = threads.join(thread.to_string());
            if name(&thread).starts_with(THREAD_NAME) {
                found.extend(only_cpu(&thread).map(|cpu| OtherWorker { process, cpu }));
            }
        }
    }
    found
}

/// The entries of a folder whose names are numbers.
fn numbers(folder: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The name of a process or thread; empty where it has ended meanwhile.
fn name(task: &Path) -> String {
    let name = fs::read_to_string(task.join("comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// The CPU of a thread that may run on one alone.
fn only_cpu(thread: &Path) -> Option<CpuId> {
    let status = fs::read_to_string(thread.join("status")).ok()?;
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    list.trim().parse().ok().map(CpuId)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread of a process in a folder that stands for `/proc`.
    fn put(proc: &Path, process: u32, program: &str, thread: (u32, &str, &str)) {
        let (number, named, cpus) = thread;
        let folder = proc.join(process.to_string());
        let task = folder.join("task").join(number.to_string());
        fs::create_dir_all(&task).expect("a folder");
        fs::write(folder.join("comm"), format!("{program}\n")).expect("a file");
        fs::write(task.join("comm"), format!("{named}\n")).expect("a file");
        let status = format!("Name:\t{named}\nCpus_allowed:\tf\nCpus_allowed_list:\t{cpus}\n");
        fs::write(task.join("status"), status).expect("a file");
    }

    #[test]
    fn only_tied_workers_of_other_processes_of_the_program_count() {
        let proc = tempfile::tempdir().expect("a folder");
        let proc = proc.path();
        for (process, program, thread) in [
            (10, "linerate", (10, "linerate", "0-3")),
            (10, "linerate", (11, "worker-0", "2")),
            (10, "linerate", (12, "worker-1", "0-3")),
            (20, "other", (21, "worker-0", "1")),
            (30, "linerate", (31, "worker-0", "3")),
        ] {
            put(proc, process, program, thread);
        }
        fs::create_dir_all(proc.join("self")).expect("a folder");
        let found = workers_in(proc, "linerate", 30);
        let expected = OtherWorker {
            process: 10,
            cpu: CpuId(2),
        };
        assert_eq!(found, [expected]);
        assert!(workers_in(Path::new("/nowhere"), "linerate", 1).is_empty());
    }
}
