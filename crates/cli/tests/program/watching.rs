//! What watches a daemon, from outside: metrics, captures, the screen; judged by promtool, tshark
//! and tmux.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Place;

/// How long anything may take that takes milliseconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon that drops a tenth of what its generator makes, by a set of one network.
struct Watched {
    place: Place,
    child: Child,
    metrics: u16,
}

impl Watched {
    fn start() -> Self {
        let place = Place::new();
        // Somebody else might take the port in between; no other test of this machine does.
        let free = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let metrics = free.local_addr().expect("its address").port();
        drop(free);
        place.write("bad.txt", "9.9.9.0/24\n");
        let config = format!(
            "[[port]]\nname = 'left'\nspec = 'gen:size=64,hit=0.1'\n\
             [[port]]\nname = 'right'\nspec = 'null:'\n\
             [[set]]\nname = 'bad'\nsource = 'bad.txt'\naction = 'block'\n\
             [control]\nsocket = 'ctl.sock'\n[state]\nkeep = false\n\
             [metrics]\naddress = '127.0.0.1:{metrics}'\n"
        );
        place.write("a.toml", config);
        let child = place
            .command("run a.toml --json")
            .stdin(Stdio::null())
            .spawn();
        let mut watched = Self {
            place,
            child: child.expect("it starts"),
            metrics,
        };
        let begun = Instant::now();
        while watched.counted("linerate_drops_total{reason=\"blocked_src\"") < 100.0 {
            let ended = watched.child.try_wait().expect("its state");
            assert!(ended.is_none() && begun.elapsed() < PATIENCE, "{ended:?}");
            sleep(Duration::from_millis(50));
        }
        watched
    }

    fn page(&self) -> String {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.metrics)) else {
            return String::new();
        };
        let mut reply = String::new();
        let asked = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        let read = asked.and_then(|()| stream.read_to_string(&mut reply));
        let page = reply.split_once("\r\n\r\n").filter(|_| read.is_ok());
        page.map_or_else(String::new, |(_, page)| page.to_owned())
    }

    /// The value of the first sample that begins so; 0 where there is none.
    fn counted(&self, sample: &str) -> f64 {
        let page = self.page();
        let line = page.lines().find(|line| line.starts_with(sample));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
        value.unwrap_or(0.0)
    }

    fn socket(&self) -> String {
        self.place.path("ctl.sock").display().to_string()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It has ended by itself where this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn promtool_reads_the_metrics_of_a_daemon() {
    let daemon = Watched::start();
    let page = daemon.page();
    for sample in [
        "linerate_port_frames_total{port=\"left\",direction=\"rx\"} ",
        "linerate_set_hits_total{set=\"bad\",port=\"left\",side=\"src\",action=\"block\"} ",
        "linerate_set_entries{set=\"bad\",part=\"file\"} 1",
        "linerate_set_refreshes_total{set=\"bad\",result=\"loaded\"} 1",
        "linerate_worker_burst_frames_count{worker=\"0\"} ",
        "linerate_pool_free_frames{worker=\"0\"} ",
    ] {
        assert!(page.contains(sample), "{sample} in\n{page}");
    }
    let tool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut tool) = tool else {
        eprintln!("skipped: no promtool here (Debian: apt-get install prometheus)");
        return;
    };
    let mut stdin = tool.stdin.take().expect("a pipe");
    stdin.write_all(page.as_bytes()).expect("promtool reads");
    drop(stdin);
    let output = tool.wait_with_output().expect("promtool ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}\n{page}");
}

/// Every metric that the rules name is one that a daemon gives.
#[test]
fn alert_rules_name_metrics_that_there_are() {
    let rules = include_str!("../../../../examples/alerts.yml");
    let daemon = Watched::start();
    let page = daemon.page();
    let is_name = |at: char| at.is_ascii_lowercase() || at == '_';
    let names = rules.split(|at| !is_name(at));
    let names: Vec<&str> = names.filter(|name| name.starts_with("linerate_")).collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("# TYPE {name} ")), "{name}");
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/alerts.yml");
    let tool = Command::new("promtool")
        .args(["check", "rules", file])
        .output();
    let Ok(output) = tool else {
        eprintln!("skipped: no promtool here (Debian: apt-get install prometheus)");
        return;
    };
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn tshark_reads_a_capture_of_drops() {
    let daemon = Watched::start();
    let place = &daemon.place;
    let ran = place
        .run("capture --drops --set bad --count 20 --rate 200/s --socket ctl.sock a.pcapng")
        .ended(0);
    assert!(ran.stderr.contains("20 samples of "), "{}", ran.stderr);
    assert!(daemon.counted("linerate_capture_samples_total") >= 20.0);
    let mut tshark = Command::new("tshark");
    tshark
        .arg("-r")
        .arg(place.path("a.pcapng"))
        .args(["-T", "fields", "-E", "separator=|"]);
    let fields = ["frame.interface_name", "frame.len", "frame.comment"];
    let tshark = fields
        .iter()
        .fold(&mut tshark, |tshark, field| tshark.args(["-e", field]));
    let Ok(output) = tshark.output() else {
        eprintln!("skipped: no tshark here");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().count(), 20, "{text}");
    for line in text.lines() {
        assert!(line.starts_with("left|60|dropped: blocked_"), "{line}");
        assert!(line.contains("; set bad ("), "{line}");
    }
}

