//! The pages about the daemon: every command in them is run, or at least understood, every
//! configuration in them is one, and the screens in `live-changes.md` are those that come.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::daemon::Daemon;
use crate::screens::{blocks, flow, skeleton};
use crate::{Place, Ran};

const README: &str = include_str!("../../../../README.md");
const GUIDE: &str = include_str!("../../../../docs/guide.md");
const SWITCH: &str = include_str!("../../../../docs/switch.md");
const EXAMPLE: &str = include_str!("../../../../examples/switch.toml");
const NAT: &str = include_str!("../../../../docs/nat.md");
const ROUTER: &str = include_str!("../../../../docs/router.md");
const ROUTER_KERNEL_EXAMPLE: &str = include_str!("../../../../examples/router-kernel.toml");
const ROUTER_EXAMPLE: &str = include_str!("../../../../examples/router.toml");
const LIVE: &str = include_str!("../../../../docs/daemon/live-changes.md");
const RUNNING: &str = include_str!("../../../../docs/daemon/running.md");
const CAPTURE: &str = include_str!("../../../../docs/daemon/capture.md");
const METRICS: &str = include_str!("../../../../docs/daemon/metrics.md");

fn checkout() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect()
}

/// All pages about the daemon, by name.
fn pages() -> Vec<(String, String)> {
    let folder = fs::read_dir(checkout().join("docs/daemon")).expect("the pages");
    let page = |path: PathBuf| {
        let name = path.display().to_string();
        (name, fs::read_to_string(&path).expect("a page"))
    };
    let mut pages: Vec<_> = folder
        .map(|entry| page(entry.expect("a page").path()))
        .collect();
    pages.push(("README.md".to_owned(), README.to_owned()));
    pages.push(("guide.md".to_owned(), GUIDE.to_owned()));
    pages.push(("switch.md".to_owned(), SWITCH.to_owned()));
    pages.push(("router.md".to_owned(), ROUTER.to_owned()));
    pages.push(("nat.md".to_owned(), NAT.to_owned()));
    assert!(pages.len() >= 10, "{} pages", pages.len());
    pages
}

