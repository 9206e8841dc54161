//! `linerate layout check`.

use lab::layout::addresses::{self, Aliases, Fit};
use lab::{Cache, Caches};
use serde::Serialize;

use crate::args::LayoutCheckArgs;
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::{Output, Stream};
use crate::paint::Paint;
use crate::report::number::{bytes, count};
use crate::report::table::{Align, Table, wrap};

/// Distances at which processors mistake one address for another, bytes: loads and stores by their
/// low twelve bits, some L1 caches and prefetchers by sixteen.
const ALIASES: [u64; 2] = [4 << 10, 64 << 10];

/// Everything that was computed.
#[derive(Debug, Serialize)]
struct Checked {
    version: &'static str,
    objects: u64,
    bytes_each: u64,
    caches: Vec<Level>,
    ddio: Option<Capacity>,
    aliases: Vec<Aliased>,
    findings: Vec<String>,
}

/// One cache.
#[derive(Debug, Serialize)]
struct Level {
    name: &'static str,
    bytes: u64,
    sets: u64,
    ways: u64,
    line_bytes: u64,
    lines: u64,
    sets_used: u64,
    lines_a_set_max: u64,
    lines_beyond_ways: u64,
    lines_beyond_capacity: u64,
    crowded: bool,
}

/// A share of a cache, of which nobody knows the sets.
#[derive(Debug, Serialize)]
struct Capacity {
    bytes: u64,
    touched_bytes: u64,
    fits: bool,
}

#[derive(Debug, Serialize)]
struct Aliased {
    distance_bytes: u64,
    objects: u64,
    group_max: u64,
    offset: u64,
}

/// Computes, prints, and ends with 1 where a better distance would keep more lines.
pub(super) fn run(args: &LayoutCheckArgs, output: Output) -> Outcome {
    let caches = caches(args);
    if caches.is_empty() {
        return Err(Error::refused(
            "the kernel says nothing about caches here: name one, as in --l1 32K/8/64",
        ));
    }
    let checked = check(args, &caches).map_err(Error::refused)?;
    if args.json {
        output.print_json(&checked)?;
    } else {
        let stream = Stream::Stdout;
        let (paint, width) = (output.paint(stream), output.width(stream));
        output.print(stream, &text(&checked, paint, width))?;
    }
    let crowded = checked.caches.iter().any(|level| level.crowded);
    Ok(match crowded {
        true => ExitCode::CheckFailed,
        false => ExitCode::Done,
    })
}

/// What was typed before what the kernel says.
fn caches(args: &LayoutCheckArgs) -> Vec<(&'static str, Cache)> {
    let here = Caches::read();
    let levels = [
        ("L1", args.l1.or(here.first)),
        ("L2", args.l2.or(here.second)),
        ("L3", args.l3.or(here.third)),
    ];
    let known = levels.into_iter();
    known
        .filter_map(|(name, cache)| Some((name, cache?)))
        .collect()
}

fn check(args: &LayoutCheckArgs, caches: &[(&'static str, Cache)]) -> Result<Checked, String> {
    let mut levels = Vec::new();
    let mut touched_bytes = 0;
    for &(name, cache) in caches {
        let lines = addresses::lines(&args.streams, args.bytes, cache.line_bytes)?;
        touched_bytes = lines.len() as u64 * cache.line_bytes;
        levels.push(Level::new(name, &addresses::fit(cache, &lines)));
    }
    let aliases = ALIASES.map(|distance| addresses::aliases(&args.streams, distance));
    let mut checked = Checked {
        version: VERSION,
        objects: args.streams.iter().map(|stream| stream.count).sum(),
        bytes_each: args.bytes,
        caches: levels,
        ddio: args.ddio.map(|bytes| Capacity {
            bytes,
            touched_bytes,
            fits: touched_bytes <= bytes,
        }),
        aliases: aliases.iter().map(Aliased::new).collect(),
        findings: Vec::new(),
    };
    checked.findings = findings(&checked);
    Ok(checked)
}

impl Level {
    fn new(name: &'static str, fit: &Fit) -> Self {
        Self {
            name,
            bytes: fit.cache.bytes(),
            sets: fit.cache.sets,
            ways: fit.cache.ways,
            line_bytes: fit.cache.line_bytes,
            lines: fit.lines,
            sets_used: fit.sets_used,
            lines_a_set_max: fit.lines_a_set_max,
            lines_beyond_ways: fit.lines_beyond,
            lines_beyond_capacity: fit.beyond_capacity(),
            crowded: fit.is_crowded(),
        }
    }

    fn finding(&self) -> String {
        let name = self.name;
        if self.crowded {
            return format!(
                "{name}: {} of {} lines have no room, though {} would if they were spread over \
                 all sets; a distance with an odd number of lines ({} bytes more) spreads them",
                count(self.lines_beyond_ways),
                count(self.lines),
                match self.lines_beyond_capacity {
                    0 => "all".to_owned(),
                    beyond => count(self.lines - beyond),
                },
                self.line_bytes
            );
        }
        match self.lines_beyond_capacity {
            0 => format!("{name}: all {} lines have room", count(self.lines)),
            beyond => format!(
                "{name}: {} of {} lines have no room, however they are spread",
                count(beyond),
                count(self.lines)
            ),
        }
    }
}

impl Aliased {
    fn new(aliases: &Aliases) -> Self {
        Self {
            distance_bytes: aliases.distance_bytes,
            objects: aliases.objects,
            group_max: aliases.group_max,
            offset: aliases.offset,
        }
    }

    fn finding(&self) -> String {
        let distance = bytes(self.distance_bytes);
        match self.objects {
            0 => format!("no two objects lie a multiple of {distance} apart"),
            objects => format!(
                "{} objects lie a multiple of {distance} from another one, up to {} at the same \
                 offset ({:#x})",
                count(objects),
                count(self.group_max),
                self.offset
            ),
        }
    }
}

impl Capacity {
    fn finding(&self) -> String {
        let (touched, share) = (bytes(self.touched_bytes), bytes(self.bytes));
        match self.fits {
            true => format!("DDIO: the {touched} that are touched fit into {share}"),
            false => format!(
                "DDIO: {touched} are touched and {share} are there: what a NIC writes leaves the \
                 cache before it is read, unless it is read soon"
            ),
        }
    }
}

fn findings(checked: &Checked) -> Vec<String> {
    let levels = checked.caches.iter().map(Level::finding);
    let ddio = checked.ddio.iter().map(Capacity::finding);
    let aliases = checked.aliases.iter().map(Aliased::finding);
    levels.chain(ddio).chain(aliases).collect()
}

fn text(checked: &Checked, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[
        ("cache", Align::Left),
        ("size", Align::Right),
        ("sets", Align::Right),
        ("ways", Align::Right),
        ("lines", Align::Right),
        ("sets used", Align::Right),
        ("most in a set", Align::Right),
        ("beyond ways", Align::Right),
    ]);
    for level in &checked.caches {
        table.row([
            level.name.to_owned(),
            bytes(level.bytes),
            count(level.sets),
            count(level.ways),
            count(level.lines),
            count(level.sets_used),
            count(level.lines_a_set_max),
            count(level.lines_beyond_ways),
        ]);
    }
    let mut text = format!(
        "{} objects, {} bytes of each\n\n{}\n",
        count(checked.objects),
        count(checked.bytes_each),
        table.render(paint, width)
    );
    for finding in &checked.findings {
        text += &wrap(finding, 2, width);
    }
    text
}