#[test]
fn lines_of_a_capture_name_entries_and_stand_for_all_frames() {
    let daemon = Watched::start();
    let words = "capture --drops --count 10 --rate 50/s --format json --socket ctl.sock -";
    let ran = daemon.place.run(words).ended(0);
    let lines = ran.text().lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 10);
    for line in &lines {
        assert_eq!(
            (&line["verdict"], &line["port"]),
            (&"drop".into(), &"left".into())
        );
        assert_eq!(line["sets"][0]["entry"], "9.9.9.0/24", "{line}");
    }
    // All frames of the machine's speed, 50 samples: each stands for many others.
    let stood_for = lines.iter().filter_map(|line| line["stands_for"].as_u64());
    assert!(stood_for.sum::<u64>() > 10, "{lines:?}");
}

#[test]
fn what_cannot_be_captured_is_refused_with_a_sentence() {
    let daemon = Watched::start();
    for (words, said) in [
        ("capture --socket ctl.sock a.pcapng", "--drops"),
        (
            "capture --drops --set none --socket ctl.sock a.pcapng",
            "none",
        ),
        (
            "capture --drops --socket ctl.sock /nowhere/a.pcapng",
            "/nowhere",
        ),
        (
            "capture --drops --socket absent.sock a.pcapng",
            "absent.sock",
        ),
        (
            "capture --drops --format pcapng --socket ctl.sock unix:x",
            "--format",
        ),
        ("top --socket ctl.sock", "terminal"),
    ] {
        let ran = daemon.place.run(words).ended(2);
        assert!(ran.stderr.contains(said), "{words}: {}", ran.stderr);
    }
}

/// A terminal of 80 by 24 that nobody sees. It ends with the test.
struct Terminal(String);

impl Terminal {
    /// None where there is no tmux.
    fn start(place: &Place, command: &str) -> Option<Self> {
        let socket = place.path("tmux.sock").display().to_string();
        let size = ["-x", "80", "-y", "24"];
        let mut tmux = Command::new("tmux");
        tmux.args(["-S", &socket, "-f", "/dev/null", "new-session", "-d"]);
        let started = tmux.args(size).arg(command).status();
        started
            .is_ok_and(|status| status.success())
            .then_some(Self(socket))
    }

    fn tmux(&self, words: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-S", &self.0])
            .args(words)
            .output();
        String::from_utf8_lossy(&output.expect("tmux ran before").stdout).into_owned()
    }

    /// Waits until the screen shows this.
    #[track_caller]
    fn shows(&self, part: &str) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(part) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "no '{part}' on\n{screen}");
            sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn the_screen_in_a_terminal_follows_the_daemon_and_its_end() {
    let mut daemon = Watched::start();
    let program = env!("CARGO_BIN_EXE_linerate");
    let shell = format!(
        "{program} top --interval 200ms --socket {}; echo left with $?; exec cat",
        daemon.socket()
    );
    let Some(terminal) = Terminal::start(&daemon.place, &shell) else {
        eprintln!("skipped: no tmux here");
        return;
    };
    let screen = terminal.shows("blocked_src");
    for part in ["PORT", "left", "WORKER", "SET", "received", "q quit"] {
        assert!(screen.contains(part), "no '{part}' on\n{screen}");
    }
    terminal.tmux(&["send-keys", "p"]);
    terminal.shows("PAUSED");
    terminal.tmux(&["send-keys", "p", "?"]);
    terminal.shows("any key closes it");
    terminal.tmux(&["send-keys", "x"]);
    daemon.child.kill().expect("it runs");
    terminal.shows("The daemon does not answer");
    terminal.tmux(&["send-keys", "q"]);
    let screen = terminal.shows("left with 0");
    assert!(
        !screen.contains("WORKER"),
        "the screen is not put back:\n{screen}"
    );
}

#[test]
fn a_screen_whose_terminal_is_closed_ends() {
    let daemon = Watched::start();
    let program = env!("CARGO_BIN_EXE_linerate");
    for hangup in ["", "trap '' HUP;"] {
        let pid = daemon.place.path("top.pid");
        let shell = format!(
            "{hangup} echo $$ > {}; exec {program} top --socket {}",
            pid.display(),
            daemon.socket()
        );
        let Some(terminal) = Terminal::start(&daemon.place, &shell) else {
            eprintln!("skipped: no tmux here");
            return;
        };
        terminal.shows("blocked_src");
        let pid = std::fs::read_to_string(pid).expect("the shell wrote it");
        drop(terminal);
        let begun = Instant::now();
        while std::path::Path::new("/proc").join(pid.trim()).exists() {
            assert!(begun.elapsed() < PATIENCE, "{pid} goes on, '{hangup}'");
            sleep(Duration::from_millis(50));
        }
    }
}
