//! The threads of all sources: started, asked, looked at, replaced and ended.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use super::asking::{Asked, Asking};
use super::command::CommandTask;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
};

use super::crowdsec::{BouncerTask, CrowdSecSpec};
use super::deliver::Deliver;
use super::etcd::EtcdTask;
use super::file::FileTask;
use super::signal::{Signal, Why};
use super::source::{Kind, Limits, Source, SourceSpec};
use super::state::SourceState;
use super::task::{Desk, Task};
use super::turns::Turns;
use super::url::UrlTask;
use super::watch::{Watch, Watcher};

/// How long [`Sources::stop`] waits for threads that are in the middle of something, which is a
/// name being looked up or a server that says nothing: these end with the process.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// All sources of a daemon.
pub struct Sources {
    keeper: Arc<dyn Deliver>,
    turns: Arc<Turns>,
    /// Where last good copies are kept.
    folder: PathBuf,
    running: Vec<Running>,
    /// Shared with all that are files.
    watcher: Watcher,
    /// What others ask and look at.
    asking: Asking,
}

/// What a thread was started for.
#[derive(Clone, PartialEq)]
enum Job {
    List(SourceSpec),
    CrowdSec(CrowdSecSpec),
}

struct Running {
    job: Job,
    state: Arc<Mutex<SourceState>>,
    signal: Arc<Signal>,
    thread: JoinHandle<()>,
}

impl Job {
    fn state(&self) -> SourceState {
        match self {
            Self::List(spec) => {
                let source = &spec.source;
                let set = Arc::clone(&spec.set);
                SourceState {
                    freshness: spec.freshness,
                    ..SourceState::new(set, source.name(), source.kind())
                }
            }
            Self::CrowdSec(spec) => {
                let name = spec.url.shown().to_owned();
                SourceState::new(Arc::clone(&spec.set), name, Kind::CrowdSec)
            }
        }
    }

    fn task(&self, folder: &Path, watch: impl FnOnce() -> Watch) -> Box<dyn Task> {
        match self {
            Self::List(spec) => match &spec.source {
                Source::File { path } => {
                    let task = FileTask::new(spec.clone(), path.clone(), watch(), folder);
                    Box::new(task)
                }
                Source::Url { url, ca_file } => {
                    let (url, ca_file) = (url.clone(), ca_file.clone());
                    Box::new(UrlTask::new(spec.clone(), url, ca_file, folder))
                }
                Source::Command { argv, timeout } => {
                    let task = CommandTask::new(spec.clone(), argv.clone(), *timeout, folder);
                    Box::new(task)
                }
                Source::Etcd(source) => {
                    let task = EtcdTask::new(spec.clone(), (**source).clone(), folder);
                    Box::new(task)
                }
            },
            Self::CrowdSec(spec) => Box::new(BouncerTask::new(spec.clone())),
        }
    }
}

impl Sources {
    /// Without sources yet. Last good copies are kept in `folder`, which is made when needed.
    /// `asking` will speak for them.
    pub fn new(keeper: Arc<dyn Deliver>, folder: PathBuf, asking: Asking) -> Self {
        Self {
            keeper,
            turns: Arc::new(Turns::new(Limits::LOADS_MAX)),
            folder,
            running: Vec::new(),
            watcher: Watcher::default(),
            asking,
        }
    }

