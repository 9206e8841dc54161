//! What an investigation found, a sentence each.

use lab::Ratio;
use lab::layout::{Blame, Block, Cause, Compared, Moved, Report};

use crate::report::number::{bytes, count};

/// Kinds of blocks that are named one by one.
const NAMED_MAX: usize = 8;

/// The answer first, then blocks, cause and remedy.
pub(super) fn findings(report: &Report) -> Vec<String> {
    let mut sentences = vec![answer(report)];
    if let Some(blame) = &report.blame {
        sentences.extend(of_blame(report, blame));
    }
    sentences.extend(stack(report));
    sentences.extend(report.notes.iter().cloned());
    sentences
}

/// Whether layout decides how fast the program is.
pub(super) fn is_neutral(report: &Report) -> bool {
    !report.compared.iter().any(|compared| compared.differs)
}

fn answer(report: &Report) -> String {
    let visible = report.visible * 100.0;
    if report.compared.is_empty() {
        return "nothing could be moved: there is no answer".to_owned();
    }
    if is_neutral(report) {
        return format!(
            "layout makes no difference on this machine: {visible:.1} % would have been seen"
        );
    }
    let differing = report.compared.iter().filter(|compared| compared.differs);
    let speeds = || differing.clone().map(|compared| compared.speed.median);
    let (best, worst) = (speeds().fold(1.0, f64::max), speeds().fold(1.0, f64::min));
    let mut sentence = format!(
        "layout decides how fast this program is: the best layout is {:.2} times as fast as the \
         worst",
        best / worst
    );
    sentence += match (best > 1.0, worst < 1.0) {
        (true, true) => ", and the default lies between",
        (true, false) => ", which is the default",
        _ => ", and the default is the best",
    };
    sentence
}

fn of_blame(report: &Report, blame: &Blame) -> Vec<String> {
    let faster = blame.compared.speed.median > 1.0;
    // More than all is all: the rest is noise.
    let share = blame.explained.min(1.0) * 100.0;
    let makes = if faster { "gain" } else { "loss" };
    let mut sentences = vec![format!(
        "moving {} alone makes {share:.0} % of the {makes}",
        named(report, &blame.blocks)
    )];
    if !blame.partners.is_empty() {
        sentences.push(format!(
            "moving {} along undoes it: what counts is where these lie to each other",
            named(report, &blame.partners)
        ));
    }
    sentences.push(format!("why: {}", why(blame)));
    sentences.extend(remedy(blame));
    sentences
}

/// `block 11 (256.0 KiB, allocate (two_streams.c:12))`; those that are alike together.
fn named(report: &Report, orders: &[usize]) -> String {
    let mut groups: Vec<(Option<&Block>, Vec<usize>)> = Vec::new();
    for &order in orders {
        let block = report.blocks.get(order);
        let alike = |first: &Block| block.is_some_and(|block| block.is_like(first));
        match groups
            .iter_mut()
            .find(|(first, _)| first.is_some_and(alike))
        {
            Some((_, members)) => members.push(order),
            None => groups.push((block, vec![order])),
        }
    }
    let mut names: Vec<String> = groups.iter().take(NAMED_MAX).map(group_name).collect();
    let unnamed: usize = groups
        .iter()
        .skip(NAMED_MAX)
        .map(|(_, orders)| orders.len())
        .sum();
    if unnamed > 0 {
        names.push(format!("{} more", count(unnamed as u64)));
    }
    list(&names)
}

fn group_name((first, orders): &(Option<&Block>, Vec<usize>)) -> String {
    let noun = if orders.len() == 1 { "block" } else { "blocks" };
    let numbers = list(&ranges(orders));
    let about = first.map_or_else(String::new, |block| {
        let each = if orders.len() == 1 { "" } else { " each" };
        let site = block
            .site()
            .map_or_else(String::new, |site| format!(", {site}"));
        format!(" ({}{each}{site})", bytes(block.size))
    });
    format!("{noun} {numbers}{about}")
}

/// `1 to 8` for numbers that follow each other.
fn ranges(orders: &[usize]) -> Vec<String> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &order in orders {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == order => *last = order,
            _ => runs.push((order, order)),
        }
    }
    let text = |&(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    runs.iter().map(text).collect()
}

/// `a, b and c`.
fn list(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

fn why(blame: &Blame) -> String {
    match blame.cause {
        Cause::FirstSet { blocks, ways } => format!(
            "{blocks} blocks begin in the same set of the L1 cache, which holds {ways} lines: they \
             put each other out"
        ),
        Cause::Alias => {
            "they begin a multiple of 4 KiB apart: loads of one are taken for loads of \
                         what was just stored to the other (4 KiB aliasing)"
                .to_owned()
        }
        Cause::SecondSet { blocks, ways } => format!(
            "{blocks} blocks begin in the same set of the L2 cache, which holds {ways} lines, as \
             far as its sets go by these addresses (in huge pages they do)"
        ),
        Cause::NotByAddresses => "not explained by addresses: the beginnings of the blocks are in \
                                  different sets and no multiple of 4 KiB apart, or their partner \
                                  is no block"
            .to_owned(),
    }
}

fn remedy(blame: &Blame) -> Option<String> {
    let Some(remedy) = &blame.remedy else {
        let faster = blame.compared.speed.median > 1.0;
        let sentence = "nothing is to be done now: keep the blocks where they are when sizes or \
                        the allocator change";
        return (!faster).then(|| sentence.to_owned());
    };
    let what = match remedy.apart_bytes {
        Some(apart) => format!(
            "place these blocks {apart} bytes further (allocate {apart} bytes more and begin so \
             much later, or choose another alignment)"
        ),
        None => "place each of these blocks a different number of lines further, as an allocator \
                 with offsets does"
            .to_owned(),
    };
    let speed = times(&remedy.speed);
    Some(match remedy.works {
        true => format!("what to do: {what}; tried, it is {speed} times as fast"),
        false => format!(
            "what would be expected to help does not: {what}; tried, it is {speed} times as fast"
        ),
    })
}

fn stack(report: &Report) -> Option<String> {
    let of_stack = |compared: &&Compared| matches!(compared.moved, Moved::Stack(_));
    let differing = report.compared.iter().filter(of_stack);
    differing.clone().find(|compared| compared.differs)?;
    Some(
        "the size of the environment decides, since it moves the stack: align what is hot on the \
         stack (alignas(64)), or keep it elsewhere; until then compare programs only under the \
         same environment"
            .to_owned(),
    )
}

/// `1.50 [1.48 to 1.52]`.
pub(super) fn times(ratio: &Ratio) -> String {
    format!(
        "{:.2} [{:.2} to {:.2}]",
        ratio.median, ratio.low, ratio.high
    )
}

#[cfg(test)]
mod tests;
