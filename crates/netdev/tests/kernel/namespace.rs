//! Network namespaces that end with a test.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A namespace that the calling thread is in, and one behind a link to it.
pub(crate) struct Namespace {
    home: File,
    own: Child,
    far: Child,
}

impl Namespace {
    /// `None`, with the reason printed, where there can be none. In it are the links `v0` to a
    /// far namespace, where it is `v1`, and `w0` and `w1`, all up and without addresses.
    pub(crate) fn new() -> Option<Self> {
        match Self::make() {
            Ok(namespace) => Some(namespace),
            Err(reason) => {
                println!("skipped: {reason}");
                None
            }
        }
    }

    fn make() -> Result<Self, String> {
        let home = File::open("/proc/thread-self/ns/net").map_err(|error| error.to_string())?;
        let namespace = Self {
            home,
            own: keeper()?,
            far: keeper()?,
        };
        enter(&place(&namespace.own)?);
        let far = namespace.far.id();
        for words in [
            "link set lo up".to_owned(),
            format!("link add v0 type veth peer name v1 netns {far}"),
            "link add w0 type veth peer name w1".to_owned(),
        ] {
            ip(&words)?;
        }
        for link in ["v0", "w0", "w1"] {
            ready(link, &[])?;
        }
        ready("v1", &["nsenter", "--net", "--target", &far.to_string()])?;
        Ok(namespace)
    }

    /// Runs `ip` on the far side.
    pub(crate) fn far_ip(&self, words: &str) {
        let far = self.far.id().to_string();
        let status = Command::new("nsenter")
            .args(["--net", "--target", &far, "ip"])
            .args(words.split_whitespace())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{words}");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        enter(&self.home);
        for keeper in [&mut self.own, &mut self.far] {
            drop(keeper.stdin.take());
            let _ended = keeper.wait();
        }
    }
}

/// Brings a link up without addresses that come by themselves.
fn ready(link: &str, before: &[&str]) -> Result<(), String> {
    let mut words = before.to_vec();
    let script = format!(
        "ip link set {link} addrgenmode none; \
         echo 0 > /proc/sys/net/ipv6/conf/{link}/accept_dad; \
         echo 0 > /proc/sys/net/ipv6/conf/{link}/router_solicitations; ip link set {link} up"
    );
    words.extend(["sh", "-c", &script]);
    let output = Command::new(words[0]).args(&words[1..]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        other => Err(format!("{link} cannot be brought up: {other:?}")),
    }
}

fn keeper() -> Result<Child, String> {
    let mut keeper = Command::new("unshare")
        .args(["--net", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("unshare does not start: {error}"))?;
    let mut byte = [0];
    let (Some(input), Some(output)) = (&mut keeper.stdin, &mut keeper.stdout) else {
        return Err("unshare has no pipes".to_owned());
    };
    let echoed = input.write_all(b"\n").is_ok() && output.read_exact(&mut byte).is_ok();
    match echoed {
        true => Ok(keeper),
        false => Err("network namespaces need root".to_owned()),
    }
}

fn place(keeper: &Child) -> Result<File, String> {
    File::open(format!("/proc/{}/ns/net", keeper.id())).map_err(|error| error.to_string())
}

fn enter(place: &File) {
    let kind = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(place.as_fd(), kind).expect("setns");
}

/// Runs `ip` with these words.
pub(crate) fn ip(words: &str) -> Result<Vec<u8>, String> {
    let output = Command::new("ip").args(words.split_whitespace()).output();
    let output = output.map_err(|error| format!("ip does not start: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let told = String::from_utf8_lossy(&output.stderr);
            Err(format!("ip {words}: {}", told.trim()))
        }
    }
}

/// Runs `ip` with many lines. Those that the kernel refuses change nothing.
pub(crate) fn ip_lines(lines: &[String]) {
    let (mut ip, mut input) = ip_begun();
    let written = input.write_all(lines.join("\n").as_bytes());
    written.expect("lines");
    drop(input);
    ip.wait().expect("ip");
}

/// The same, while the caller does something else.
pub(crate) fn ip_lines_beside(lines: &[String]) -> JoinHandle<()> {
    let (mut ip, mut input) = ip_begun();
    let text = lines.join("\n");
    std::thread::spawn(move || {
        input.write_all(text.as_bytes()).expect("lines");
        drop(input);
        ip.wait().expect("ip");
    })
}

fn ip_begun() -> (Child, ChildStdin) {
    let mut ip = Command::new("ip")
        .args(["-force", "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ip");
    let input = ip.stdin.take().expect("a pipe");
    (ip, input)
}