/// What a page says to type, without what is said about it: lines of blocks, and code in text.
fn typed(page: &str) -> BTreeSet<String> {
    let mut typed = BTreeSet::new();
    for (place, part) in page.split("```").enumerate() {
        if place % 2 == 1 {
            let lines = part.lines().map(|line| line.trim_start_matches("$ "));
            typed.extend(lines.map(str::to_owned));
        } else {
            typed.extend(part.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    typed
}

/// The words of a call of ours in what is typed, up to where the shell takes over.
fn words_of_ours(typed: &str) -> Option<Vec<&str>> {
    let at = typed.find("linerate ")?;
    let before = &typed[..at];
    let begins = before.is_empty() || before.ends_with("sudo ") || before.ends_with("| ");
    let words = typed[at..].split_whitespace().skip(1);
    let ours = words.take_while(|word| !["|", "<", ">", "&&", "#", "2>&1", "\\"].contains(word));
    // The head of a screen is a name and a version.
    let is_call = begins && !typed[at..].contains(", process ");
    is_call.then(|| ours.map(|word| word.trim_matches(['"', '\''])).collect())
}

#[test]
fn every_command_is_understood() {
    let place = Place::new();
    let mut count = 0;
    for (name, page) in pages() {
        for typed in typed(&page) {
            let Some(words) = words_of_ours(&typed) else {
                continue;
            };
            // "..." stands for more; a comment of several words is one argument.
            if words.is_empty() || words.contains(&"...") || typed.contains("--comment \"") {
                continue;
            }
            // Behind -- stands another program's call. What stands for what a reader has.
            let own: Vec<&str> = words.into_iter().take_while(|word| *word != "--").collect();
            let words = own.join(" ").replace("ADDRESS", "192.0.2.1");
            let words = words.replace("completions SHELL", "completions bash");
            let ran = place.run(&format!("{words} --help"));
            assert_eq!(ran.code, 0, "{name}: {typed}\n{}", ran.stderr);
            count += 1;
        }
    }
    assert!(count > 100, "{count} commands");
}

#[test]
fn every_configuration_is_one() {
    let bridge = "[[port]]\nname = 'outside'\nspec = 'gen:'\n\
                  [[port]]\nname = 'inside'\nspec = 'null:'\n";
    let mut count = 0;
    for (name, page) in pages() {
        for text in blocks(&page, "toml") {
            let place = Place::new();
            let ports = if text.contains("[[port]]") {
                ""
            } else {
                bridge
            };
            place.write("a.toml", format!("{ports}{text}\n"));
            let ran = place.run("run --check a.toml");
            assert_eq!(ran.code, 0, "{name}: {text}\n{}", ran.stderr);
            count += 1;
        }
    }
    assert!(count >= 5, "{count} configurations");
}

#[test]
fn the_page_about_switches_has_the_example() {
    assert_eq!(blocks(SWITCH, "toml"), [EXAMPLE.trim_end()]);
}

#[test]
fn the_page_about_routers_has_the_example() {
    let examples = [ROUTER_KERNEL_EXAMPLE, ROUTER_EXAMPLE].map(str::trim_end);
    assert_eq!(blocks(ROUTER, "toml"), examples);
}

/// A folder with what a reader has: the program, the examples, and lists.
fn folder() -> Place {
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    std::os::unix::fs::symlink(program, place.path("linerate")).expect("a link");
    for file in ["trial.toml", "lists/bad.txt"] {
        let path = checkout().join("examples").join(file);
        let text = fs::read_to_string(path).expect("an example");
        place.write(&format!("examples/{file}"), here(&place, &text));
    }
    let address = |number: u32| format!("198.{}.{}.1\n", 18 + number / 256 % 2, number % 256);
    let list = |from: u32, to: u32| (from..to).map(address).collect::<String>();
    let bad = format!("{}195.181.156.124\n{}", list(0, 16), list(16, 400));
    place.write("bad.txt", bad);
    place.write("trial.txt", "203.0.113.0/25\n203.0.113.200\n");
    place.write("empty.txt", "");
    place.write("short.txt", list(0, 40));
    place.write("broken.txt", format!("{}host.example\n", list(0, 5)));
    place.write("million.txt", list(400, 512));
    place.write("abuse.log", "198.17.0.1 GET /wp-login.php\n");
    place.write("flows.csv", "start,end\n198.51.100.0,198.51.100.127\n");
    place
}

/// Paths of the page as those of this folder.
fn here(place: &Place, text: &str) -> String {
    let socket = place.path("ctl.sock").display().to_string();
    text.replace("/tmp/linerate-trial.sock", &socket)
}

/// Runs a line as the reader's shell does; what it says comes together, as on a terminal.
fn shell(place: &Place, line: &str) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let here_first = format!("{}:{path}", place.path("").display());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {}\n}} 2>&1", here(place, line))])
        .current_dir(place.path(""))
        .env("PATH", here_first)
        .env("LINERATE_SOCKET", place.path("ctl.sock"))
        .env("no_proxy", "*")
        .env_remove("NO_COLOR")
        .output();
    Ran::of(output.expect("a shell"))
}

const SETS: &str = "\
[[port]]\nname = 'outside'\nspec = 'gen:size=64,hit=0.5'\n\
[[port]]\nname = 'inside'\nspec = 'null:'\n\
[[set]]\nname = 'bad'\nsource = 'bad.txt'\naction = 'block'\n\
[[set]]\nname = 'trial'\nsource = 'trial.txt'\naction = 'count'\n\
[[set]]\nname = 'office'\naction = 'allow'\n\
[control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n\
[metrics]\naddress = '127.0.0.1:9177'\n";

