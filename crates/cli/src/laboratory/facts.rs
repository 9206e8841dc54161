//! All that is to be said of a run besides its rows.

use std::path::{Path, PathBuf};

use lab::{Conditions, Experiment, LoadRecord, Outcome};

use crate::args::LabRunArgs;
use crate::build;
use crate::report::number::{bytes, plural};

/// One variant that differs from itself by more than this was measured on an unsteady machine.
const NOISE_MAX: f64 = 0.1;

/// What was run, when, where and how.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) experiment: Experiment,
    pub(super) quick: bool,
    pub(super) seed: u64,
    pub(super) date: Option<String>,
    pub(super) commit: Option<&'static str>,
    pub(super) debug: bool,
    pub(super) conditions: Conditions,
    pub(super) load: LoadRecord,
    /// What spoils the figures, a sentence each.
    pub(super) warnings: Vec<String>,
    /// The command that makes this again.
    pub(super) command: String,
}

impl Facts {
    pub(super) fn new(
        args: &LabRunArgs,
        experiment: Experiment,
        load: LoadRecord,
        outcome: &Outcome,
    ) -> Self {
        let conditions = Conditions::read();
        let mut warnings = conditions.warnings(&load);
        warnings.extend(unsteady(outcome));
        if build::DEBUG {
            warnings.insert(0, build::DEBUG_WARNING.to_owned());
        }
        Self {
            experiment,
            quick: args.quick,
            seed: args.seed,
            date: super::date::now(),
            commit: build::commit(),
            debug: build::DEBUG,
            conditions,
            load,
            warnings,
            command: command(args),
        }
    }

    /// The machine and its state, a name and a value each.
    pub(super) fn machine(&self, outcome: &Outcome) -> Vec<(&'static str, String)> {
        let conditions = &self.conditions;
        let machine = &conditions.machine;
        let virtually = if conditions.virtual_machine {
            ", a virtual machine"
        } else {
            ""
        };
        let said = |text: &Option<String>| text.clone().unwrap_or_else(unknown);
        let mut lines = vec![
            ("processor", machine.cpu.clone()),
            ("CPUs", format!("{}{virtually}", threads(conditions))),
            ("kernel", format!("Linux {}", machine.kernel)),
            (
                "governor, turbo",
                format!("{}, {}", said(&conditions.governor), turbo(conditions)),
            ),
            (
                "memory",
                format!("{} available", bytes(machine.memory_available_bytes)),
            ),
            ("huge pages", huge_pages(conditions)),
        ];
        if let Some(pages) = pages_got(outcome) {
            lines.push(("pages got", pages));
        }
        lines.push(("load of others", load(&self.load)));
        lines
    }

    /// What was run, a name and a value each.
    pub(super) fn run(&self, outcome: &Outcome) -> Vec<(&'static str, String)> {
        let mut version = build::VERSION.to_owned();
        if let Some(commit) = self.commit {
            version += &format!(", commit {commit}");
        }
        if self.debug {
            version += ", DEBUG BUILD";
        }
        // A single sample is of no round: how long a list took to load, for instance.
        let samples = outcome.rows.iter().map(|row| row.samples.all().len());
        let rounds = samples.clone().filter(|&count| count > 1).min();
        let rounds = rounds.or(samples.max());
        let mut lines = vec![("linerate", version)];
        lines.extend(self.date.clone().map(|date| ("date", date)));
        lines.push(("seed", self.seed.to_string()));
        lines.push(("rounds", rounds.unwrap_or(0).to_string()));
        lines
    }
}

/// What the null run means for the figures.
pub(super) fn about_noise(outcome: &Outcome) -> Option<String> {
    let noise = outcome.noise.as_ref()?;
    Some(format!(
        "Null run: one variant, measured twice a round, differed from itself by {:.1} % or less in \
         nine rounds of ten. A smaller difference between two variants is no difference, nor is \
         one whose 95 % interval holds 1.",
        noise.share() * 100.0
    ))
}

fn unsteady(outcome: &Outcome) -> Option<String> {
    let share = outcome.noise.as_ref()?.share();
    (share > NOISE_MAX).then(|| {
        format!(
            "the machine is unsteady: one variant differs from itself by {:.0} % within a round",
            share * 100.0
        )
    })
}

fn command(args: &LabRunArgs) -> String {
    let mut command = variables();
    command += &format!("linerate lab run {}", args.name);
    if args.quick {
        command += " --quick";
    }
    command += &format!(" --seed {}", args.seed);
    for (option, port) in [("--tx", &args.tx), ("--rx", &args.rx)] {
        if let Some(port) = port {
            command += &format!(" {option} {port}");
        }
    }
    for (option, path) in [("--json", &args.json), ("--html", &args.html)] {
        if let Some(path) = path.as_deref().filter(|path| *path != Path::new("-")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            command += &format!(" {option} {name}");
        }
    }
    command
}

/// The variables that experiments heed, of a file its name alone, as they stand before a command.
fn variables() -> String {
    let vars = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let heeded = name == "LINERATE_ROUTES" || name.starts_with("LINERATE_VETH_");
        let value = PathBuf::from(value);
        let value = value.file_name().unwrap_or_default().to_string_lossy();
        heeded.then(|| format!("{name}={value} "))
    });
    let mut vars: Vec<String> = vars.collect();
    vars.sort_unstable();
    vars.concat()
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn turbo(conditions: &Conditions) -> &'static str {
    match conditions.turbo {
        Some(true) => "on",
        Some(false) => "off",
        None => "unknown",
    }
}

fn threads(conditions: &Conditions) -> String {
    let cpus = conditions.machine.cpus as u64;
    let siblings = match conditions.threads_per_core {
        None => String::new(),
        Some(1) => ", one thread a core".to_owned(),
        Some(threads) => format!(", {threads} threads a core share it"),
    };
    let nodes = plural(conditions.numa_nodes as u64, "memory node", "memory nodes");
    format!("{cpus} allowed{siblings}, {nodes}")
}

fn huge_pages(conditions: &Conditions) -> String {
    let aside = match conditions.huge_pages_free_bytes {
        0 => "none set aside".to_owned(),
        free => format!("{} set aside and free", bytes(free)),
    };
    let setting = conditions.transparent_huge_pages.clone();
    format!("transparent: {}; {aside}", setting.unwrap_or_else(unknown))
}

/// What the experiment says of its pages.
fn pages_got(outcome: &Outcome) -> Option<String> {
    let mut got: Vec<String> = Vec::new();
    for page in outcome.rows.iter().filter_map(|row| row.value("pages")) {
        let page = page.to_string();
        if !got.contains(&page) {
            got.push(page);
        }
    }
    (!got.is_empty()).then(|| got.join(", "))
}

fn load(load: &LoadRecord) -> String {
    let [before, during, after] = [load.before, load.during, load.after].map(|l| l.others_cpus);
    format!(
        "{before:.2} CPUs before, {during:.2} during, {after:.2} after; {:.1} % stolen",
        load.during.steal * 100.0
    )
}
