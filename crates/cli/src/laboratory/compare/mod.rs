//! `linerate lab compare`: one run against another, row by row.

mod between;
mod levelled;
mod matched;
mod pairs;
mod recorded;
mod text;
mod verdict;

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use self::between::Between;
use self::pairs::{Pair, Pairs};
use self::recorded::{Recorded, RecordedRow, Scalar, median, printable};
use self::verdict::Verdict;
use crate::args::LabCompareArgs;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::{Output, Stream};

/// What all rows may differ by together before it is said.
const SHIFT_MIN: f64 = 0.03;
/// Of one run; a file may hold any number.
const WARNINGS_MAX: usize = 6;

/// Two runs, and what is known of the noise between runs.
struct Comparison {
    base: Recorded,
    new: Recorded,
    between: Between,
    relative: bool,
}

/// Compares; exit code 1 if any row is slower.
pub(super) fn run(args: &LabCompareArgs, output: Output) -> Outcome {
    let comparison = Comparison::read(args).map_err(Error::refused)?;
    let pairs = comparison.pairs();
    if pairs.both.is_empty() {
        return Err(Error::refused("the two runs have no row in common"));
    }
    let warnings = warnings(&comparison, &pairs);
    for warning in &warnings {
        output.warn(warning);
    }
    if args.json {
        output.print_json(&object(&comparison, &pairs, &warnings))?;
    } else {
        let stream = Stream::Stdout;
        let (paint, width) = (output.paint(stream), output.width(stream));
        output.print(stream, &text::render(&comparison, &pairs, paint, width))?;
    }
    Ok(match text::count(&pairs, Verdict::Slower) {
        0 => ExitCode::Done,
        _ => ExitCode::CheckFailed,
    })
}

impl Comparison {
    fn read(args: &LabCompareArgs) -> Result<Self, String> {
        let base = Recorded::read(&args.base)?;
        let alike = |path: &PathBuf, name: &str| {
            let run = Recorded::read(path)?;
            refuse((&base, "A"), (&run, name))?;
            Ok::<_, String>(run)
        };
        let new = alike(&args.new, "B")?;
        let null = |path| {
            alike(
                path,
                &format!("'{}'", printable(&path.display().to_string())),
            )
        };
        let nulls: Vec<Recorded> = args.nulls.iter().map(null).collect::<Result<_, _>>()?;
        Ok(Self {
            between: Between::of(&base, &nulls, args.relative),
            relative: args.relative,
            base,
            new,
        })
    }

    fn pairs(&self) -> Pairs<'_> {
        Pairs::of(&self.base, &self.new, &self.between, self.relative)
    }
}

/// Runs that have nothing to do with each other.
fn refuse((base, a): (&Recorded, &str), (new, b): (&Recorded, &str)) -> Result<(), String> {
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
    let (base, new) = (&comparison.base, &comparison.new);
    let mut warnings = Vec::new();
    let machine = |run: &Recorded| {
        let cpu = run.machine.cpu.as_deref().unwrap_or("unknown");
        let kernel = run.machine.kernel.as_deref().unwrap_or("unknown");
        let cpus = run
            .machine
            .cpus
            .map_or("unknown".to_owned(), |cpus| cpus.to_string());
        printable(&format!("{cpu}, {cpus} CPUs, Linux {kernel}"))
    };
    if base.machine != new.machine {
        let (base, new) = (machine(base), machine(new));
        warnings.push(format!("the machines differ: A ran on {base}, B on {new}"));
    }
    if pairs.footprints_differ {
        warnings.push(
            "footprints differ: some rows were matched although their 'bytes' are not the same"
                .to_owned(),
        );
    }
    if base.seed != new.seed {
        warnings.push(format!("the seeds differ: {} and {}", base.seed, new.seed));
    }
    for (name, run) in [("A", base), ("B", new)] {
        if run.debug_build {
            warnings.push(format!(
                "{name} was made by a debug build: its figures mean nothing"
            ));
        }
        warnings.extend(spoiled(name, run));
    }
    let is_known = comparison.relative || comparison.between.most.is_some();
    warnings.extend(shift(pairs).filter(|_| !is_known));
    warnings
}

/// What the run itself had to say against its figures.
fn spoiled(name: &str, run: &Recorded) -> Vec<String> {
    let said = run.warnings.iter().take(WARNINGS_MAX);
    let mut said: Vec<String> = said
        .map(|warning| format!("{name} was spoiled: {}", printable(warning)))
        .collect();
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

fn object(comparison: &Comparison, pairs: &Pairs<'_>, warnings: &[String]) -> Value {
    let rows: Vec<Value> = pairs.both.iter().map(row).collect();
    let only = |rows: &[&RecordedRow]| -> Vec<Value> {
        let named = |row: &&RecordedRow| json!({ "variant": variant(row), "metric": row.metric });
        rows.iter().map(named).collect()
    };
    json!({
        "experiment": comparison.base.experiment,
        "relative": comparison.relative,
        "between_runs": comparison.between.most,
        "rows": rows,
        "only_in_a": only(&pairs.only_base),
        "only_in_b": only(&pairs.only_new),
        "slower": text::count(pairs, Verdict::Slower),
        "faster": text::count(pairs, Verdict::Faster),
        "warnings": warnings,
    })
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
