//! `linerate lab compare`: one run against another, row by row.

mod between;
mod levelled;
mod matched;
mod pairs;
mod recorded;
mod side;
mod text;
mod verdict;

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use self::between::Between;
use self::pairs::{Pair, Pairs};
use self::recorded::{Recorded, RecordedRow, Scalar, median, printable};
use self::side::{level, sides};
use self::verdict::Verdict;
use crate::args::LabCompareArgs;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::{Output, Stream};

/// What all rows may differ by together before it is said.
const SHIFT_MIN: f64 = 0.03;
/// Of one run; a file may hold any number.
const WARNINGS_MAX: usize = 6;

/// All runs as they were read.
struct Comparison {
    base: Recorded,
    new: Recorded,
    /// Further runs of the base's program, with their names.
    nulls: Vec<(String, Recorded)>,
    relative: bool,
    /// Rows without a difference are shown, too.
    all: bool,
    /// Both are read from one file.
    is_one_file: bool,
}

/// Compares; exit code 1 if any row is slower, 2 if nothing can be said of any.
pub(super) fn run(args: &LabCompareArgs, output: Output) -> Outcome {
    let comparison = Comparison::read(args).map_err(Error::refused)?;
    let (between, pairs) = comparison.judged().map_err(Error::refused)?;
    let warnings = warnings(&comparison, &pairs);
    for warning in &warnings {
        output.warn(warning);
    }
    if args.json {
        output.print_json(&object(&comparison, (&between, &pairs), &warnings))?;
    } else {
        let stream = Stream::Stdout;
        let (paint, width) = (output.paint(stream), output.width(stream));
        output.print(
            stream,
            &text::render(&comparison, (&between, &pairs), paint, width),
        )?;
    }
    let count = |verdict| text::count(&pairs, verdict);
    if [Verdict::Slower, Verdict::Faster, Verdict::NoDifference].map(count) == [0; 3] {
        return Err(Error::refused(
            "no row got a verdict: compare runs with more rounds, of rates or costs above 0",
        ));
    }
    Ok(match count(Verdict::Slower) {
        0 => ExitCode::Done,
        // Nothing was changed that could have made it slower.
        _ if comparison.is_one_program() => ExitCode::Done,
        _ => ExitCode::CheckFailed,
    })
}

impl Comparison {
    fn read(args: &LabCompareArgs) -> Result<Self, String> {
        let base = Recorded::read(&args.base)?;
        let alike = |path: &PathBuf, name: &str| {
            let run = Recorded::read(path)?;
            refuse(&Named::of("A", &base), &Named::of(name, &run))?;
            Ok::<_, String>(run)
        };
        let new = alike(&args.new, "B")?;
        let mut nulls: Vec<(String, Recorded)> = Vec::new();
        for path in &args.nulls {
            let name = format!("'{}'", printable(&path.display().to_string()));
            let null = alike(path, &name)?;
            if let Some(other) = twin(&null, [("A", &base), ("B", &new)], &nulls) {
                return Err(format!(
                    "{name} has the samples of {other}: a null run is another run of A's program"
                ));
            }
            nulls.push((name, null));
        }
        Ok(Self {
            relative: args.relative,
            all: args.all,
            is_one_file: args.base == args.new,
            base,
            new,
            nulls,
        })
    }

    /// Whether both are runs of the very same program: what differs is the machine's doing.
    fn is_one_program(&self) -> bool {
        let (a, b) = (&self.base, &self.new);
        a.commit.is_some() && a.commit == b.commit && a.version == b.version
    }

    /// The names of the runs whose own warnings speak against their figures.
    fn spoiled(&self) -> Vec<&'static str> {
        let runs = [("A", &self.base), ("B", &self.new)];
        let spoiled = |(_, run): &(_, &Recorded)| run.debug_build || !run.warnings.is_empty();
        runs.into_iter()
            .filter(spoiled)
            .map(|(name, _)| name)
            .collect()
    }

    /// The verdicts, and the noise between runs that they rest on.
    fn judged(&self) -> Result<(Between, Pairs<'_>), String> {
        let nulls = self.nulls.iter().map(|(_, run)| run);
        let others: Vec<&Recorded> = [&self.new].into_iter().chain(nulls).collect();
        let mut sides = sides(&self.base, &others);
        if !sides[1].has_some() {
            return Err("the two runs have no row in common".to_owned());
        }
        let mut named = self.nulls.iter().zip(&sides[2..]);
        if let Some(((name, _), _)) = named.find(|(_, side)| !side.has_some()) {
            return Err(format!("{name} has no row of A: it says nothing of A's"));
        }
        if self.relative {
            level(&self.base, &mut sides)?;
        }
        let between = Between::of(&self.base.rows, &sides[0], &sides[2..]);
        let pairs = Pairs::of(&self.base, &self.new, [&sides[0], &sides[1]], &between);
        Ok((between, pairs))
    }
}

