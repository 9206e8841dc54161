//! What is told of sets: all, or one.

use daemon::rpc::answers::{
    Action, ActionParams, FlushParams, Flushed, NoParams, SetFacts, SetHits, SetList, SetParams,
    Side, SourceFacts,
};

use super::ago::{self, ago, until};
use super::{connect, failed, tell};
use crate::args::{ActionArgs, FlushArgs, ListArgs, ShowSetArgs};
use crate::error::Outcome;
use crate::output::{Output, Stream};
use crate::paint::Paint;
use crate::report::number::{count, plural};
use crate::report::table::{Align, Table, wrap};

pub(super) fn list(args: &ListArgs, output: Output) -> Outcome {
    let mut client = connect(&args.answer.daemon)?;
    let sets: SetList = client
        .call("set.list", &NoParams::default())
        .map_err(failed)?;
    let (paint, width) = looks(output);
    tell(
        args.answer.json,
        &sets,
        &listed(&sets, paint, width),
        output,
    )
}

pub(super) fn show(args: &ShowSetArgs, output: Output) -> Outcome {
    let mut client = connect(&args.answer.daemon)?;
    let set = SetParams {
        set: args.set.clone(),
    };
    let facts: SetFacts = client.call("set.show", &set).map_err(failed)?;
    let (paint, width) = looks(output);
    tell(
        args.answer.json,
        &facts,
        &shown(&facts, paint, width),
        output,
    )
}

pub(super) fn flush(args: &FlushArgs, output: Output) -> Outcome {
    let mut client = connect(&args.answer.daemon)?;
    let params = FlushParams {
        set: args.set.clone(),
        force: args.force,
    };
    let flushed: Flushed = client.call("set.flush", &params).map_err(failed)?;
    let entries = plural(flushed.deleted, "entry", "entries");
    let text = format!("{entries} taken out of '{}'\n", args.set);
    tell(args.answer.json, &flushed, &text, output)
}

pub(super) fn action(args: &ActionArgs, output: Output) -> Outcome {
    let mut client = connect(&args.answer.daemon)?;
    let params = ActionParams {
        set: args.set.clone(),
        action: args.action.into(),
        side: args.side.map(Into::into),
        port: args.port.clone(),
        force: args.force,
    };
    let facts: SetFacts = client.call("set.action", &params).map_err(failed)?;
    let side = params.side.map(|side| match side {
        Side::Source => " for sources",
        Side::Destination => " for destinations",
    });
    let port = params
        .port
        .as_ref()
        .map(|port| format!(" that enter by {port}"));
    let text = format!(
        "'{}' does {} now{}{}: {}\n",
        facts.set,
        params.action.name(),
        side.unwrap_or_default(),
        port.unwrap_or_default(),
        reach(&facts)
    );
    tell(args.answer.json, &facts, &text, output)
}

/// How much a set reaches: its entries, and of the frames so far those that it would have dropped
/// while it counted.
fn reach(set: &SetFacts) -> String {
    let entries = plural(set.entries, "entry", "entries");
    let hits = set.hits.as_ref().filter(|hits| counts(hits));
    let Some(hits) = hits.filter(|_| set.action == Action::Block) else {
        return entries;
    };
    let would_drop = plural(hits.would_drop, "frame", "frames");
    let of = match set.frames {
        Some(frames) if frames != 0 => {
            let share = hits.would_drop as f64 / frames as f64 * 100.0;
            format!(" of {} ({share:.2} %)", count(frames))
        }
        _ => String::new(),
    };
    format!("{entries}; while it counted it would have dropped {would_drop}{of}")
}

fn looks(output: Output) -> (Paint, usize) {
    (output.paint(Stream::Stdout), output.width(Stream::Stdout))
}