#[test]
fn screens_of_live_changes_are_those_that_come() {
    let place = folder();
    place.write(
        "a.toml",
        SETS.replace("[metrics]\naddress = '127.0.0.1:9177'\n", ""),
    );
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(10_000);
    let mut count = 0;
    for block in blocks(LIVE, "console") {
        for (command, screen) in flow(block) {
            let watches = command.contains("--watch");
            let line = match watches {
                true => format!("timeout -s INT 4 {command}"),
                // What would wait for more lines.
                false => command.replace("tail -F", "cat"),
            };
            let ran = shell(&place, &line);
            let (mut came, mut wanted) = (
                skeleton(&place.path(""), ran.text()),
                skeleton(&place.path(""), &screen.join("\n")),
            );
            if watches {
                came.truncate(2);
                wanted.truncate(2);
            }
            // A trickling pipe's screen is not shown.
            if !screen.is_empty() {
                assert_eq!(came, wanted, "{command}\n{}", ran.text());
            }
            count += 1;
        }
    }
    assert!(count >= 20, "{count} commands");
    daemon.stop();
}

/// Of the first terminal, which is the daemon's, the test has started it already.
fn is_of_the_daemon(line: &str) -> bool {
    line.trim() == "linerate run examples/trial.toml" || line.contains("--duration 10s")
}

#[test]
fn the_first_bridge_is_as_the_pages_say() {
    let of_months = README.split("\n## For months").nth(1);
    let of_months = of_months.and_then(|rest| rest.split("\n## ").next());
    let of_months = of_months.expect("a chapter");
    for page in [RUNNING, of_months] {
        let place = folder();
        let daemon = Daemon::start(&place, "run examples/trial.toml --json");
        let lines = blocks(page, "sh").into_iter().flat_map(str::lines);
        let ours = lines.filter(|line| line.starts_with("linerate "));
        let lines: Vec<_> = ours
            .map(|line| line.split('#').next().unwrap_or(line))
            .filter(|line| !is_of_the_daemon(line))
            // A screen needs a terminal, and its tests make one; what sends frames for a rate is
            // of another page.
            .filter(|line| {
                !["linerate top", "linerate gen", "linerate ndr"]
                    .iter()
                    .any(|begin| line.starts_with(begin))
            })
            .collect();
        assert!(lines.len() >= 3, "{lines:?}");
        for line in lines {
            let ran = shell(&place, line);
            assert_eq!(ran.code, 0, "{line}: {}", ran.text());
        }
        daemon.stop();
    }
}

/// Whether a program is there that is not ours.
fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: there is no {program}");
    }
    found
}

#[test]
fn captures_and_metrics_are_as_the_pages_say() {
    let place = folder();
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = free.local_addr().expect("its number").to_string();
    drop(free);
    let named = "[[set]]\nname = 'spamhaus'\nsource = 'trial.txt'\naction = 'block'\n";
    let config = SETS.replace("127.0.0.1:9177", &address);
    place.write("a.toml", format!("{config}{named}"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    let of_captures = blocks(CAPTURE, "sh").into_iter().flat_map(str::lines);
    let of_metrics = blocks(METRICS, "sh").into_iter().flat_map(str::lines);
    for line in of_captures.chain(of_metrics) {
        let others = ["tshark", "curl", "promtool"].into_iter();
        if !others.filter(|other| line.contains(other)).all(has) {
            continue;
        }
        // What goes on until Ctrl-C, and for a minute.
        let line = line
            .replace(
                "linerate capture --drops drops",
                "timeout --preserve-status -s INT 2 linerate capture --drops drops",
            )
            .replace("--duration 1m", "--duration 1s")
            .replace("127.0.0.1:9177", &address);
        let ran = shell(&place, &line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.text());
        if line.starts_with("tshark") {
            assert!(ran.text().contains("dropped: blocked_"), "{}", ran.text());
        }
    }
    daemon.stop();
}
