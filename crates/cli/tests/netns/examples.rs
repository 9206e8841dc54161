//! The commands for kernel interfaces in README.md and the guide, as they stand there, run on
//! interfaces with the names that they use.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that, missing};
use crate::bypass::with_gro_at_the_ends;
use crate::running::Running;
use crate::traffic::{Ends, ping_between};

const README: &str = include_str!("../../../../README.md");
const GUIDE: &str = include_str!("../../../../docs/guide.md");
const TWO_NAMESPACES: &str = include_str!("../../../../docs/guide/two-namespaces.md");

/// Lines of code and code within lines.
fn commands(page: &str) -> BTreeSet<&str> {
    let lines = page.lines().map(str::trim);
    let whole = lines.filter(|line| !line.contains('`'));
    let within = page
        .split("```")
        .step_by(2)
        .flat_map(|text| text.split('`').skip(1).step_by(2));
    whole.chain(within).collect()
}

/// What a person who copies needs: the list, the program in the path, and a `sudo`, since this is
/// root already.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("ipsum.txt"), "# as ipsum's\n10.201.0.9\t7\n").expect("a file");
    fs::write(path("sudo"), "#!/bin/sh\nexec \"$@\"\n").expect("a file");
    fs::set_permissions(path("sudo"), fs::Permissions::from_mode(0o755)).expect("its mode");
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    std::os::unix::fs::symlink(program, path("linerate")).expect("a link");
    folder
}

/// `eth1` and `eth2` where there are `a` and `b` else.
pub(crate) fn bench() -> Option<Bench> {
    let bench = Bench::new()?;
    for (old, new) in [("a", "eth1"), ("b", "eth2")] {
        bench.ip(&format!("link set dev {old} down"));
        bench.ip(&format!("link set dev {old} name {new}"));
        bench.ip(&format!("link set dev {new} up"));
    }
    let blocked = "ip addr add 10.201.0.9/24 dev l";
    bench.expect(Side::Left, blocked);
    Some(bench)
}

pub(crate) fn shell(bench: &Bench, folder: &TempDir, line: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = bench.command(Side::Middle, "sh");
    // What `ip netns exec` hides of the machine.
    let line = match line.contains("bypass=on") {
        true => format!("mount -t bpf bpf /sys/fs/bpf && {line}"),
        false => line.to_owned(),
    };
    command
        .args(["-c", &line])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", folder.path().display()));
    command
}

/// Ctrl-C to what a shell runs.
fn interrupt(running: &Running) {
    let shell = running.id();
    let children = format!("/proc/{shell}/task/{shell}/children");
    let children = fs::read_to_string(children).unwrap_or_default();
    let child = children
        .split_whitespace()
        .next()
        .and_then(|id| id.parse().ok());
    let id = child.unwrap_or(shell as i32);
    kill_process(Pid::from_raw(id).expect("a process"), Signal::INT).expect("a signal");
}

#[test]
fn bridges_pass_and_block() {
    let examples: BTreeSet<_> = commands(README).union(&commands(GUIDE)).copied().collect();
    let ports = |line: &&str| line.contains("linerate bridge ") && line.contains(":eth");
    let examples: Vec<_> = examples.into_iter().filter(ports).collect();
    assert!(examples.len() >= 5, "{examples:?}");
    for line in examples {
        let Some(bench) = bench() else { return };
        let folder = folder();
        if line.contains("bypass=on") || line.contains("shortcut=on") {
            with_gro_at_the_ends(&bench);
        }
        let mut running = Running::start(&mut shell(&bench, &folder, line));
        await_that(&format!("`{line}` takes its interfaces"), || {
            running.must_run();
            line.split_whitespace().all(|word| bench.is_taken(word))
        });
        if line.contains("tap:lin0") {
            bench.ip("addr add 10.201.0.3/24 dev lin0");
            let (to, address) = if line.contains(":eth2") {
                (Side::Right, RIGHT_ADDRESS)
            } else {
                (Side::Left, "10.201.0.1")
            };
            let from = Side::Middle;
            ping_between(&bench, Ends { from, to, address });
        } else {
            ping_between(&bench, Ends::across(RIGHT_ADDRESS));
            let listed = "ping -I 10.201.0.9 -c 2 -i 0.1 -W 0.3 10.201.0.2";
            let blocks = line.contains("--block");
            assert_eq!(bench.succeeds(Side::Left, listed), !blocks, "{line}");
        }
        interrupt(&running);
        let (code, report, said) = running.ended();
        assert_eq!(code, 0, "{line}: {report}{said}");
        assert!(report.contains("dropped"), "{line}: {report}");
    }
}

#[test]
fn other_commands_run() {
    let Some(bench) = bench() else { return };
    let examples: BTreeSet<_> = commands(README).union(&commands(GUIDE)).copied().collect();
    let starts = ["sudo linerate doctor eth1", "linerate restore"];
    let one = |line: &&str| starts.iter().any(|start| line.starts_with(start));
    let examples: Vec<_> = examples.into_iter().filter(one).collect();
    assert!(examples.len() >= 2, "{examples:?}");
    let folder = folder();
    for line in examples {
        let running = Running::start(&mut shell(&bench, &folder, line));
        let (code, page, said) = running.ended();
        if line.contains("doctor") {
            // A veth peer that leaves checksums and more to the receiver is something wrong.
            assert!([0, 1].contains(&code), "{line}: {page}{said}");
            assert!(
                page.contains("eth1: ") && page.contains("eth2: "),
                "{line}: {page}"
            );
        } else {
            assert_eq!(code, 0, "{line}: {page}{said}");
        }
    }
}

/// Every port of the guide's table that has a kernel interface, but for those with a bypass or a
/// shortcut, which are between two.
#[test]
fn ports_of_the_table_open() {
    let specs = commands(GUIDE).into_iter();
    let specs =
        specs.filter(|code| code.starts_with("xdp:eth0") || code.starts_with("packet:eth0"));
    let specs: Vec<_> = specs
        .filter(|code| !code.contains(' '))
        .filter(|code| !code.contains("bypass") && !code.contains("shortcut"))
        .collect();
    assert!(specs.len() >= 8, "{specs:?}");
    for spec in specs {
        let Some(bench) = Bench::apart() else { return };
        bench.try_join_one(Side::Left, 4).expect("a veth pair");
        bench.ip("link set dev a down");
        bench.ip("link set dev a name eth0");
        bench.ip("link set dev eth0 up");
        let words = format!("bridge --json --duration 300ms {spec} null:");
        if spec.contains("mode=zerocopy") {
            let said = bench.refusal(&words);
            assert!(said.contains("zero-copy"), "{said}");
        } else if spec.contains("timestamps=hardware") {
            let said = bench.refusal(&words);
            assert!(said.contains("timestamps=auto"), "{said}");
        } else {
            bench.start(&words).reported();
        }
    }
}

/// The names of its namespaces are the page's own, so that a run beside it would meet them.
#[test]
fn the_page_about_two_namespaces_runs_as_it_is_copied() {
    if Bench::new().is_none() {
        return;
    }
    if let Some(tool) = missing(&["curl", "python3"]) {
        println!("skipped: no {tool} here");
        return;
    }
    let script = TWO_NAMESPACES.split("```").nth(1).expect("a block");
    let script = script.strip_prefix("sh\n").expect("of shell");
    let folder = folder();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", folder.path().display()))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    for part in ["from 192.0.2.1: 200", "from 192.0.2.66: 000", "blocked_src"] {
        assert!(said.contains(part), "{part}: {said}{complained}");
    }
}
