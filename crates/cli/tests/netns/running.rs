//! A program while it runs in a namespace, and waiting for what takes a moment.

use std::process::{Child, ChildStdout, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// How long anything may take that takes milliseconds on an idle machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A program while it runs; killed when the test ends before it does.
pub(crate) struct Running(Option<Child>);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(Some(command.spawn().expect("it starts")))
    }

    #[track_caller]
    pub(crate) fn must_run(&mut self) {
        let child = self.0.as_mut().expect("it runs");
        if child.try_wait().expect("its state").is_some() {
            let output = self.0.take().map(Child::wait_with_output);
            panic!("the program has ended: {output:?}");
        }
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        let child = self.0.as_mut().expect("not waited for");
        child.try_wait().expect("its state").is_some()
    }

    /// What it prints, to be read while it runs.
    pub(crate) fn output(&mut self) -> ChildStdout {
        let child = self.0.as_mut().expect("it runs");
        child.stdout.take().expect("not taken before")
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().expect("it runs").id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        kill_process(id.expect("a process"), signal).expect("a signal");
    }

    /// Waits for its end: code (-1 after a signal), standard output, standard error.
    pub(crate) fn ended(mut self) -> (i32, String, String) {
        let child = self.0.take().expect("it runs");
        let output = child.wait_with_output().expect("its output");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        (code, text(output.stdout), text(output.stderr))
    }

    /// Asks it to end, as Ctrl-C does, and returns its report.
    #[track_caller]
    pub(crate) fn stop(self) -> Value {
        self.stop_and_say().0
    }

    /// As [`Running::stop`], with what it said on standard error.
    #[track_caller]
    pub(crate) fn stop_and_say(self) -> (Value, String) {
        self.signal(Signal::INT);
        self.reported()
    }

    /// Waits for the end of a run that ends by itself: its report, and what it said.
    #[track_caller]
    pub(crate) fn reported(self) -> (Value, String) {
        let (code, report, said) = self.ended();
        assert_eq!(code, 0, "{report}{said}");
        let report: Value = serde_json::from_str(&report).expect("a JSON report");
        assert_eq!(report["balanced"], true, "{report}");
        assert_eq!(report["ledger"]["closes"], true, "{report}");
        (report, said)
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(mut self) {
        let mut child = self.0.take().expect("it runs");
        child.kill().expect("SIGKILL");
        child.wait().expect("its end");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ended_already = child.kill();
            let _ended_already = child.wait();
        }
    }
}

/// Waits for what takes a moment.
#[track_caller]
pub(crate) fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "not in time: {what}");
        sleep(Duration::from_millis(5));
    }
}
