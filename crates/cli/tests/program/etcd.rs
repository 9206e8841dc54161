//! Lists from etcd, judged with Debian's etcd: snapshot, changes, restart, compaction, a member
//! that is lost.

use std::fmt::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::Place;
use crate::daemon::{Daemon, config, until};

/// One member of a cluster on loopback, whose data outlives the process.
struct Member {
    name: String,
    folder: std::path::PathBuf,
    client: String,
    peer: String,
    child: Option<Child>,
}

/// A cluster that ends with the test.
struct Cluster {
    members: Vec<Member>,
}

/// An address of this machine that nobody listens at.
pub(crate) fn address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}", listener.local_addr().expect("its address"))
}

/// Whether a program is installed.
pub(crate) fn is_here(program: &str) -> bool {
    let mut command = Command::new(program);
    let silent = command
        .arg("--help")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    silent.status().is_ok()
}

impl Member {
    fn start(&mut self, peers: &str) {
        let child = Command::new("etcd")
            .args(["--name", &self.name, "--data-dir"])
            .arg(&self.folder)
            .args(["--listen-client-urls", &self.client])
            .args(["--advertise-client-urls", &self.client])
            .args(["--listen-peer-urls", &self.peer])
            .args(["--initial-advertise-peer-urls", &self.peer])
            .args(["--initial-cluster", peers, "--unsafe-no-fsync"])
            .args(["--heartbeat-interval", "50", "--election-timeout", "500"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.child = Some(child.expect("it starts"));
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ended_already = child.kill();
            let _ended_already = child.wait();
        }
    }
}

impl Cluster {
    /// None, with the reason printed, where etcd is not installed.
    fn start(place: &Place, members: usize) -> Option<Self> {
        if !is_here("etcd") || !is_here("etcdctl") {
            eprintln!("skipped: no etcd here (Debian: apt-get install etcd-server etcd-client)");
            return None;
        }
        let member = |number: usize| Member {
            name: format!("m{number}"),
            folder: place.path(&format!("m{number}")),
            client: address(),
            peer: address(),
            child: None,
        };
        let mut cluster = Self {
            members: (0..members).map(member).collect(),
        };
        let peers = cluster.peers();
        for member in &mut cluster.members {
            member.start(&peers);
        }
        until("etcd answers", || cluster.control(&["endpoint", "health"]));
        Some(cluster)
    }

    fn peers(&self) -> String {
        let peer = |member: &Member| format!("{}={}", member.name, member.peer);
        let peers: Vec<String> = self.members.iter().map(peer).collect();
        peers.join(",")
    }

    fn clients(&self) -> Vec<&str> {
        self.members
            .iter()
            .map(|member| member.client.as_str())
            .collect()
    }

    /// As `source` of a set has it.
    fn source(&self, place: &str) -> String {
        let members = self.clients().join("', '");
        format!("source = {{ etcd = ['{members}'], {place} }}\n")
    }

    /// For `--etcd`.
    fn option(&self) -> String {
        self.clients().join(",")
    }

    fn control(&self, words: &[&str]) -> bool {
        let ran = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .args(["--endpoints", &self.option()])
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        ran.expect("etcdctl runs").success()
    }

    fn restart(&mut self, number: usize) {
        let peers = self.peers();
        self.members[number].start(&peers);
        until("etcd answers", || self.control(&["endpoint", "health"]));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.members.iter_mut().for_each(Member::kill);
    }
}

fn set(source: &str, more: &str) -> String {
    config(&format!(
        "[[set]]\nname = 'bad'\naction = 'count'\n{source}{more}"
    ))
}

/// The entries of the set, sorted as text.
pub(crate) fn entries(daemon: &Daemon<'_>) -> Vec<String> {
    let saved = daemon.must("set save bad");
    let lines = saved.text().lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let entries = lines.map(entry).filter(|entry| !entry.is_empty());
    let mut entries: Vec<String> = entries.collect();
    entries.sort_unstable();
    entries
}

#[track_caller]
fn await_entries(daemon: &Daemon<'_>, wanted: &[&str]) {
    until(&format!("{wanted:?}"), || entries(daemon) == wanted);
}

/// A cluster of one, a daemon's configuration for the set `bad` in it, and who changes it.
struct Bench<'p> {
    place: &'p Place,
    cluster: Cluster,
}

