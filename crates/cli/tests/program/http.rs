//! `linerate load http` against `linerate serve http`, and what both say.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::Place;
use super::screens::blocks;

const PAGE: &str = include_str!("../../../../docs/load.md");

/// A server of ours that ends with the test.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(place: &Place, words: &str) -> Self {
        let mut child = place
            .command(&format!("serve http 127.0.0.1:0 --json {words}"))
            .spawn()
            .expect("the program starts");
        let stderr = child.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(stderr).lines();
        let line = lines.find_map(|line| Some(line.ok()?.split_once("://")?.1.to_owned()));
        let address = line.expect("it says where it answers");
        let address = address.trim_end_matches('/').to_owned();
        // Whatever else it says has a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Ends it as Ctrl-C does; what it counted.
    pub(crate) fn stop(mut self) -> Value {
        signal(&self.child, rustix::process::Signal::INT);
        let mut text = String::new();
        let stdout = self.child.stdout.as_mut().expect("a pipe");
        stdout.read_to_string(&mut text).expect("text");
        assert!(self.child.wait().expect("it ends").success());
        serde_json::from_str(&text).expect("one JSON object")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).expect("a signal");
}

/// A run whose books balance, with this exit code.
#[track_caller]
pub(crate) fn load(place: &Place, words: &str, code: i32) -> Value {
    let said = place
        .run(&format!("load http {words} --json -q"))
        .ended(code)
        .json();
    assert_eq!(said["balanced"], true, "{said}");
    said
}

#[track_caller]
pub(crate) fn requests(said: &Value, name: &str) -> u64 {
    said["all"]["requests"][name].as_u64().expect(name)
}

#[track_caller]
pub(crate) fn errors(said: &Value, name: &str) -> u64 {
    said["all"]["requests"]["errors"][name]
        .as_u64()
        .expect(name)
}

#[test]
fn an_open_loop_sends_what_is_due() {
    let place = Place::new();
    let served = Served::start(&place, "-t 2");
    let url = served.url("/size/1000");
    let said = load(&place, &format!("{url} -R 200 -d 2s -c 5 -t 2"), 0);
    assert_eq!(said["all"]["loop_kind"], "open");
    for name in ["due", "sent", "answered"] {
        assert_eq!(requests(&said, name), 400, "{name}: {said}");
    }
    assert_eq!(requests(&said, "omitted"), 0);
    for phase in ["latency", "service", "wait", "send", "first_byte"] {
        let spread = &said["all"]["times"][phase];
        assert_eq!(spread["count"], 400, "{phase}: {spread}");
        assert!(
            spread["p99.999"].as_f64() <= spread["max"].as_f64(),
            "{phase}: {spread}"
        );
    }
    let buckets = said["all"]["times"]["latency_buckets"]
        .as_array()
        .expect("buckets");
    let counted: u64 = buckets.iter().filter_map(|bucket| bucket[1].as_u64()).sum();
    assert_eq!(counted, 400);
    let counted = served.stop();
    for name in ["requests", "answers"] {
        assert_eq!(counted[name], 400, "{name}: {counted}");
    }
    assert_eq!(
        (&counted["refused"], &counted["cut"]),
        (&0.into(), &0.into()),
        "{counted}"
    );
    assert_eq!(counted["bytes_out"], said["all"]["requests"]["bytes_in"]);
    assert_eq!(counted["bytes_in"], said["all"]["requests"]["bytes_out"]);
}