/// The name of the run that this one is, given twice.
fn twin(
    null: &Recorded,
    runs: [(&str, &Recorded); 2],
    nulls: &[(String, Recorded)],
) -> Option<String> {
    let runs = runs.map(|(name, run)| (name.to_owned(), run));
    let nulls = nulls.iter().map(|(name, run)| (name.clone(), run));
    let mut all = runs.into_iter().chain(nulls);
    all.find_map(|(name, run)| (run.rows == null.rows).then_some(name))
}

/// A run and what messages call it.
struct Named<'a> {
    name: &'a str,
    run: &'a Recorded,
}

impl<'a> Named<'a> {
    fn of(name: &'a str, run: &'a Recorded) -> Self {
        Self { name, run }
    }
}

/// Runs that have nothing to do with each other.
fn refuse(base: &Named<'_>, new: &Named<'_>) -> Result<(), String> {
    let (a, b) = (base.name, new.name);
    let (base, new) = (base.run, new.run);
    if base.experiment != new.experiment {
        return Err(format!(
            "{a} is a run of '{}' and {b} of '{}': compare runs of one experiment",
            printable(&base.experiment),
            printable(&new.experiment)
        ));
    }
    if base.quick != new.quick {
        let (quick, other) = if base.quick { (a, b) } else { (b, a) };
        return Err(format!(
            "{quick} was made with --quick and {other} was not: compare runs made alike"
        ));
    }
    Ok(())
}

fn warnings(comparison: &Comparison, pairs: &Pairs<'_>) -> Vec<String> {
    let base = &comparison.base;
    let a = Named::of("A", base);
    let mut warnings = Vec::from_iter(beside(&a, &Named::of("B", &comparison.new)));
    if comparison.is_one_file {
        warnings.push("A and B are one file: name two runs to see what differs".to_owned());
    }
    if pairs.footprints_differ {
        warnings.push(
            "footprints differ: some rows were matched although their 'bytes' are not the same"
                .to_owned(),
        );
    }
    if base.seed != comparison.new.seed {
        let (a, b) = (base.seed, comparison.new.seed);
        warnings.push(format!("the seeds differ: {a} and {b}"));
    }
    warnings.extend(spoiled("A", base));
    warnings.extend(spoiled("B", &comparison.new));
    for (name, null) in &comparison.nulls {
        warnings.extend(beside(&a, &Named::of(name, null)));
        if null.commit != base.commit || null.version != base.version {
            warnings.push(format!(
                "{name} is no run of A's program by its commit: what it differs by is not noise \
                 alone"
            ));
        }
        warnings.extend(spoiled(name, null));
    }
    let is_known = comparison.relative || !comparison.nulls.is_empty();
    warnings.extend(shift(pairs).filter(|_| !is_known));
    warnings.extend(too_few(pairs));
    warnings
}

/// Machines that differ.
fn beside(base: &Named<'_>, new: &Named<'_>) -> Option<String> {
    let machine = |run: &Recorded| {
        let cpu = run.machine.cpu.as_deref().unwrap_or("unknown");
        let kernel = run.machine.kernel.as_deref().unwrap_or("unknown");
        let cpus = run
            .machine
            .cpus
            .map_or("unknown".to_owned(), |cpus| cpus.to_string());
        printable(&format!("{cpu}, {cpus} CPUs, Linux {kernel}"))
    };
    (base.run.machine != new.run.machine).then(|| {
        let (a, b) = (machine(base.run), machine(new.run));
        format!(
            "the machines differ: {} ran on {a}, {} on {b}",
            base.name, new.name
        )
    })
}

