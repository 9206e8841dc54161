//! The files of `examples/group`, each judged by the program it is for, and its scripts by
//! stand-ins of the programs they call.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Place;
use crate::daemon::until;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/group")
}

/// A program, what it is called with before the file, and what is broken in a file that it must
/// refuse.
struct Judge {
    program: &'static str,
    words: &'static [&'static str],
    file: &'static str,
    package: &'static str,
    /// A part of the file, and what makes the file wrong in its place.
    broken: [&'static str; 2],
}

const JUDGES: [Judge; 4] = [
    Judge {
        program: "bird",
        words: &["-p", "-c"],
        file: "bird.conf",
        package: "bird2",
        broken: ["protocol bgp", "protocol bpg"],
    },
    Judge {
        program: "vtysh",
        words: &["-C", "-f"],
        file: "frr.conf",
        package: "frr",
        broken: ["no bgp ebgp-requires-policy", "nonsense here"],
    },
    Judge {
        program: "exabgp",
        words: &["--test"],
        file: "exabgp.conf",
        package: "exabgp",
        broken: ["peer-as", "peer-sa"],
    },
    Judge {
        program: "keepalived",
        words: &["-t", "-f"],
        file: "keepalived.conf",
        package: "keepalived",
        broken: ["priority 100", "priority high"],
    },
];

impl Judge {
    /// Whether it takes the file; none where it is not installed.
    fn takes(&self, file: &Path) -> Option<bool> {
        let mut command = Command::new(self.program);
        command.args(self.words).arg(file).stdin(Stdio::null());
        let ran = command.output();
        ran.ok().map(|ran| ran.status.success())
    }
}

/// The text of a file, with the paths of a machine where all is installed made those of this test.
fn text_of(name: &str, place: &Place) -> String {
    let text = fs::read_to_string(folder().join(name)).expect("the example");
    let script = place.path("exabgp-health.sh").display().to_string();
    text.replace("/etc/exabgp/exabgp-health.sh", &script)
        .replace("/usr/bin/linerate health --quiet", "/bin/true")
}

fn write_script(place: &Place, name: &str, text: &str) {
    place.write(name, text);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path(name), mode).expect("it can be run");
}

#[test]
fn each_file_is_taken_by_the_program_it_is_for() {
    let place = Place::new();
    write_script(&place, "exabgp-health.sh", "#!/bin/sh\n");
    for judge in &JUDGES {
        let text = text_of(judge.file, &place);
        place.write(judge.file, &text);
        let [part, wrong] = judge.broken;
        assert!(text.contains(part), "{} has no {part}", judge.file);
        place.write("broken.conf", text.replace(part, wrong));
        let Some(is_taken) = judge.takes(&place.path(judge.file)) else {
            let Judge {
                program, package, ..
            } = judge;
            eprintln!("skipped: no {program} here (Debian: apt-get install {package})");
            continue;
        };
        assert!(is_taken, "{} refuses {}", judge.program, judge.file);
        let broken = judge.takes(&place.path("broken.conf"));
        assert_eq!(
            broken,
            Some(false),
            "{} takes what is broken",
            judge.program
        );
    }
}

/// A script of the examples with stand-ins in its path.
struct Script<'p> {
    place: &'p Place,
    child: std::process::Child,
}

impl<'p> Script<'p> {
    fn start(place: &'p Place, name: &str) -> Self {
        // `linerate health` is ready while the file `ready` is there.
        write_script(place, "bin/linerate", "#!/bin/sh\n[ -e ready ]\n");
        write_script(place, "bin/birdc", "#!/bin/sh\necho \"$@\" >>said\n");
        let vtysh = "#!/bin/sh\ncase \"$2\" in\nshow*) cat running ;;\n\
                     conf*) echo \"$6\" >running\necho \"$6\" >>said ;;\nesac\n";
        write_script(place, "bin/vtysh", vtysh);
        place.write("running", "route-map SERVICE deny 10\n");
        place.write("said", "");
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = place.path("bin");
        let out = fs::File::options().append(true).open(place.path("said"));
        let child = Command::new("sh")
            .arg(folder().join(name))
            .current_dir(bin.parent().expect("a folder"))
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("EVERY", "0.05")
            .stdout(out.expect("the file"))
            .spawn();
        Self {
            place,
            child: child.expect("a shell"),
        }
    }

    /// What it said last.
    fn last(&self) -> String {
        let said = String::from_utf8(self.place.read("said")).expect("text");
        said.lines().last().unwrap_or_default().to_owned()
    }
}

impl Drop for Script<'_> {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

#[test]
fn scripts_announce_while_the_daemon_is_ready_and_withdraw_else() {
    for (name, up, down) in [
        ("bird-health.sh", "enable service", "disable service"),
        (
            "frr-health.sh",
            "route-map SERVICE permit 10",
            "route-map SERVICE deny 10",
        ),
        (
            "exabgp-health.sh",
            "announce route 203.0.113.0/24 next-hop self",
            "withdraw route 203.0.113.0/24 next-hop self",
        ),
    ] {
        let place = Place::new();
        place.write("ready", "");
        let script = Script::start(&place, name);
        until(up, || script.last() == up);
        fs::remove_file(place.path("ready")).expect("not ready");
        until(down, || script.last() == down);
        place.write("ready", "");
        until(up, || script.last() == up);
        // A program that is gone is no daemon that is ready.
        fs::remove_file(place.path("bin/linerate")).expect("gone");
        until(down, || script.last() == down);
    }
}