#[test]
fn both_ends_count_the_same_whatever_is_asked() {
    let place = Place::new();
    let served = Served::start(&place, "");
    let times: String = (0..50)
        .map(|n| format!("17000000{}.{n:03}\n", n % 2))
        .collect();
    place.write("times", times);
    let mut sent = 0;
    for (path, words) in [
        ("/", "-n 50"),
        ("/size/300000", "-n 20 -c 3 -t 3"),
        ("/chunked/100000", "-n 20"),
        ("/size/10", "-n 50 --requests-each 1"),
        ("/size/10", "-n 50 --requests-each 7 -c 3 -t 2"),
        ("/echo", "-n 20 -m POST --body 200000 --check always"),
        ("/", "-n 20 -m PUT --body 1000"),
        ("/size/5000", "-n 20 -m HEAD"),
        ("/status/204", "-n 20"),
        ("/size/{random:1-100}", "-n 50 -R 1000 --arrivals poisson"),
        ("/size/{n}", "-n 50 -R 1000 --closed"),
        ("/", "-n 50 -R 1000 --ramp 100ms"),
        ("/", "-n 60 -R 50:1s,0:300ms,1000"),
        ("/", "-n 50 -R 0-1000:100ms,1000 --arrivals poisson"),
        ("/", "-n 50 --replay times"),
        ("/size/100", "-n 50 --from 127.7.0.0/24"),
        ("/time/20", "-n 20"),
        ("/rate/100000/size/5000", "-n 10"),
    ] {
        let said = load(&place, &format!("{} -d 60s {words}", served.url(path)), 0);
        let answered = requests(&said, "answered");
        let asked: u64 = words
            .split_whitespace()
            .nth(1)
            .expect("N")
            .parse()
            .expect("N");
        let omitted = requests(&said, "omitted");
        assert_eq!(answered + omitted, asked, "{path} {words}: {said}");
        assert_eq!(requests(&said, "due"), asked, "{path} {words}: {said}");
        assert_eq!(said["ended_by"], "requests", "{path} {words}");
        sent += answered;
    }
    let counted = served.stop();
    assert_eq!(counted["requests"], sent, "{counted}");
    assert_eq!(counted["answers"], sent, "{counted}");
}

#[test]
fn exit_codes_follow_what_is_expected() {
    let place = Place::new();
    let served = Served::start(&place, "");
    let (fast, slow, failing) = (
        served.url("/"),
        served.url("/time/60"),
        served.url("/status/500"),
    );
    for (words, code) in [
        (
            format!("{fast} -n 20 --expect errors=0,p50=10s,rate=0.1"),
            0,
        ),
        (format!("{slow} -n 20 --expect p50=50ms"), 1),
        (format!("{fast} -n 20 --expect rate=1000000"), 1),
        (format!("{failing} -n 20"), 1),
        (format!("{failing} -n 20 --expect errors=100%"), 1),
        ("http://127.0.0.1:1/ -n 5".to_owned(), 1),
    ] {
        let said = load(&place, &format!("{words} -d 20s"), code);
        let missed = said["expectations"].as_array().expect("a list");
        let missed = missed.iter().any(|one| one["met"] == false);
        assert!(
            code == 0 || missed || requests(&said, "answered") == 0,
            "{words}: {said}"
        );
    }
    let said = load(&place, "http://127.0.0.1:1/ -n 5", 1);
    assert_eq!(errors(&said, "refused"), 5, "{said}");
}

/// What is not of this host, or is no file, is refused before the first request.
#[test]
fn addresses_and_files_that_are_not_here_are_refused() {
    let place = Place::new();
    for (words, said) in [
        ("http://127.0.0.1/ --from 192.0.2.77", "ip route add local"),
        (
            "http://127.0.0.1/ --from 127.0.0.1-192.0.2.77",
            "192.0.2.77",
        ),
        ("http://127.0.0.1/ --replay .", "one a line"),
        ("--profile .", "TOML"),
    ] {
        let words = format!("load http {words}");
        place.run(&words).is_refused_as(Some(said), 2, &words);
    }
}

#[test]
fn wrong_words_are_refused_with_what_helps() {
    let place = Place::new();
    let served = Served::start(&place, "");
    for (words, said) in [
        ("load http", "<URL>"),
        (
            "load http https://127.0.0.1/ --tls-version 1.1",
            "1.2 or 1.3",
        ),
        ("load http https://127.0.0.1/ --ca absent.pem", "absent.pem"),
        ("load http https://127.0.0.1/ --ca bad.toml", "in PEM"),
        (
            "load http https://127.0.0.1/ --ca bad.toml --insecure",
            "cannot be used",
        ),
        ("load http http://127.0.0.1/ --insecure", "https://"),
        ("load http 127.0.0.1:80", "http://ADDRESS:PORT/PATH"),
        ("load http http://127.0.0.1/{x}", "{n}"),
        ("load http http://name.invalid/", "no address"),
        ("load http http://127.0.0.1/ --closed", "--rate"),
        (
            "load http http://127.0.0.1/ -R 5:1s --ramp 1s",
            "0-1000:10s",
        ),
        ("load http http://127.0.0.1/ -R 5:1s,6,7:1s", "last rate"),
        ("load http http://127.0.0.1/ --replay absent", "absent"),
        ("load http http://127.0.0.1/ --replay bad.toml", "line 1"),
        (
            "load http http://127.0.0.1/ --replay x -R 5",
            "cannot be used",
        ),
        ("load http http://127.0.0.1/ -R 0", "requests a second"),
        ("load http http://127.0.0.1/ -m get", "capitals"),
        ("load http http://127.0.0.1/ -H x", "Name: value"),
        ("load http http://127.0.0.1/ --from ::1", "other family"),
        ("load http http://127.0.0.1/ --expect p99", "p99=50ms"),
        ("load http --profile absent.toml", "absent.toml"),
        ("load http --profile bad.toml", "connections"),
        ("load http http://127.0.0.1/ -c 1000000", "ulimit -n"),
        ("serve http 127.0.0.1", "ADDRESS:PORT"),
        ("serve http 192.0.2.1:80", "cannot be listened at"),
        ("serve http 127.0.0.1:0 --tls-cert bad.toml", "--tls-key"),
        ("serve http 127.0.0.1:0 --files bad.toml", "name a folder"),
        (
            "serve http 127.0.0.1:0 --tls-cert bad.toml --tls-key bad.toml",
            "in PEM",
        ),
    ] {
        place.write(
            "bad.toml",
            "[[pool]]\nurl = 'http://127.0.0.1/'\nconections = 1\n",
        );
        place.run(words).is_refused_as(Some(said), 2, words);
    }
    let taken = place.run(&format!("serve http {}", served.address));
    taken.is_refused_as(
        Some("end the program that listens there"),
        2,
        "an address in use",
    );
}

