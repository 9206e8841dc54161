//! `linerate run`: a configuration, a daemon, signals, a report.

use std::thread;
use std::time::Duration;

use daemon::config::Config;
use daemon::{Daemon, StartError, StartOptions};
use engine::{Limits, Machine};

use crate::args::DaemonArgs;
use crate::build;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::load::attribute;
use crate::output::{Output, Stream};
use crate::report::{Report, RuleReport, SetFacts};
use crate::run::{conclude, warn_of_debug_build};

/// How long signals may wait.
const NAP: Duration = Duration::from_millis(20);

/// Runs the daemon.
pub(crate) fn run(args: &DaemonArgs, output: Output) -> Outcome {
    let config = Config::read(&args.config).map_err(Error::refused)?;
    if args.check {
        let said = daemon::check(&config).map_err(Error::refused)?;
        said.iter().for_each(|sentence| output.warn(sentence));
        output.print(Stream::Stdout, &config.resolved())?;
        return match args.lists {
            true => check_lists(&config, output),
            false => Ok(ExitCode::Done),
        };
    }
    daemon::privileges::become_user(&config).map_err(Error::refused)?;
    daemon::log::start(&config.log).map_err(Error::refused)?;
    warn_of_debug_build(output);
    let interrupt = Interrupt::watch_and_reload()?;
    // Before this thread leaves the workers their CPUs: the machine has all of them.
    let machine = Machine::read();
    let options = StartOptions {
        file: Some(args.config.clone()),
        limits: Limits {
            duration: args.duration,
            frames: None,
        },
        recover: args.recover,
        commit: build::commit().unwrap_or_default().to_owned(),
        stop: interrupt.asked(),
    };
    let mut daemon = match Daemon::start(&config, options) {
        Ok(daemon) => daemon,
        // Whoever asked knows: there is nothing to report.
        Err(StartError::Stopped) => return Ok(ExitCode::Done),
        Err(error) => return Err(Error::refused(error)),
    };
    let mut stopping = false;
    while !daemon.is_finished() {
        if interrupt.is_asked() && !std::mem::replace(&mut stopping, true) {
            daemon.stop();
        }
        if interrupt.is_to_reload() {
            daemon.reload();
        }
        daemon.look_after();
        thread::sleep(NAP);
    }
    let entries = daemon.set_entries();
    let bytes = attribute(daemon.table_bytes(), &entries);
    let facts = entries.into_iter().zip(bytes);
    let facts = facts.map(|(entries, bytes)| SetFacts { entries, bytes });
    let facts: Vec<SetFacts> = facts.collect();
    let rules = daemon.packet_rules();
    let run = daemon.join().map_err(Error::check_failed)?;
    let names = config.ports.iter().map(|port| port.given_name());
    let report = Report::new(&run, &facts, &machine).with_names(names);
    let report = report.with_rules(rules.as_deref().map(RuleReport::of));
    conclude(&run, &report, args.json, Stream::Stdout, output)
}

/// Says of each list whether the start takes it.
fn check_lists(config: &Config, output: Output) -> Outcome {
    let checked = daemon::check_lists(config).map_err(Error::refused)?;
    let said: Vec<String> = checked
        .said
        .iter()
        .map(|said| format!("# {said}\n"))
        .collect();
    output.print(Stream::Stdout, &said.concat())?;
    let refused = &checked.refused;
    refused.iter().for_each(|sentence| output.warn(sentence));
    match refused.len() {
        0 => Ok(ExitCode::Done),
        1 => Err(Error::check_failed("a list would not be taken")),
        more => {
            let sentence = format!("{more} lists would not be taken");
            Err(Error::check_failed(sentence))
        }
    }
}
