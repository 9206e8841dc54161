//! `linerate run` from outside: sets change by the control socket while generated frames go by.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{Place, Ran};

/// How long anything may take that takes milliseconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for what is true soon.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        sleep(Duration::from_millis(50));
    }
}

/// Both halves of IPv4: whatever the generator makes.
const ALL: &str = "0.0.0.0/1 128.0.0.0/1";

/// A daemon while it runs.
pub(crate) struct Daemon<'p> {
    place: &'p Place,
    /// Until it is waited for.
    child: Option<Child>,
}

impl<'p> Daemon<'p> {
    pub(crate) fn start(place: &'p Place, words: &str) -> Self {
        Self::start_as(place, &mut place.command(words))
    }

    /// As a command says that runs the program.
    pub(crate) fn start_as(place: &'p Place, command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).spawn();
        let mut daemon = Self {
            place,
            child: Some(child.expect("it starts")),
        };
        let begun = Instant::now();
        while !daemon.forwards() {
            let child = daemon.child.as_mut().expect("it runs");
            let ended = child.try_wait().expect("its state");
            assert!(ended.is_none() && begun.elapsed() < PATIENCE, "{ended:?}");
            sleep(Duration::from_millis(20));
        }
        daemon
    }

    pub(crate) fn forwards(&self) -> bool {
        let shown = self.ask("show ports --json");
        shown.code == 0 && shown.json()["ports"][1].is_object()
    }

    /// Asks by the command line.
    pub(crate) fn ask(&self, words: &str) -> Ran {
        self.place.run(&format!("{words} --socket ctl.sock"))
    }

    #[track_caller]
    pub(crate) fn must(&self, words: &str) -> Ran {
        self.ask(words).ended(0)
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), signal).expect("a signal");
    }

    /// Ends it as a service manager does: its report, and what it logged.
    #[track_caller]
    pub(crate) fn stop(mut self) -> (Value, String) {
        self.signal(Signal::TERM);
        let child = self.child.take().expect("it runs");
        let ran = Ran::of(child.wait_with_output().expect("it ends"));
        let ran = ran.ended(0);
        let report = ran.json();
        assert_eq!(report["balanced"], true, "{report}");
        assert_eq!(report["ended_by"], "asked", "{report}");
        (report, ran.stderr)
    }

    /// Frames that left by the second port.
    pub(crate) fn sent(&self) -> u64 {
        let shown = self.must("show ports --json").json();
        let ports = shown["ports"].as_array().expect("ports");
        ports[1]["out_frames"].as_u64().expect("a count")
    }

    /// Waits until this many frames more have left.
    #[track_caller]
    pub(crate) fn await_sent(&self, more: u64) {
        let (begun, before) = (Instant::now(), self.sent());
        while self.sent() < before + more {
            assert!(begun.elapsed() < PATIENCE, "frames do not leave");
            sleep(Duration::from_millis(20));
        }
    }
}

/// A test that fails leaves nothing behind that takes CPU time from others.
impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ended_already = child.kill();
            let _ended_already = child.wait();
        }
    }
}

pub(crate) const BRIDGE: &str = "[[port]]\nname = 'outside'\nspec = 'gen:size=64'\n\
                      [[port]]\nname = 'inside'\nspec = 'null:'\n\
                      [control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n";

pub(crate) fn config(sets: &str) -> String {
    format!("{BRIDGE}{sets}")
}

#[test]
fn an_address_that_is_added_is_blocked_and_survives_a_restart() {
    let place = Place::new();
    place.write(
        "a.toml",
        config("[[set]]\nname = 'hand'\naction = 'block'\n"),
    );
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    daemon.must(&format!("set add hand {ALL} --comment everything"));
    // Answered when every worker sees it: what is on its way then has left soon.
    sleep(Duration::from_millis(200));
    let after = daemon.sent();
    sleep(Duration::from_millis(200));
    assert_eq!(
        daemon.sent(),
        after,
        "frames leave although all are blocked"
    );
    let drops = daemon.must("show drops --json").json();
    assert!(drops["drops"][0]["frames"].as_u64() > Some(0), "{drops}");
    let (report, _) = daemon.stop();
    assert!(report["sets"][0]["hits_src"].as_u64() > Some(0), "{report}");

    let again = Daemon::start(&place, "run a.toml --json");
    sleep(Duration::from_millis(200));
    assert_eq!(again.sent(), 0, "the entry is forgotten");
    again.must(&format!("set del hand {ALL}"));
    again.await_sent(1000);
    again.stop();
}

#[test]
fn a_set_goes_from_count_to_block_and_back() {
    let place = Place::new();
    place.write("all.txt", ALL.replace(' ', "\n"));
    let set = "[[set]]\nname = 'all'\nsource = 'all.txt'\naction = 'count'\nallow_private = true\n";
    place.write("a.toml", config(set));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    daemon.must("set action all block");
    sleep(Duration::from_millis(200));
    let after = daemon.sent();
    sleep(Duration::from_millis(200));
    assert_eq!(daemon.sent(), after);
    daemon.must("set action all count");
    daemon.await_sent(1000);
    daemon.stop();
}