/// Steps and recorded times end the run by themselves, and all that is due is sent.
#[test]
fn a_run_lasts_as_long_as_its_steps() {
    let place = Place::new();
    let served = Served::start(&place, "");
    place.write("times", "# two\n5.5\n6\n");
    for (words, due, seconds) in [
        ("-R 100:500ms,300:500ms", 200, 1.0),
        ("-R 0-200:1s", 100, 1.0),
        ("--replay times", 2, 0.5),
        ("-R 100:5s -d 500ms", 50, 0.5),
    ] {
        let said = load(&place, &format!("{} {words}", served.url("/")), 0);
        for name in ["due", "answered"] {
            assert_eq!(requests(&said, name), due, "{words} {name}: {said}");
        }
        let lasted = said["all"]["seconds"].as_f64().expect("a time");
        assert!(lasted >= seconds, "{words}: {lasted}");
        assert_eq!(said["ended_by"], "duration", "{words}");
    }
}

const POOLS: &str = r#"
rate = 200
[[pool]]
name = "readers"
share = 3
[[pool.request]]
url = "http://ADDRESS/size/{random:1-100}"
weight = 3
[[pool.request]]
url = "http://ADDRESS/echo"
method = "POST"
body = 500
[[pool]]
name = "late"
share = 1
start = "1s"
arrivals = "poisson"
requests_each = 1
from = "127.9.0.0/24"
url = "http://ADDRESS/size/10"
[[pool]]
name = "slow"
connections = 2
requests = 4
read_rate = 20000
url = "http://ADDRESS/size/4000"
[[pool]]
name = "sending"
connections = 2
requests = 4
write_rate = 20000
[[pool.request]]
url = "http://ADDRESS/echo"
method = "PUT"
body = 4000
[[pool]]
name = "impatient"
requests = 3
abort_after = 5000
url = "http://ADDRESS/size/5000000"
[[pool]]
name = "pausing"
connections = 1
think = "300ms"
url = "http://ADDRESS/"
"#;

#[test]
fn pools_of_a_profile_are_told_apart() {
    let place = Place::new();
    let served = Served::start(&place, "");
    place.write("pools.toml", POOLS.replace("ADDRESS", &served.address));
    let said = load(&place, "--profile pools.toml -d 2s", 0);
    let pool = |name: &str| {
        let pools = said["pools"].as_array().expect("pools");
        pools.iter().find(|pool| pool["name"] == name).expect(name)
    };
    let of = |name: &str, key: &str| pool(name)["requests"][key].as_u64().expect(key);
    for (name, key, number) in [
        ("readers", "due", 300..=300),
        ("readers", "answered", 300..=300),
        // 50 on average; five standard deviations are 35.
        ("late", "answered", 15..=85),
        ("slow", "answered", 4..=4),
        ("sending", "answered", 4..=4),
        ("impatient", "aborted", 3..=3),
        ("pausing", "answered", 2..=7),
    ] {
        assert!(number.contains(&of(name, key)), "{name}: {key}: {said}");
    }
    for name in ["slow", "sending"] {
        let median = pool(name)["times"]["latency"]["p50"].as_f64();
        assert!(
            median > Some(0.15),
            "{name}: 4,000 bytes at 20,000 a second: {median:?}"
        );
    }
    let text = place
        .run("load http --profile pools.toml -d 2s -q")
        .ended(0);
    for words in [
        "pool readers",
        "pool impatient",
        "every request is accounted for",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
}

#[test]
fn progress_is_a_line_a_second_and_the_report_is_for_people() {
    let place = Place::new();
    let mut served = Served::start(&place, "--progress");
    let said = place.run(&format!(
        "load http {} -R 100 -d 3500ms --progress",
        served.url("/")
    ));
    let said = said.ended(0);
    let lines = said
        .stderr
        .lines()
        .filter(|line| line.contains("req/s answered  p50 "));
    assert!((2..=4).contains(&lines.count()), "{}", said.stderr);
    for words in [
        "open loop, 100 req/s asked for.",
        "due       350  100.0 %",
        "latency, from when due",
        "every request is accounted for",
        "answers a CPU second",
    ] {
        assert!(said.text().contains(words), "{words}: {}", said.text());
    }
    let widest = said.text().lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(110), "{}", said.text());
    served.child.kill().expect("it runs");
}

