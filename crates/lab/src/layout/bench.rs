//! Runs of the measured program, and comparisons of layouts by interleaved rounds of them.

use std::path::PathBuf;

use super::Request;
use super::program;
use super::shim::{Layout, Ran, Shim};
use crate::{Better, Interleaved, LabError, Settings, interleave};

/// Where progress goes: what is done, and how much of how much.
pub type Progress<'a> = &'a mut dyn FnMut(&str, usize, usize);

/// What a run is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// CPU time, as the shim saw it.
    Cpu,
    /// Time by the clock: the program ends in a way that the shim does not see.
    Wall,
    /// A figure that it prints.
    Figure,
}

/// A program that is run again and again.
pub(super) struct Bench<'a> {
    pub(super) request: &'a Request,
    pub(super) program: PathBuf,
    pub(super) measured: Measured,
    /// Runs so far.
    pub(super) runs: usize,
    /// Whether each run made as many large allocations as the first.
    pub(super) same_order: bool,
    shim: Shim,
    expected: u64,
    progress: Progress<'a>,
}

impl<'a> Bench<'a> {
    /// With the first run, which shows whether the program can be measured.
    ///
    /// # Errors
    /// It cannot, as a sentence.
    pub(super) fn begin(
        request: &'a Request,
        progress: Progress<'a>,
    ) -> Result<(Self, Ran), LabError> {
        let Some(name) = request.command.first() else {
            return Err(LabError("there is no program to run".to_owned()));
        };
        let program = program::find(name).map_err(LabError)?;
        let shim = Shim::new(request.from_bytes)
            .map_err(|error| LabError(format!("no memory for the shim: {error}")))?;
        let mut bench = Self {
            request,
            program,
            measured: Measured::Cpu,
            runs: 0,
            same_order: true,
            shim,
            expected: 0,
            progress,
        };
        // The first run brings the program into memory.
        bench.run(&Layout::default(), false)?;
        let ran = bench.run(&Layout::default(), true)?;
        bench.expected = ran.seen;
        bench.measured = match (&request.metric, ran.cpu_ns) {
            (Some(_), _) => Measured::Figure,
            (None, Some(_)) => Measured::Cpu,
            (None, None) => Measured::Wall,
        };
        bench.speed(&ran)?;
        Ok((bench, ran))
    }

    /// One run, which must succeed.
    pub(super) fn run(&mut self, layout: &Layout, stacks: bool) -> Result<Ran, LabError> {
        let shown = self.program.display();
        let mut command = self.request.command.clone();
        command[0] = self.program.clone().into();
        let ran = self.shim.run(&command, layout, stacks);
        let ran = ran.map_err(|error| LabError(format!("'{shown}' cannot be run: {error}")))?;
        self.runs += 1;
        if let Some(failure) = &ran.failure {
            let last = ran
                .printed
                .lines()
                .next_back()
                .unwrap_or("it printed nothing");
            return Err(LabError(format!(
                "'{shown}' failed ({failure}) in run {}: {last}",
                self.runs
            )));
        }
        if !ran.shimmed {
            return Err(LabError(format!(
                "'{shown}' ran without the shim: its loader takes none (another C library than \
                 that of this program?), or files in memory may not be executed here \
                 (sysctl vm.memfd_noexec, no /proc)"
            )));
        }
        Ok(ran)
    }

    /// How fast a run was: larger is better, whatever is measured.
    fn speed(&self, ran: &Ran) -> Result<f64, LabError> {
        let figure = match (&self.request.metric, self.measured) {
            (Some(pattern), _) => pattern.figure(&ran.printed).ok_or_else(|| {
                LabError(format!(
                    "'{}' printed no number that '{}' finds: run it once and look",
                    self.program.display(),
                    pattern.text()
                ))
            })?,
            (None, Measured::Cpu) => ran.cpu_ns.unwrap_or(ran.wall_ns),
            (None, _) => ran.wall_ns,
        };
        if figure <= 0.0 {
            return Err(LabError(format!(
                "the figure is {figure}: ratios need figures above 0"
            )));
        }
        Ok(match self.request.better {
            Better::Higher => figure,
            Better::Lower => 1.0 / figure,
        })
    }

    /// Speeds of all layouts in interleaved rounds; the first is measured twice a round.
    ///
    /// # Errors
    /// A run failed.
    pub(super) fn compare(
        &mut self,
        stage: &str,
        layouts: &[Layout],
        rounds: usize,
    ) -> Result<Interleaved, LabError> {
        let mut failure = None;
        let seed = self.request.seed.wrapping_add(self.runs as u64);
        let told = std::cell::Cell::new((0, 1));
        let mut tell = |done, all| told.set((done, all));
        let mut settings = Settings {
            quick: false,
            seed,
            wire: None,
            progress: &mut tell,
        };
        let found = interleave(&mut settings, layouts.len(), rounds, |layout, _| {
            let (done, all) = told.get();
            (self.progress)(stage, done, all);
            if failure.is_some() {
                return f64::NAN;
            }
            let ran = self.run(&layouts[layout], false);
            let speed = ran.and_then(|ran| {
                self.same_order &= ran.seen == self.expected;
                self.speed(&ran)
            });
            speed.unwrap_or_else(|error| {
                failure = Some(error);
                f64::NAN
            })
        });
        failure.map_or(Ok(found), Err)
    }
}
