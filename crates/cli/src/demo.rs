//! `linerate demo`: what this machine does, in less than half a minute and without arguments.

mod plan;
mod text;

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Machine;
use lab::{SourceCost, SourceSettings};
use table::{CompiledLists, Entries};

use crate::args::DemoArgs;
use crate::error::{Error, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::number::{bytes, count, seconds};
use crate::report::{DemoFigures, Report, SetFacts};
use crate::run::{conclude, drive, warn_of_debug_build, warn_of_shared_cpus};
use crate::screen::Screen;
use daemon::Layout;

/// The generator is measured alone for so long, once before the run and once after.
const TRIAL: Duration = Duration::from_millis(500);

/// The set, and what making it took.
struct Set {
    /// Its addresses, which the generator draws its hits from.
    samples: Arc<[u32]>,
    lists: Arc<CompiledLists>,
    generate_seconds: f64,
    compile_seconds: f64,
}

/// Runs the demo.
pub(crate) fn run(args: &DemoArgs, output: Output) -> Outcome {
    let layout = args.workers.layout(&[])?;
    let machine = Machine::read();
    let (entries, shrunk) = plan::entries(args.entries, &machine);
    if args.dry_run {
        return dry_run(args, &layout, entries, output);
    }
    warn_of_debug_build(output);
    warn_of_shared_cpus(&layout, output);
    if let Some(sentence) = shrunk {
        output.warn(&sentence);
    }
    let set = build_set(entries, args.seed, output)?;
    let interrupt = Interrupt::watch()?;
    let mut generator = generator_cost(args, &layout, &set)?;
    generator.trial(TRIAL);
    output.tell(&text::opening(args, &layout));
    let second = Duration::from_secs(1);
    let mut screen = Screen::live(output, second, Some(second));
    let run = drive(plan::plan(args, &layout, &set)?, &interrupt, &mut screen)?;
    generator.trial(TRIAL);

    let facts = SetFacts {
        entries,
        bytes: set.lists.bytes() as u64,
    };
    let mut report = Report::new(&run, &[facts], &machine);
    report.demo = Some(figures(&set, generator.ns_per_frame(), &report));
    let outcome = conclude(&run, &report, args.json, Stream::Stdout, output)?;
    if !args.json {
        let stream = Stream::Stdout;
        let meaning = text::meaning(&report, output.paint(stream), output.width(stream));
        output.print(stream, &meaning)?;
    }
    warn_of_debug_build(output);
    Ok(outcome)
}

/// The generator alone, driven as a worker will drive it.
fn generator_cost(args: &DemoArgs, layout: &Layout, set: &Set) -> Result<SourceCost, Error> {
    let mut port = plan::generator(args, set)?;
    let settings = SourceSettings {
        queues: layout.cpus.len(),
        burst: layout.burst,
        stride_bytes: layout.stride_bytes(0),
        pool_frames: layout.pool_frames,
        node: layout
            .cpus
            .first()
            .and_then(|&cpu| frame::memory::node_of_cpu(cpu)),
    };
    SourceCost::new(&mut *port, &settings).map_err(Error::refused)
}

fn build_set(entries: u64, seed: u64, output: Output) -> Result<Set, Error> {
    let start = Instant::now();
    let mut list = Entries::default();
    list.v4.addresses = plan::random_addresses(entries, seed);
    let generate_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let lists = CompiledLists::compile(&[&list]).map_err(Error::refused)?;
    let compile_seconds = start.elapsed().as_secs_f64();
    output.tell(&format!(
        "Built a set of {} random IPv4 addresses in {}: {} of memory.",
        count(entries),
        seconds(generate_seconds + compile_seconds),
        bytes(lists.bytes() as u64),
    ));
    let samples = list.v4.addresses.into();
    Ok(Set {
        samples,
        lists: Arc::new(lists),
        generate_seconds,
        compile_seconds,
    })
}

fn figures(set: &Set, generator_ns_per_frame: f64, report: &Report) -> DemoFigures {
    let whole = report.ns_per_frame;
    let share = if whole > 0.0 {
        generator_ns_per_frame / whole
    } else {
        0.0
    };
    DemoFigures {
        entries: set.samples.len() as u64,
        generate_seconds: set.generate_seconds,
        compile_seconds: set.compile_seconds,
        generator_ns_per_frame,
        generator_share: share.min(1.0),
    }
}

fn dry_run(args: &DemoArgs, layout: &Layout, entries: u64, output: Output) -> Outcome {
    if args.json {
        return output.print_json(&text::dry_run_json(args, layout, entries));
    }
    let stream = Stream::Stdout;
    let (paint, width) = (output.paint(stream), output.width(stream));
    output.print(stream, &text::dry_run(args, layout, entries, paint, width))
}