    /// Makes these the sources there are: those that are new or described otherwise are started,
    /// those that are missing are ended, and the others go on undisturbed.
    ///
    /// # Errors
    /// A thread could not be started; those before it run.
    pub fn replace(&mut self, lists: &[SourceSpec], apis: &[CrowdSecSpec]) -> io::Result<()> {
        let lists = lists.iter().cloned().map(Job::List);
        let apis = apis.iter().cloned().map(Job::CrowdSec);
        let jobs: Vec<Job> = lists.chain(apis).collect();
        let (kept, ended) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|running: &Running| jobs.contains(&running.job));
        self.running = kept;
        end(ended);
        for job in jobs {
            if !self.running.iter().any(|running| running.job == job) {
                let started = self.start(job)?;
                self.running.push(started);
            }
        }
        self.announce();
        Ok(())
    }

    /// Makes those that run the ones that are asked.
    fn announce(&self) {
        let asked = |running: &Running| Asked {
            state: Arc::clone(&running.state),
            signal: Arc::clone(&running.signal),
        };
        self.asking.set(self.running.iter().map(asked).collect());
    }

    fn start(&self, job: Job) -> io::Result<Running> {
        let state = Arc::new(Mutex::new(job.state()));
        let signal = Arc::new(Signal::new()?);
        let watch = || self.watcher.watch(Arc::clone(&signal));
        let task = job.task(&self.folder, watch);
        let desk = Desk {
            keeper: Arc::clone(&self.keeper),
            state: Arc::clone(&state),
            turns: Arc::clone(&self.turns),
            signal: Arc::clone(&signal),
        };
        let thread = thread::Builder::new()
            .name("source".to_owned())
            .spawn(move || work(task, &desk))?;
        Ok(Running {
            job,
            state,
            signal,
            thread,
        })
    }

    /// How each source fares, in the order of the configuration.
    #[must_use]
    pub fn states(&self) -> Vec<SourceState> {
        let state = |running: &Running| lock(&running.state).clone();
        self.running.iter().map(state).collect()
    }

    /// Asks without waiting; false when no source feeds the set.
    #[cfg(test)]
    pub(super) fn ask(&self, set: &str, force: bool) -> bool {
        let asked = self.asking.ask(set, force, Duration::ZERO);
        !matches!(asked, super::asking::Answered::NoSource)
    }

    /// Waits until each source was tried once, at most so long: a bridge should not begin to
    /// forward before its lists are in. True when all were.
    #[must_use]
    pub fn wait_tried(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let tried = |running: &Running| lock(&running.state).is_tried();
        while !self.running.iter().all(tried) {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Ends all sources.
    pub fn stop(&mut self) {
        end(std::mem::take(&mut self.running));
        self.announce();
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock(state: &Mutex<SourceState>) -> std::sync::MutexGuard<'_, SourceState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn end(running: Vec<Running>) {
    for one in &running {
        one.signal.stop();
    }
    let end = Instant::now() + STOP_WAIT;
    for one in running {
        while !one.thread.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        if one.thread.is_finished() {
            // A panic was printed by the thread, and aborts a release build.
            let _ = one.thread.join();
        }
    }
}

/// Sources read what strangers wrote, and start programs. Capabilities are a thread's own, and
/// those of the daemon are for its ports: here none is needed, and no program inherits one. Root
/// keeps them, being root for want of a user of its own, and able to get them back anyhow.
fn shed_capabilities() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let none = CapabilitySet::empty();
    let none = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    let shed = clear_ambient_capability_set().and_then(|()| set_capabilities(None, none));
    if let Err(error) = shed {
        tracing::warn!("a source keeps capabilities that it does not need: {error}");
    }
}

/// Reading and compiling a list fills a CPU for a second. Were it as important as others, the
/// kernel would move those to where workers are, and a worker without a busy neighbour loses a
/// sixth of its time to them. What a source starts is as unimportant.
fn give_way() {
    const NICE: i32 = 10;
    let given = getpriority_process(None).and_then(|now| match now < NICE {
        true => setpriority_process(None, NICE),
        false => Ok(()),
    });
    if let Err(error) = given {
        tracing::warn!("a source competes with other programs as an equal: {error}");
    }
}

fn work(mut task: Box<dyn Task>, desk: &Desk) {
    shed_capabilities();
    give_way();
    let (mut why, mut asked) = (Why::Due, None);
    while why != Why::Stop {
        if let Why::Asked { number, .. } = why {
            asked = Some(number);
        }
        let wait = task.turn(why, desk);
        let done = if task.is_pending() {
            None
        } else {
            asked.take()
        };
        desk.note(|state| {
            state.next_try = SystemTime::now().checked_add(wait);
            state.answered = done.unwrap_or(state.answered);
        });
        why = desk.signal.wait(wait);
    }
}
