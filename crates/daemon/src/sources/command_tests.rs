//! Commands as people write them: quick, failing, stuck, chatty, leaving things behind.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::testkeeper::{TestDesk, until};
use super::*;

const HOUR: Duration = Duration::from_secs(3600);

struct Bench {
    folder: tempfile::TempDir,
    desk: TestDesk,
    sources: Sources,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let desk = TestDesk::new();
        let sources = Sources::new(
            desk.keeper.clone(),
            folder.path().join("copies"),
            Asking::default(),
        );
        Self {
            folder,
            desk,
            sources,
        }
    }

    /// Runs `script` by a shell, the one way to have a program of many faces in a test.
    fn start(&mut self, script: &str, timeout: Duration) {
        let argv = ["/bin/sh", "-c", script, "sh", "a b"].map(str::to_owned);
        let spec = SourceSpec {
            set: "bad".into(),
            source: Source::Command {
                argv: argv.to_vec(),
                timeout,
            },
            refresh: HOUR,
            text: TextRules::default(),
            limits: Limits {
                bytes_max: 1 << 20,
                ..Limits::default()
            },
            freshness: Freshness::default(),
        };
        self.sources.replace(&[spec], &[]).unwrap();
    }

    fn failure(&self) -> String {
        let state = || self.sources.states().remove(0);
        until("a failure", || state().last_error.is_some());
        self.desk.nothing_more();
        state().last_error.unwrap().text
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// What is told of a command that does so.
fn told(script: &str) -> String {
    let mut bench = Bench::new();
    bench.start(script, HOUR);
    bench.failure()
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn its_output_is_the_list() {
    let mut bench = Bench::new();
    bench.start(
        "echo 192.0.2.1; echo \"# $1\"; echo 192.0.2.0/24; echo busy >&2",
        HOUR,
    );
    let load = bench.desk.load();
    assert_eq!((load.entries.count(), load.name.as_str()), (2, "/bin/sh"));
    let file = std::fs::read_to_string(load.file.unwrap()).unwrap();
    assert!(
        file.contains("# a b\n"),
        "no shell splits the arguments: {file}"
    );
    assert!(bench.sources.ask("bad", false));
    bench.desk.load();
}

#[test]
fn nothing_of_our_environment_is_its_own() {
    let mut bench = Bench::new();
    let script = "env | sed 's/^/# /'; pwd | sed 's/^/# /'; echo 192.0.2.1";
    bench.start(script, HOUR);
    let file = std::fs::read_to_string(bench.desk.load().file.unwrap()).unwrap();
    assert!(
        file.contains("# LINERATE_SET=bad\n") && file.contains("# /\n"),
        "{file}"
    );
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!file.contains("CARGO"), "{file}");
}

#[test]
fn it_gives_way_to_other_programs() {
    let mut bench = Bench::new();
    bench.start("echo \"# nice $(nice)\"; echo 192.0.2.1", HOUR);
    let file = std::fs::read_to_string(bench.desk.load().file.unwrap()).unwrap();
    let nice = file
        .lines()
        .find_map(|line| line.strip_prefix("# nice ")?.parse::<i32>().ok());
    assert!(nice.is_some_and(|nice| nice >= 10), "{file}");
}

#[test]
fn what_fails_is_not_taken_and_says_why() {
    let text = told("echo 192.0.2.1; echo first >&2; printf 'no \\033[1mdisk\\n\\n' >&2; exit 3");
    assert_eq!(text, "command /bin/sh ended with status 3: no ?[1mdisk");
    let text = told("echo 192.0.2.1; kill -9 $$");
    assert!(
        text.contains("was ended by signal 9, and its output was not taken"),
        "{text}"
    );
    let text = told("echo 192.0.2.1; echo nonsense");
    assert!(text.starts_with("/bin/sh:2: \"nonsense\""), "{text}");
    let chatty = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo end >&2; exit 1";
    assert!(
        told(chatty).ends_with("ended with status 1: end"),
        "{}",
        told(chatty)
    );
}

#[test]
fn what_never_ends_is_ended_with_all_it_started() {
    let mut bench = Bench::new();
    let pids = bench.path("pids");
    let script = format!(
        "sleep 1000 & echo $! >{0}.new; echo $$ >>{0}.new; mv {0}.new {0}; wait",
        pids.display()
    );
    bench.start(&script, Duration::from_millis(700));
    let text = bench.failure();
    assert_eq!(
        text,
        "/bin/sh took longer than 0.7 s: raise list_time in [limits] if that is normal"
    );
    let pids = std::fs::read_to_string(pids).unwrap();
    assert_eq!(pids.lines().count(), 2);
    until("all of them gone", || !pids.lines().any(lives));
}

#[test]
fn what_never_stops_talking_is_ended() {
    let text = told("yes 192.0.2.1");
    assert!(text.contains("larger than 1048576 bytes"), "{text}");
}

#[test]
fn what_it_leaves_behind_is_ended_too() {
    let mut bench = Bench::new();
    let pid = bench.path("pid");
    let script = format!(
        "echo 192.0.2.1; sleep 1000 >/dev/null 2>&1 & echo $! >{}",
        pid.display()
    );
    bench.start(&script, HOUR);
    bench.desk.load();
    let pid = std::fs::read_to_string(pid).unwrap();
    until("it is gone", || !lives(&pid));
}

#[test]
fn a_session_of_its_own_is_no_way_out() {
    let mut bench = Bench::new();
    let pid = bench.path("pid");
    let script = format!(
        "setsid sh -c 'echo $$ >{0}.new; mv {0}.new {0}; exec sleep 1000' >/dev/null 2>&1 & \
         while ! [ -e {0} ]; do sleep 0.01; done; echo 192.0.2.1",
        pid.display()
    );
    bench.start(&script, HOUR);
    bench.desk.load();
    let pid = std::fs::read_to_string(pid).unwrap();
    until("it is gone", || !lives(&pid));
}

#[test]
fn a_daemon_that_holds_the_output_open_is_no_end() {
    let mut bench = Bench::new();
    bench.start("echo 192.0.2.1; sleep 1000 &", HOUR);
    let text = bench.failure();
    assert!(
        text.contains("left processes behind that hold its output open"),
        "{text}"
    );
}

#[test]
fn stopping_does_not_wait_for_it() {
    let mut bench = Bench::new();
    let pid = bench.path("pid");
    let script = format!(
        "echo $$ >{0}.new; mv {0}.new {0}; exec sleep 1000",
        pid.display()
    );
    bench.start(&script, HOUR);
    until("it runs", || pid.exists());
    let began = Instant::now();
    bench.sources.stop();
    let pid = std::fs::read_to_string(pid).unwrap();
    until("it is gone", || !lives(&pid));
    assert!(began.elapsed() < Duration::from_secs(900));
}

#[test]
fn what_cannot_be_run_is_told() {
    let mut bench = Bench::new();
    let script = bench.path("script");
    std::fs::write(&script, "#!/nowhere\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    for (argv, wanted) in [
        (
            vec!["/nowhere/list".to_owned()],
            "cannot be run: No such file",
        ),
        (vec!["list".to_owned()], "named by its whole path"),
        (vec![], "the command is empty"),
        (vec![script.display().to_string()], "cannot be run"),
    ] {
        let mut spec = SourceSpec {
            set: "bad".into(),
            source: Source::parse("/a").unwrap(),
            refresh: HOUR,
            text: TextRules::default(),
            limits: Limits::default(),
            freshness: Freshness::default(),
        };
        let timeout = HOUR;
        spec.source = Source::Command { argv, timeout };
        bench.sources.replace(&[spec], &[]).unwrap();
        let text = bench.failure();
        assert!(text.contains(wanted), "{text}");
    }
}
