//! `docs/daemon/first-week.md` as it stands there: its configuration, its commands and its screens,
//! between two interfaces with the names that it uses.

use std::fs;

use crate::bench::{Bench, Side, await_that};
use crate::examples::{bench, folder, shell};
use crate::running::Running;
use crate::screens::{blocks, flow, skeleton};

const PAGE: &str = include_str!("../../../../docs/daemon/first-week.md");

/// The list of the page: two hosts of the left side, and a network that sends nothing.
const LIST: &str = "# as ipsum is\n198.51.100.7\t9\n198.51.100.77\t4\n203.0.113.0/24\t3\n";

fn hosts(bench: &Bench) {
    for (side, interface, last) in [
        (Side::Left, "l", 1),
        (Side::Left, "l", 7),
        (Side::Left, "l", 77),
        (Side::Right, "r", 2),
    ] {
        bench.expect(
            side,
            &format!("ip addr add 198.51.100.{last}/24 dev {interface}"),
        );
    }
}

/// Whether the right side answers this host of the left.
fn passes(bench: &Bench, last: u8) -> bool {
    let ping = format!("ping -I 198.51.100.{last} -c 3 -i 0.05 -W 0.5 198.51.100.2");
    bench.succeeds(Side::Left, &ping)
}

/// Output of a line as on a terminal.
fn typed(bench: &Bench, folder: &tempfile::TempDir, line: &str) -> String {
    let line = format!("{{ {line}\n}} 2>&1");
    let mut command = shell(bench, folder, &line);
    let output = command
        .env("LINERATE_SOCKET", folder.path().join("ctl.sock"))
        .output();
    String::from_utf8_lossy(&output.expect("a shell").stdout).into_owned()
}

#[test]
fn the_first_week_is_as_the_page_says() {
    let Some(bench) = bench() else { return };
    hosts(&bench);
    let folder = folder();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("ipsum.txt"), LIST).expect("a list");
    let config = blocks(PAGE, "toml")
        .into_iter()
        .next()
        .expect("a configuration");
    let kept = "[control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n";
    let config = format!("{config}\n{kept}");
    fs::write(file("linerate.toml"), &config).expect("a configuration");
    let checked = typed(
        &bench,
        &folder,
        "linerate run --check --lists linerate.toml",
    );
    assert!(
        checked.contains("[[set]]") && !checked.contains("warning"),
        "{checked}"
    );
    let run = "exec linerate run linerate.toml";
    let mut daemon = Running::start(&mut shell(&bench, &folder, run));
    await_that("the daemon takes its interfaces", || {
        daemon.must_run();
        ["xdp:eth1", "xdp:eth2"]
            .iter()
            .all(|spec| bench.is_taken(spec))
    });
    await_that("frames pass", || passes(&bench, 1));
    assert!(
        passes(&bench, 7) && passes(&bench, 77),
        "a bridge that counts drops"
    );
    // What was counted is shown within a second.
    await_that("hits are shown", || {
        typed(&bench, &folder, "linerate show hits --top 2").contains("ipsum")
    });
    let mut count = 0;
    for (command, screen) in blocks(PAGE, "console").into_iter().flat_map(flow) {
        if command == "linerate reload" {
            let blocks = config.replace("action = \"count\"", "action = \"block\"");
            fs::write(file("linerate.toml"), blocks).expect("a configuration");
        }
        let came = typed(&bench, &folder, command);
        // Which of both sides of a flow was counted first is chance.
        if !command.starts_with("linerate show hits") {
            let wanted = skeleton(folder.path(), &screen.join("\n"));
            assert_eq!(skeleton(folder.path(), &came), wanted, "{command}\n{came}");
        }
        if command == "linerate set action ipsum block" {
            assert!(!passes(&bench, 7), "he is in the list");
            assert!(
                passes(&bench, 77) && passes(&bench, 1),
                "they are exempt, or in no list"
            );
        }
        count += 1;
    }
    assert!(count >= 8, "{count} commands");
    daemon.signal(rustix::process::Signal::INT);
    let (code, report, said) = daemon.ended();
    assert_eq!(code, 0, "{report}{said}");
}
