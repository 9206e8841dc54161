//! Commands for generator, sink and no-drop rate as the help and the guide have them, copied and
//! run on interfaces with the names that they use; only their durations are cut short.

use std::fs;

use crate::bench::{Bench, Side};
use crate::examples::{folder, shell};
use crate::running::Running;

const BOX: &str = include_str!("../../../../docs/guide/measure-your-own-box.md");

/// `eth1` and `eth2` joined to each other.
fn wire() -> Option<Bench> {
    let bench = Bench::apart()?;
    bench.ip("link add name eth1 type veth peer name eth2");
    for interface in ["eth1", "eth2"] {
        bench.ip(&format!("link set dev {interface} up"));
        bench.expect(Side::Middle, &format!("ethtool -K {interface} tx off"));
    }
    Some(bench)
}

/// The same command, over in a moment.
fn shortened(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let is_ndr = line.contains("linerate ndr");
    for word in line.split_whitespace() {
        let short = match words.last().map(String::as_str) {
            Some("--duration") if line.contains("linerate bridge") => "8s",
            Some("--duration") if is_ndr => "20ms",
            Some("--duration") => "300ms",
            Some("--count") if word.ends_with('M') => "5k",
            _ => word,
        };
        words.push(short.to_owned());
    }
    if is_ndr && !line.contains("--simulate") {
        let end = words.iter().position(|word| word == "&");
        let end = end.unwrap_or(words.len());
        let more = ["--trials", "12", "--duration", "20ms"];
        let more = if line.contains("--duration") {
            &more[..2]
        } else {
            &more[..]
        };
        words.splice(end..end, more.iter().map(|word| (*word).to_owned()));
    }
    words.join(" ")
}

/// A command that was understood and ran ends with 0, or with 1 where frames were lost, a rate was
/// not reached or none is claimed.
#[track_caller]
fn must_run(bench: &Bench, folder: &tempfile::TempDir, line: &str, input: &str) {
    let mut command = shell(bench, folder, line);
    let output = command.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        matches!(code, Some(0 | 1)),
        "`{input}` as `{line}`: {code:?} {said}"
    );
    assert!(!said.contains("panicked"), "`{input}`: {said}");
}

/// What stands behind `Examples:` in a command's help.
fn of_help(bench: &Bench, command: &str) -> Vec<String> {
    let output = bench.run(&format!("{command} --help"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().map(str::trim);
    let examples = lines.filter(|line| line.starts_with("linerate "));
    examples.map(str::to_owned).collect()
}

#[test]
fn the_help_of_gen_sink_and_ndr() {
    for (command, least) in [("gen", 6), ("sink", 3), ("ndr", 4)] {
        let Some(bench) = wire() else { return };
        let folder = folder();
        for made in ["office.pcap", "test.pcap"] {
            let line = format!("linerate gen pcap:out={made} --count 20 -q");
            must_run(&bench, &folder, &line, &line);
        }
        let examples = of_help(&bench, command);
        assert!(examples.len() >= least, "{examples:?}");
        for line in examples {
            let mut short = shortened(&line);
            if short.starts_with("linerate sink packet:eth2 --reflect") {
                // Until Ctrl-C, it says.
                short += " --duration 300ms";
            }
            must_run(&bench, &folder, &short, &line);
        }
    }
}

/// All blocks of the page in their order: its own interfaces are made, used and taken away.
#[test]
fn measure_your_own_box() {
    let Some(bench) = Bench::apart() else { return };
    let folder = folder();
    let mut tried = 0;
    let mut behind: Vec<Running> = Vec::new();
    let blocks = BOX.split("```sh\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    for line in blocks.flat_map(str::lines) {
        if line.starts_with("cargo build") {
            continue;
        }
        let short = shortened(line);
        match short.strip_suffix('&') {
            Some(background) => {
                let running = Running::start(&mut shell(&bench, &folder, background));
                let words: Vec<&str> = background.split_whitespace().collect();
                crate::bench::await_that(line, || words.iter().all(|word| bench.is_taken(word)));
                behind.push(running);
            }
            None => must_run(&bench, &folder, &short, line),
        }
        tried += 1;
        // The next bridge wants the interfaces of the last.
        if behind.len() == 1 && line.contains("linerate gen") {
            ended_well(&mut behind);
        }
    }
    ended_well(&mut behind);
    assert!(tried >= 20, "{tried}");
    let left = bench.ip("link show");
    assert!(!left.contains("mya") && !left.contains("myc"), "{left}");
    assert!(
        fs::read_dir(folder.path()).expect("a folder").count() > 4,
        "run.json and others"
    );
}

fn ended_well(behind: &mut Vec<Running>) {
    for running in behind.drain(..) {
        let (code, report, said) = running.ended();
        assert!(code == 0 || code == 1, "{code}: {report}{said}");
    }
}