fn listed(list: &SetList, paint: Paint, width: usize) -> String {
    if list.sets.is_empty() {
        return "there are no sets\n".to_owned();
    }
    let mut table = Table::new(&[
        ("set", Align::Left),
        ("action", Align::Left),
        ("entries", Align::Right),
        ("dynamic", Align::Right),
        ("timed", Align::Right),
        ("loaded", Align::Right),
        ("source", Align::Left),
    ]);
    for set in &list.sets {
        table.row([
            set.set.clone(),
            action_of(set),
            count(set.entries),
            count(set.dynamic),
            count(set.timed),
            loaded(set),
            source_of(set).unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let told_once = list.sets.iter().filter(|set| !is_told_as_never_read(set));
    let refused = told_once.filter_map(|set| refusal(set, paint, width));
    let never = list
        .sets
        .iter()
        .flat_map(|set| never_read(set, paint, width));
    let failing = list.sets.iter().flat_map(|set| failing(set, paint, width));
    table.render(paint, width) + &refused.chain(never).chain(failing).collect::<String>()
}

/// When the list came; a source that was never read is no set without one.
fn loaded(set: &SetFacts) -> String {
    let never = set.sources.iter().any(|source| source.never_read);
    match set.loaded_at {
        Some(at) => ago(at),
        None if never => "never read".to_owned(),
        None => "-".to_owned(),
    }
}

/// Where the list comes from, or is to come from.
fn source_of(set: &SetFacts) -> Option<String> {
    let configured = || set.sources.first().map(|source| source.source.clone());
    set.source.clone().or_else(configured)
}

/// True where what a source that was never read is in want of is that its list was refused.
fn is_told_as_never_read(set: &SetFacts) -> bool {
    let Some(refused) = &set.refused else {
        return false;
    };
    let mut never = set.sources.iter().filter(|source| source.never_read);
    never.any(|source| {
        source
            .error
            .as_ref()
            .is_some_and(|why| why.contains(refused))
    })
}

/// Sources that give nothing more, since when and why: a file that is gone, a server that does not
/// answer. What a guard refuses is told as such.
fn failing(set: &SetFacts, paint: Paint, width: usize) -> Vec<String> {
    let is_refusal = |source: &SourceFacts| {
        let error = source.error.as_deref().unwrap_or_default();
        set.refused.as_ref().is_some_and(|why| error.contains(why))
    };
    let sources = set.sources.iter().filter(|source| !source.never_read);
    let sources = sources.filter(|source| !is_refusal(source));
    let line = |source: &SourceFacts| {
        let since = ago::since(source.failing_since?);
        let text = format!(
            "  {}: its source fails for {since}, and the list before stays: {}",
            set.set,
            why(source)
        );
        let text = wrap(&text, 4, width);
        Some(format!("  {}\n", paint.warning(text.trim())))
    };
    sources.filter_map(line).collect()
}

/// Sources that gave nothing yet, and why.
fn never_read(set: &SetFacts, paint: Paint, width: usize) -> Vec<String> {
    let never = set.sources.iter().filter(|source| source.never_read);
    let line = |source: &SourceFacts| {
        let text = format!("  {}: never read: {}", set.set, why(source));
        format!("  {}\n", paint.warning(wrap(&text, 4, width).trim()))
    };
    never.map(line).collect()
}

fn why(source: &SourceFacts) -> String {
    let error = source.error.as_deref().unwrap_or("it is being read");
    match source.next_try_at.map(until) {
        Some(next) if source.error.is_some() => format!("{error} (next try {next})"),
        _ => error.to_owned(),
    }
}

/// How a source fares, in a line.
fn fares(source: &SourceFacts) -> String {
    let state = match source {
        source if source.never_read => "never read",
        source if source.from_copy => "its last good copy is in use",
        source if source.error.is_some() => "an older list is in use",
        _ => "as read",
    };
    let failing = source
        .failing_since
        .map(|at| format!(" for {}", ago::since(at)));
    let state = state.to_owned() + &failing.unwrap_or_default();
    let confirmed = source.confirmed_at.map(ago);
    let confirmed = confirmed.map_or_else(String::new, |at| format!(", current {at}"));
    let error = match source.error {
        Some(_) => format!("; {}", why(source)),
        None => String::new(),
    };
    let unwatched = source.unwatched.as_ref();
    let polled = unwatched.map_or_else(String::new, |why| format!("; polled, not watched: {why}"));
    format!("{}: {state}{confirmed}{error}{polled}", source.kind)
}

/// `block`, and a mark where that is not all.
fn action_of(set: &SetFacts) -> String {
    let more = if set.actions.is_empty() { "" } else { " *" };
    format!("{}{more}", set.action.name())
}

/// Whether a set counts, or did, so that what it would drop is a figure of it.
pub(crate) fn counts(hits: &SetHits) -> bool {
    hits.action == Action::Count || hits.would_drop != 0
}

fn refusal(set: &SetFacts, paint: Paint, width: usize) -> Option<String> {
    let why = set.refused.as_ref()?;
    let head = format!("  {}: the last load was refused: ", set.set);
    let text = wrap(&format!("{head}{why}"), 4, width);
    Some(paint.warning(text.trim_end().trim_start()) + "\n").map(|line| format!("  {line}"))
}

/// What a hit does, and where it does something else.
fn actions(set: &SetFacts, fact: &mut impl FnMut(&str, String)) {
    let live = set.configured.map(|configured| {
        format!(
            " (changed live; the configuration has {})",
            configured.name()
        )
    });
    fact(
        "action",
        set.action.name().to_owned() + &live.unwrap_or_default(),
    );
    for at in &set.actions {
        let side = match at.side {
            Side::Source => "source",
            Side::Destination => "destination",
        };
        let does = at.action.map_or("nothing", Action::name);
        fact(
            "",
            format!("{does} for a {side} that enters by {}", at.port),
        );
    }
    if let Some(headers) = &set.headers {
        fact("match", format!("{headers} headers of tunnelled packets"));
    }
}

/// What hit a set, and what it would drop.
fn hits(set: &SetFacts, fact: &mut impl FnMut(&str, String)) {
    if let Some(hits) = &set.hits {
        fact("hits src", count(hits.source));
        fact("hits dst", count(hits.destination));
        if counts(hits) {
            let frames = count(hits.would_drop);
            fact("would drop", format!("{frames}, each frame counted once"));
        }
    }
}

fn shown(set: &SetFacts, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut fact = |name: &str, value: String| table.row([name.to_owned(), value]);
    actions(set, &mut fact);
    let dynamic = match set.dynamic {
        0 => String::new(),
        dynamic => format!(
            ", {} of them added one by one, {} with a timeout",
            count(dynamic),
            count(set.timed)
        ),
    };
    fact("entries", count(set.entries) + &dynamic);
    hits(set, &mut fact);
    fact(
        "source",
        source_of(set).unwrap_or_else(|| "none: changed by hand".to_owned()),
    );
    for source in &set.sources {
        fact("", fares(source));
    }
    fact(
        "loaded",
        set.loaded_at.map_or_else(|| "never".to_owned(), ago),
    );
    fact(
        "changed",
        set.changed_at
            .map_or_else(|| "not since the start".to_owned(), ago),
    );
    if set.refusals != 0 {
        let last = set
            .refused
            .as_deref()
            .unwrap_or("the last one was accepted");
        fact(
            "refused",
            format!("{}: {last}", plural(set.refusals, "load", "loads")),
        );
    }
    format!("{}\n{}", paint.bold(&set.set), table.render(paint, width))
}
