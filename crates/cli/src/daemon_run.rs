//! `linerate run`: a configuration, a daemon, signals, a report.

use std::thread;
use std::time::Duration;

use daemon::Daemon;
use daemon::config::Config;
use engine::{Limits, Machine};

use crate::args::DaemonArgs;
use crate::error::{Error, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::{Report, SetFacts};
use crate::run::{conclude, warn_of_debug_build};

/// How long signals may wait.
const NAP: Duration = Duration::from_millis(20);

/// Runs the daemon.
pub(crate) fn run(args: &DaemonArgs, output: Output) -> Outcome {
    let config = Config::read(&args.config).map_err(Error::refused)?;
    if args.check {
        daemon::layout(&config).map_err(Error::refused)?;
        return output.print(Stream::Stdout, &config.resolved());
    }
    warn_of_debug_build(output);
    let interrupt = Interrupt::watch()?;
    let limits = Limits {
        duration: args.duration,
        frames: None,
    };
    let daemon = Daemon::start(&config, limits).map_err(Error::refused)?;
    let warnings = daemon.warnings().iter();
    warnings.for_each(|warning| output.warn(warning));
    while !daemon.is_finished() {
        if interrupt.is_asked() {
            daemon.stop();
        }
        daemon.take_news().iter().for_each(|news| output.warn(news));
        thread::sleep(NAP);
    }
    daemon.take_news().iter().for_each(|news| output.warn(news));
    let run = daemon.join().map_err(Error::check_failed)?;
    let facts: Vec<SetFacts> = run
        .sets
        .iter()
        .map(|_| SetFacts {
            entries: 0,
            bytes: 0,
        })
        .collect();
    let report = Report::new(&run, &facts, &Machine::read());
    conclude(&run, &report, args.json, Stream::Stdout, output)
}
