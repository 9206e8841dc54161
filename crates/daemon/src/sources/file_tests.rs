//! Files as people write them: renamed into place, written over slowly, broken, gone.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::testkeeper::{TestDesk, until};
use super::*;

const SETTLE: Duration = Duration::from_millis(300);

struct Bench {
    folder: tempfile::TempDir,
    desk: TestDesk,
    sources: Sources,
}

fn spec(path: PathBuf) -> SourceSpec {
    SourceSpec {
        set: "bad".into(),
        source: Source::File { path },
        refresh: Duration::from_secs(3600),
        text: TextRules::default(),
        limits: Limits {
            settle: SETTLE,
            ..Limits::default()
        },
        freshness: Freshness::default(),
    }
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

    fn path(&self) -> PathBuf {
        self.folder.path().join("list.txt")
    }

    fn start(&mut self) {
        self.sources.replace(&[spec(self.path())], &[]).unwrap();
    }

    fn state(&self) -> SourceState {
        self.sources.states().remove(0)
    }

    /// Written aside and renamed into place.
    fn put(&self, text: &str) {
        let aside = self.folder.path().join("list.new");
        fs::write(&aside, text).unwrap();
        fs::rename(aside, self.path()).unwrap();
    }

    fn failed(&self) -> Failure {
        until("a failure", || self.state().last_error.is_some());
        self.state().last_error.unwrap()
    }
}

fn append(path: &Path, text: &str) {
    let file = OpenOptions::new().append(true).open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_file_is_read_and_a_renamed_one_replaces_it() {
    let mut bench = Bench::new();
    bench.put("192.0.2.1\n192.0.2.2\n");
    bench.start();
    let first = bench.desk.load();
    assert_eq!((&*first.set, first.entries.count()), ("bad", 2));
    assert_eq!(first.name, bench.path().display().to_string());
    bench.put("192.0.2.3\n");
    assert_eq!(bench.desk.load().entries.v4.addresses, [0xC000_0203]);
    until("two loads", || bench.state().loads == 2);
    let state = bench.state();
    assert_eq!((state.entries, state.bytes, state.failures), (1, 10, 0));
    assert!(state.last_success.is_some() && state.next_try.is_some());
    bench.desk.nothing_more();
}

#[test]
fn a_file_that_grows_is_taken_once_and_whole() {
    let mut bench = Bench::new();
    bench.put("192.0.2.1\n");
    bench.start();
    bench.desk.load();
    fs::write(bench.path(), "").unwrap();
    for last in 0..20 {
        std::thread::sleep(SETTLE / 15);
        append(&bench.path(), &format!("198.51.100.{last}\n"));
    }
    let whole = bench.desk.load();
    assert_eq!(whole.entries.count(), 20);
    bench.desk.nothing_more();
}

#[test]
fn a_broken_list_names_its_line_and_the_old_one_stays() {
    let mut bench = Bench::new();
    bench.put("192.0.2.1\n");
    bench.start();
    bench.desk.load();
    bench.put("192.0.2.1\nexample.com\nworse\n");
    let failure = bench.failed();
    let place = format!(
        "{}:2: \"example.com\" is a host name",
        bench.path().display()
    );
    assert!(failure.text.starts_with(&place), "{}", failure.text);
    assert!(!failure.refused);
    assert_eq!(bench.state().entries, 1, "what is in use is still told");
    bench.put("192.0.2.7\n");
    assert_eq!(bench.desk.load().entries.count(), 1);
    until("success", || bench.state().last_error.is_none());
}

#[test]
fn a_refused_list_is_not_offered_again_until_forced() {
    let mut bench = Bench::new();
    bench.put("192.0.2.1\n");
    bench.start();
    bench.desk.load();
    bench.desk.refuse("it covers private addresses");
    bench.put("10.0.0.0/8\n");
    let failure = bench.failed();
    assert!(failure.refused);
    let told = "set bad was not changed: it covers private addresses";
    assert_eq!(failure.text, told);
    assert_eq!(bench.state().refusals, 1);
    assert!(bench.sources.ask("bad", true));
    assert!(bench.desk.load().force);
    until("success", || bench.state().last_error.is_none());
    assert!(!bench.sources.ask("other", false));
}

#[test]
fn a_file_may_be_missing_and_come_back() {
    let mut bench = Bench::new();
    bench.start();
    assert!(bench.failed().text.contains("cannot be read: No such file"));
    bench.put("192.0.2.1\n");
    bench.desk.load();
    fs::remove_file(bench.path()).unwrap();
    bench.failed();
    fs::create_dir(bench.path()).unwrap();
    until("a folder told", || {
        bench.failed().text.contains("not a regular file")
    });
    fs::remove_dir(bench.path()).unwrap();
    bench.put("192.0.2.1\n");
    assert_eq!(bench.desk.load().entries.count(), 1);
}

/// A file of 2 TB that is all holes: reading even half of it would last for minutes.
#[test]
fn a_file_that_is_too_large_is_told_so_before_it_is_read() {
    let mut bench = Bench::new();
    let file = fs::File::create(bench.path()).unwrap();
    file.set_len(1 << 41).unwrap();
    let mut spec = spec(bench.path());
    spec.limits.bytes_max = 1 << 40;
    bench.sources.replace(&[spec], &[]).unwrap();
    let told = bench.failed().text;
    assert!(told.contains("larger than 1099511627776 bytes"), "{told}");
    bench.put("192.0.2.1\n");
    assert_eq!(bench.desk.load().entries.count(), 1);
}

#[test]
fn lenient_lists_load_what_is_right() {
    let mut bench = Bench::new();
    bench.put("192.0.2.1\nnonsense\n192.0.2.2\n");
    let mut lenient = spec(bench.path());
    lenient.text.skip_bad_lines = true;
    bench.sources.replace(&[lenient], &[]).unwrap();
    assert_eq!(bench.desk.load().entries.count(), 2);
    until("told", || bench.state().skipped == 1);
}

#[test]
fn a_change_of_the_configuration_disturbs_the_others_not() {
    let mut bench = Bench::new();
    bench.put("192.0.2.1\n");
    let one = spec(bench.path());
    let mut two = spec(bench.path());
    two.set = "other".into();
    bench.sources.replace(&[one.clone(), two], &[]).unwrap();
    bench.desk.load();
    bench.desk.load();
    until("both noted", || {
        bench.sources.states().iter().all(|state| state.loads == 1)
    });
    assert!(bench.sources.wait_tried(Duration::ZERO));
    bench.sources.replace(&[one], &[]).unwrap();
    let states = bench.sources.states();
    assert_eq!((states.len(), states[0].loads), (1, 1));
    bench.sources.stop();
    bench.desk.nothing_more();
}