impl<'p> Bench<'p> {
    /// With two entries.
    fn start(place: &'p Place) -> Option<Self> {
        let cluster = Cluster::start(place, 1)?;
        place.write("list.txt", "192.0.2.1\n198.51.100.0/24\n");
        let source = cluster.source("prefix = '/linerate/bad/'");
        let more = "max_age = '8s'\nrequired = true\nmax_change = 1000.0\n";
        place.write("a.toml", set(&source, more));
        let bench = Self { place, cluster };
        let pushed = bench.change("push", "list.txt").ended(0);
        let text = pushed.text();
        assert!(
            text.contains("/linerate/bad/ in etcd: 2 keys put"),
            "{text}"
        );
        Some(bench)
    }

    fn change(&self, verb: &str, words: &str) -> crate::Ran {
        let etcd = self.cluster.option();
        self.place
            .run(&format!("set {verb} bad {words} --etcd {etcd}"))
    }

    /// Moves the revision on by keys elsewhere, and compacts what is before.
    fn compact(&self) {
        for number in 0..20 {
            assert!(
                self.cluster
                    .control(&["put", "/elsewhere", &number.to_string()])
            );
        }
        let shown = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .args([
                "--endpoints",
                &self.cluster.option(),
                "get",
                "/elsewhere",
                "-w",
                "json",
            ])
            .output()
            .expect("etcdctl runs");
        let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON");
        let revision = shown["header"]["revision"].to_string();
        assert!(self.cluster.control(&["compaction", &revision]), "{shown}");
    }
}

#[test]
fn changes_in_etcd_reach_a_daemon_and_leases_take_them_back() {
    let place = Place::new();
    let Some(bench) = Bench::start(&place) else {
        return;
    };
    let daemon = Daemon::start(&place, "run a.toml --json");
    await_entries(&daemon, &["192.0.2.1", "198.51.100.0/24"]);
    daemon.must("health");
    bench.change("add", "2001:db8::1 --comment scan").ended(0);
    await_entries(&daemon, &["192.0.2.1", "198.51.100.0/24", "2001:db8::1"]);
    // Comments are read from the copy, which may come later.
    until("the comment", || {
        daemon.must("set test 2001:db8::1").text().contains("scan")
    });
    bench.change("add", "203.0.113.1 --timeout 2s").ended(0);
    until("the timed entry", || entries(&daemon).len() == 4);
    await_entries(&daemon, &["192.0.2.1", "198.51.100.0/24", "2001:db8::1"]);
    bench.change("del", "2001:db8::1").ended(0);
    await_entries(&daemon, &["192.0.2.1", "198.51.100.0/24"]);
    bench.change("del", "2001:db8::1").ended(1);
    bench.change("del", "2001:db8::1 --exist").ended(0);
    // A push deletes what the list has not.
    place.write("list.txt", "192.0.2.1\n192.0.2.2\n");
    let json = bench.change("push", "list.txt --json").ended(0).json();
    assert_eq!(
        (&json["added"], &json["deleted"]),
        (&1.into(), &1.into()),
        "{json}"
    );
    await_entries(&daemon, &["192.0.2.1", "192.0.2.2"]);
    daemon.stop();
}

#[test]
fn compaction_and_a_restart_of_etcd_and_of_the_daemon_lose_nothing() {
    let place = Place::new();
    let Some(mut bench) = Bench::start(&place) else {
        return;
    };
    let daemon = Daemon::start(&place, "run a.toml --json");
    await_entries(&daemon, &["192.0.2.1", "198.51.100.0/24"]);
    bench.compact();
    // Longer than a watch lasts.
    sleep(Duration::from_secs(6));
    bench.change("add", "192.0.2.3").ended(0);
    await_entries(&daemon, &["192.0.2.1", "192.0.2.3", "198.51.100.0/24"]);
    // etcd goes: the list stays, and is too old after a while.
    bench.cluster.members[0].kill();
    until("too old", || daemon.ask("health").code == 1);
    assert_eq!(entries(&daemon).len(), 3);
    let (_, log) = daemon.stop();
    assert!(log.contains("all keys are read anew"), "compaction: {log}");
    // A start without etcd has the last good list.
    let daemon = Daemon::start(&place, "run a.toml --json");
    assert_eq!(entries(&daemon).len(), 3);
    // It comes back, and changes made since are there.
    bench.cluster.restart(0);
    bench.change("add", "192.0.2.4").ended(0);
    await_entries(
        &daemon,
        &["192.0.2.1", "192.0.2.3", "192.0.2.4", "198.51.100.0/24"],
    );
    until("current", || daemon.ask("health").code == 0);
    daemon.stop();
}