/// Every command of the page is understood, and every option in it is one.
#[test]
fn commands_of_the_page_are_understood() {
    let place = Place::new();
    let help = ["load http", "serve http", "ndr"].map(|command| {
        let help = place.run(&format!("{command} --help")).ended(0);
        help.text().to_owned()
    });
    let commands: Vec<String> = blocks(PAGE, "sh")
        .join("\n")
        .lines()
        .map(str::to_owned)
        .collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands.iter().filter(|line| !line.is_empty()) {
        let words = command
            .strip_prefix("linerate ")
            .expect("a command of ours");
        place.run(&format!("{words} --help")).ended(0);
    }
    let letters = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let options = PAGE
        .split(letters)
        .filter(|word| word.starts_with("--") && word.len() > 3);
    // Of wrk, and of docs/stall.py.
    let others = ["--latency", "---", "--svg"];
    for option in options.filter(|option| !others.iter().any(|other| option.starts_with(other))) {
        let known = help.iter().any(|help| help.contains(&format!("{option} ")));
        let known = known
            || help
                .iter()
                .any(|help| help.contains(&format!("{option}\n")));
        assert!(known, "{option}");
    }
}

/// The profile of the page runs as it stands there, but for the address.
#[test]
fn the_profile_of_the_page_runs() {
    let (_, behind) = PAGE.split_once("```toml\n").expect("a profile");
    let (profile, _) = behind.split_once("```").expect("its end");
    let place = Place::new();
    let served = Served::start(&place, "");
    place.write(
        "clients.toml",
        profile.replace("127.0.0.1:8080", &served.address),
    );
    let said = load(&place, "--profile clients.toml -d 6s", 0);
    for pool in said["pools"].as_array().expect("pools") {
        let ended = |key: &str| pool["requests"][key].as_u64().expect(key);
        assert!(ended("answered") + ended("aborted") > 0, "{pool}");
    }
    assert_eq!(errors(&said, "wrong_bytes"), 0, "{said}");
}

/// Nobody but curl says that what is served is HTTP.
#[test]
fn curl_understands_the_server() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: there is no curl");
        return;
    }
    let place = Place::new();
    let served = Served::start(&place, "");
    place.write("body", vec![b'x'; 3_000_000]);
    for (words, path, answer) in [
        ("", "/", "200 0"),
        ("", "/size/123456", "200 123456"),
        ("", "/chunked/123456", "200 123456"),
        ("-0", "/chunked/123456", "200 123456"),
        ("-I", "/size/100", "200 0"),
        ("", "/status/404", "404 0"),
        ("", "/nothing/here", "404"),
        ("-T body", "/echo", "200 3000000"),
        (
            "-T body -H Transfer-Encoding:chunked",
            "/echo",
            "200 3000000",
        ),
        ("-T body", "/size/5", "200 5"),
        ("-T body", "/nothing", "404"),
    ] {
        let ran = Command::new("curl")
            .args([
                "-sS",
                "-m",
                "60",
                "-o",
                "got",
                "-w",
                "%{http_code} %{size_download}",
            ])
            .args(words.split_whitespace())
            .arg(served.url(path))
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .output()
            .expect("curl runs");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(
            ran.status.success() && said.starts_with(answer),
            "{words} {path}: {ran:?}"
        );
        if answer == "200 3000000" {
            assert!(
                place.read("got") == place.read("body"),
                "{words}: an echo is what was sent"
            );
        }
    }
}
