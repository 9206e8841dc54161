//! Open vSwitch's user-space datapath between two interfaces: the switch that others know.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use frame::CpuId;

use super::lane::run;

/// How long its database may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// Its daemons, with a folder of their own. They end with this process.
pub(super) struct Vswitch {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Vswitch {
    /// A bridge of this name between two interfaces; it forwards on this CPU.
    pub(super) fn start(bridge: &str, ends: [&str; 2], cpu: CpuId) -> Result<Self, String> {
        let folder = format!("linerate-{}-{bridge}", std::process::id());
        let mut vswitch = Self {
            folder: std::env::temp_dir().join(folder),
            daemons: Vec::new(),
        };
        fs::create_dir(&vswitch.folder).map_err(|error| vswitch.refused(&error.to_string()))?;
        vswitch.begin(bridge, ends, cpu)?;
        Ok(vswitch)
    }

    fn begin(&mut self, bridge: &str, ends: [&str; 2], cpu: CpuId) -> Result<(), String> {
        let folder = self.folder.display().to_string();
        let socket = format!("{folder}/db.sock");
        run("ovsdb-tool", &format!("create {folder}/conf.db"))
            .map_err(|error| format!("{error}; Debian has it in the package openvswitch-switch"))?;
        let database = format!("ovsdb-server --no-chdir --remote=punix:{socket} {folder}/conf.db");
        self.spawn(&database)?;
        let begun = Instant::now();
        while !fs::exists(&socket).unwrap_or(false) {
            if begun.elapsed() > PATIENCE {
                return Err(self.refused("its database does not begin"));
            }
            sleep(Duration::from_millis(10));
        }
        let set = |words: &str| {
            run(
                "ovs-vsctl",
                &format!("--timeout=15 --db=unix:{socket} {words}"),
            )
        };
        set("--no-wait init")?;
        self.spawn(&format!(
            "taskset -c {cpu} ovs-vswitchd --no-chdir unix:{socket}"
        ))?;
        set(&format!(
            "add-br {bridge} -- set bridge {bridge} datapath_type=netdev"
        ))?;
        for end in ends {
            set(&format!("add-port {bridge} {end}"))?;
        }
        Ok(())
    }

    /// Starts a daemon that ends with the thread that starts it.
    fn spawn(&mut self, words: &str) -> Result<(), String> {
        let daemon = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .args(words.split_whitespace())
            .envs(["OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR"].map(|name| (name, &self.folder)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let daemon = daemon.map_err(|error| self.refused(&error.to_string()))?;
        self.daemons.push(daemon);
        Ok(())
    }

    fn refused(&self, what: &str) -> String {
        format!("no Open vSwitch in {}: {what}", self.folder.display())
    }

    /// The process that forwards.
    pub(super) fn process(&self) -> Option<u32> {
        self.daemons.last().map(Child::id)
    }
}

impl Drop for Vswitch {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ended_already = daemon.kill();
            let _ended_already = daemon.wait();
        }
        let _nobody_needs_it = fs::remove_dir_all(&self.folder);
    }
}