#[test]
fn a_whole_list_in_one_key_and_a_password() {
    let place = Place::new();
    let Some(cluster) = Cluster::start(&place, 1) else {
        return;
    };
    let etcd = cluster.option();
    for words in [
        &["user", "add", "root:secret"][..],
        &["user", "grant-role", "root", "root"],
        &["auth", "enable"],
    ] {
        assert!(cluster.control(words), "{words:?}");
    }
    place.write("password", "secret\n");
    place.write("wrong", "guessed\n");
    place.write("list.txt", "# mine\n192.0.2.1\n192.0.2.2 scan\n");
    let push = |more: &str| {
        place.run(&format!(
            "set push bad list.txt --etcd {etcd} --key /l {more}"
        ))
    };
    let refused = push("").ended(1);
    assert!(refused.stderr.contains("user"), "{refused:?}");
    let refused = push("--user root --password-file wrong").ended(1);
    assert!(refused.stderr.contains("password_file"), "{refused:?}");
    assert!(!refused.stderr.contains("guessed"), "{refused:?}");
    push("--user root --password-file password").ended(0);
    let source = cluster.source("key = '/l', user = 'root', password_file = 'password'");
    place.write("a.toml", set(&source, ""));
    let daemon = Daemon::start(&place, "run a.toml --json");
    await_entries(&daemon, &["192.0.2.1", "192.0.2.2"]);
    place.write("list.txt", "192.0.2.1\n192.0.2.2\n192.0.2.3\n");
    push("--user root --password-file password").ended(0);
    await_entries(&daemon, &["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    // A bad line is not pushed.
    place.write("list.txt", "192.0.2.300\n");
    push("--user root --password-file password").ended(1);
    daemon.stop();
}

#[test]
fn a_member_of_three_is_killed_and_no_change_is_lost() {
    let place = Place::new();
    let Some(mut cluster) = Cluster::start(&place, 3) else {
        return;
    };
    let etcd = cluster.option();
    place.write("list.txt", "192.0.2.1\n");
    place
        .run(&format!("set push bad list.txt --etcd {etcd}"))
        .ended(0);
    let source = cluster.source("prefix = '/linerate/bad/'");
    place.write("a.toml", set(&source, "max_change = 1000.0\n"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    await_entries(&daemon, &["192.0.2.1"]);
    let mut list = "192.0.2.1\n".to_owned();
    for number in 0..30 {
        match number {
            // The one that is watched.
            10 => cluster.members[0].kill(),
            20 => cluster.restart(0),
            _ => {}
        }
        let _ = writeln!(list, "198.51.100.{number}");
        let add = format!("set add bad 198.51.100.{number} --etcd {etcd}");
        until("written", || place.run(&add).code == 0);
    }
    until("all are there", || entries(&daemon).len() == 31);
    let mut wanted: Vec<&str> = list.lines().collect();
    let mut there = entries(&daemon);
    wanted.sort_unstable();
    there.sort_unstable();
    assert_eq!(there, wanted);
    daemon.stop();
}

#[test]
fn what_is_wrong_is_said_before_anything_is_asked() {
    let place = Place::new();
    place.write("list.txt", "192.0.2.1\n");
    let nobody = address();
    for (words, part) in [
        ("set push bad list.txt".to_owned(), "--etcd"),
        (
            "set push bad list.txt --etcd http://192.0.2.1:2379".to_owned(),
            "https://",
        ),
        ("set push bad list.txt --etcd nonsense".to_owned(), "scheme"),
        (
            format!("set push bad list.txt --etcd {nobody} --user me"),
            "--password-file",
        ),
        (
            format!("set push bad list.txt --etcd {nobody} --key /a --prefix /b"),
            "--prefix",
        ),
        (
            format!("set push bad list.txt --etcd {nobody}"),
            "cannot be fetched",
        ),
        (format!("set add bad - --etcd {nobody}"), "set push"),
        ("set add bad 192.0.2.1 --prefix /b".to_owned(), "--etcd"),
    ] {
        let ran = place.run(&words).ended(2);
        assert!(ran.stderr.contains(part), "{words}: {ran:?}");
    }
}