#[test]
fn a_reload_changes_what_can_change_or_nothing() {
    let place = Place::new();
    let set = |action: &str| config(&format!("[[set]]\nname = 'hand'\naction = '{action}'\n"));
    place.write("a.toml", set("count"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must(&format!("set add hand {ALL}"));
    daemon.await_sent(1000);
    place.write("a.toml", set("block"));
    let said = daemon.must("reload");
    assert!(said.text().contains("hand"), "{said:?}");
    sleep(Duration::from_millis(200));
    let after = daemon.sent();
    sleep(Duration::from_millis(200));
    assert_eq!(daemon.sent(), after);
    // By the signal, too.
    place.write("a.toml", set("count"));
    daemon.signal(Signal::HUP);
    daemon.await_sent(1000);
    let other = set("block").replace("null:", "gen:");
    place.write("a.toml", other);
    let refused = daemon.ask("reload");
    assert_ne!(refused.code, 0);
    assert!(
        refused.stderr.contains("[[port]] cannot change"),
        "{refused:?}"
    );
    daemon.await_sent(1000);
    place.write("a.toml", set("blok"));
    let refused = daemon.ask("reload");
    assert!(refused.stderr.contains("a.toml:"), "{refused:?}");
    assert!(
        refused.stderr.contains("did you mean 'block'?"),
        "{refused:?}"
    );
    daemon.stop();
}

#[test]
fn a_second_daemon_is_refused() {
    let place = Place::new();
    place.write("a.toml", BRIDGE);
    let daemon = Daemon::start(&place, "run a.toml --json");
    let second = place.run("run a.toml --json");
    assert_eq!(second.code, 2, "{second:?}");
    place.write("b.toml", BRIDGE.replace("'state'", "'other'"));
    let third = place.run("run b.toml --json");
    assert_eq!(third.code, 2, "{third:?}");
    assert!(third.stderr.contains("ctl.sock"), "{third:?}");
    daemon.stop();
}

#[test]
fn a_list_that_is_not_there_refuses_the_start() {
    let place = Place::new();
    place.write(
        "a.toml",
        config("[[set]]\nname='a'\nsource='no.txt'\naction='block'\n"),
    );
    let refused = place.run("run a.toml --duration 1s").ended(2);
    assert!(refused.complaints().contains("no.txt"), "{refused:?}");
}

#[test]
fn what_is_checked_is_shown_whole() {
    let place = Place::new();
    place.write("a.toml", BRIDGE);
    let shown = place.run("run --check a.toml").ended(0);
    place.write("b.toml", shown.text());
    let again = place.run("run --check b.toml").ended(0);
    assert_eq!(again.text(), shown.text());
    place.write("c.toml", format!("{BRIDGE}[limit]\n"));
    let refused = place.run("run --check c.toml").ended(2);
    let sentence = "c.toml:11: the configuration knows no key 'limit': did you mean 'limits'?";
    assert!(refused.stderr.contains(sentence), "{refused:?}");
}

fn examples() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "examples"]
        .iter()
        .collect()
}

#[test]
fn every_example_is_right() {
    let place = Place::new();
    let folder = std::fs::read_dir(examples()).expect("examples");
    let paths = folder.map(|entry| entry.expect("a file").path());
    let configs = paths.filter(|path| path.extension().is_some_and(|ext| ext == "toml"));
    let mut count = 0;
    for path in configs.chain([examples().join("../packaging/linerate.toml")]) {
        place
            .run(&format!("run --check {}", path.display()))
            .ended(0);
        count += 1;
    }
    assert!(count >= 4, "{count} examples");
}

#[test]
fn the_trial_runs() {
    let place = Place::new();
    let text = std::fs::read_to_string(examples().join("trial.toml")).expect("an example");
    place.write(
        "trial.toml",
        text.replace("/tmp/linerate-trial.sock", "ctl.sock"),
    );
    let list = std::fs::read(examples().join("lists/bad.txt")).expect("its list");
    place.write("lists/bad.txt", list);
    let ran = place.run("run trial.toml --duration 1s --json").ended(0);
    let report = ran.json();
    assert!(report["sets"][0]["hits_src"].as_u64() > Some(0), "{report}");
    assert_eq!(report["balanced"], true, "{report}");
}

#[test]
fn the_log_is_json_where_nobody_watches() {
    let place = Place::new();
    place.write("a.toml", BRIDGE);
    let daemon = Daemon::start(&place, "run a.toml --json");
    let (_, log) = daemon.stop();
    let lines = log.lines().filter(|line| line.starts_with('{'));
    let messages: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let said = |what: &str| messages.iter().any(|line| line["message"] == what);
    assert!(said("forwarding"), "{log}");
    let unwatched = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["run", "/no/such.toml"])
        .output();
    assert_eq!(unwatched.expect("it ends").status.code(), Some(2));
}

#[test]
fn pages_and_completions_are_made_of_the_commands() {
    let place = Place::new();
    place.run("man man1").ended(0);
    let page = String::from_utf8(place.read("man1/linerate-run.1")).expect("text");
    assert!(page.contains("recover"), "{page}");
    assert!(!place.read("man1/linerate-set-add.1").is_empty());
    for shell in ["bash", "zsh", "fish"] {
        let made = place.run(&format!("completions {shell}")).ended(0);
        assert!(made.text().contains("linerate"), "{shell}");
    }
    place.write("file", "");
    place.run("man file/man1").ended(2);
}