/// Rows that no number of rounds like these could tell apart.
fn too_few(pairs: &Pairs<'_>) -> Option<String> {
    let rows = text::count(pairs, Verdict::TooFew);
    (rows != 0).then(|| {
        format!(
            "{rows} of {} rows have too few samples for a verdict that holds for all rows \
             together: nothing is said of them",
            pairs.both.len()
        )
    })
}

/// What the run itself had to say against its figures.
fn spoiled(name: &str, run: &Recorded) -> Vec<String> {
    let mut said = Vec::new();
    if run.debug_build {
        said.push(format!(
            "{name} was made by a debug build: its figures mean nothing"
        ));
    }
    let shown = run.warnings.iter().take(WARNINGS_MAX);
    said.extend(shown.map(|warning| format!("{name} was spoiled: {}", printable(warning))));
    if let Some(more @ 1..) = run.warnings.len().checked_sub(WARNINGS_MAX) {
        said.push(format!(
            "{name} was spoiled: {more} more warnings are in its file"
        ));
    }
    said
}

/// A machine that was slower throughout looks like a program that is: when all rows moved one
/// way it is said.
fn shift(pairs: &Pairs<'_>) -> Option<String> {
    let mut ratios: Vec<f64> = pairs
        .both
        .iter()
        .filter_map(|pair| Some(pair.judgement.ratio?.median))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (first, last) = (ratios.first()?, ratios.last()?);
    let middle = ratios[ratios.len() / 2];
    let one_way = *last < 1.0 - SHIFT_MIN || *first > 1.0 + SHIFT_MIN;
    (ratios.len() > 2 && one_way).then(|| {
        format!(
            "all rows moved one way, by a factor of {middle:.2} in the middle: rather the \
             machine's doing than the program's (another run of A, given with --null, tells; \
             --relative takes out what rows have in common)"
        )
    })
}

fn object(
    comparison: &Comparison,
    (between, pairs): (&Between, &Pairs<'_>),
    warnings: &[String],
) -> Value {
    let rows: Vec<Value> = pairs.both.iter().map(row).collect();
    let only = |rows: &[&RecordedRow]| -> Vec<Value> {
        let named = |row: &&RecordedRow| json!({ "variant": variant(row), "metric": row.metric });
        rows.iter().map(named).collect()
    };
    json!({
        "experiment": comparison.base.experiment,
        "a": program(&comparison.base),
        "b": program(&comparison.new),
        "nulls": comparison.nulls.iter().map(|(_, run)| program(run)).collect::<Vec<_>>(),
        "relative": comparison.relative,
        "one_program": comparison.is_one_program(),
        "spoiled": comparison.spoiled(),
        "between_runs": between.most,
        "rows": rows,
        "only_in_a": only(&pairs.only_base),
        "only_in_b": only(&pairs.only_new),
        "slower": text::count(pairs, Verdict::Slower),
        "faster": text::count(pairs, Verdict::Faster),
        "no_difference": text::count(pairs, Verdict::NoDifference),
        "not_judged": text::count(pairs, Verdict::NotJudged),
        "too_few": text::count(pairs, Verdict::TooFew),
        "warnings": warnings,
    })
}

fn program(run: &Recorded) -> Value {
    json!({ "version": run.version, "commit": run.commit, "seed": run.seed })
}

fn row(pair: &Pair<'_>) -> Value {
    let ratio = pair.judgement.ratio;
    json!({
        "variant": variant(pair.base),
        "metric": pair.base.metric,
        "verdict": pair.judgement.verdict,
        "noise": pair.noise,
        "a": median(&pair.base.samples),
        "b": median(&pair.new.samples),
        "speed_ratio": ratio.map(|ratio| ratio.median),
        "low": ratio.map(|ratio| ratio.low),
        "high": ratio.map(|ratio| ratio.high),
    })
}

fn variant(row: &RecordedRow) -> Map<String, Value> {
    let field = |(name, value): &(String, Scalar)| {
        let value = match value {
            Scalar::Number(number) => json!(number),
            Scalar::Truth(truth) => json!(truth),
            Scalar::Decimal(decimal) => json!(decimal),
            Scalar::Word(word) => json!(word),
            Scalar::Nothing(()) => Value::Null,
        };
        (name.clone(), value)
    };
    row.variant.0.iter().map(field).collect()
}
