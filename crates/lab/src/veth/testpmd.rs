//! DPDK's testpmd between two interfaces: the packet forwarder that others know.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use frame::CpuId;

const PROGRAM: &str = "dpdk-testpmd";
const PROMPT: &str = "testpmd>";
/// How long it may take to begin, and to obey.
const PATIENCE: Duration = Duration::from_secs(20);

/// A testpmd that waits between commands. Its input ends with this process, and so does it.
pub(super) struct Testpmd {
    child: Child,
    input: ChildStdin,
    /// A message a prompt; at the end, all that it said.
    prompts: Receiver<Option<String>>,
}

impl Testpmd {
    /// Opens both interfaces with one of DPDK's drivers; the second CPU forwards.
    pub(super) fn start(driver: &str, ends: [&str; 2], cpus: [CpuId; 2]) -> Result<Self, String> {
        let mut command = Command::new(PROGRAM);
        let options = match driver {
            "net_af_packet" => ",qdisc_bypass=1",
            _ => "",
        };
        command.args(["--no-huge", "-m", "512", "--no-shconf", "--no-pci"]);
        command.args(["--no-telemetry", "-l", &format!("{},{}", cpus[0], cpus[1])]);
        command.args(["--main-lcore", &cpus[0].to_string()]);
        for (number, end) in ends.into_iter().enumerate() {
            command.args(["--vdev", &format!("{driver}{number},iface={end}{options}")]);
        }
        command.args([
            "--",
            "-i",
            "--forward-mode=io",
            "--nb-cores=1",
            "--burst=64",
        ]);
        command.args(["--total-num-mbufs=32768", "--no-mlockall"]);
        command.args(["--rxd=2048", "--txd=2048"]);
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.map_err(|error| {
            format!("{PROGRAM} does not start ({error}); Debian has it in the package dpdk-dev")
        })?;
        let (Some(input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{PROGRAM} cannot be spoken to"));
        };
        let (tell, prompts) = mpsc::channel();
        thread::spawn(move || {
            let mut said = String::new();
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let mut searched = said.len().saturating_sub(PROMPT.len() - 1);
                said += &String::from_utf8_lossy(&bytes[..count]);
                while let Some(place) = said.get(searched..).and_then(|new| new.find(PROMPT)) {
                    searched += place + PROMPT.len();
                    let _nobody_waits = tell.send(None);
                }
            }
            let _nobody_waits = tell.send(Some(said));
        });
        let testpmd = Self {
            child,
            input,
            prompts,
        };
        testpmd.prompt().map(|()| testpmd)
    }

    /// Its process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Begins or ends to forward.
    pub(super) fn obey(&mut self, command: &str) -> Result<(), String> {
        while self.prompts.try_recv().is_ok() {}
        let said = writeln!(self.input, "{command}").and_then(|()| self.input.flush());
        said.map_err(|error| format!("{PROGRAM} does not listen: {error}"))?;
        self.prompt()
    }

    fn prompt(&self) -> Result<(), String> {
        match self.prompts.recv_timeout(PATIENCE) {
            Ok(None) => Ok(()),
            Ok(Some(said)) => Err(format!("{PROGRAM} has ended: {}", reason(&said))),
            Err(RecvTimeoutError::Timeout) => Err(format!("{PROGRAM} does not answer")),
            Err(RecvTimeoutError::Disconnected) => Err(format!("{PROGRAM} has ended")),
        }
    }
}

impl Drop for Testpmd {
    fn drop(&mut self) {
        let _asked = writeln!(self.input, "quit");
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

/// The line that says why.
fn reason(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim);
    let cause = lines.clone().find(|line| line.contains("Cause:"));
    let failure = |line: &&str| line.contains("failed") || line.contains("rror");
    cause
        .or_else(|| lines.find(failure))
        .unwrap_or("it does not say why")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_found_in_what_it_said() {
        let said = "EAL: Detected\nvdev_probe(): failed to initialize\nEAL: Error - exiting\n  \
                    Cause: No ports\n";
        assert_eq!(reason(said), "Cause: No ports");
        assert_eq!(reason("one\nprobe failed\n"), "probe failed");
        assert_eq!(reason(""), "it does not say why");
    }
}
