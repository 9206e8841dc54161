//! A frame for people: a table of headers, then what was made of them.

use super::facts::{
    FlowFacts, FrameFacts, HeaderFacts, LeavingFacts, MatchFacts, PlacementFacts, RuleFacts,
};
use super::headers::protocol_name;
use super::source::Unread;
use crate::control::show::routing::hops;
use crate::paint::Paint;
use crate::report::number::plural;
use crate::report::table::{Align, Table, clip, wrap};

/// Entries shown of one address; the rest is counted.
const ENTRIES_SHOWN_MAX: usize = 3;

/// The whole answer, with an empty line behind it.
pub(super) fn render(frame: &FrameFacts, paint: Paint, width: usize) -> String {
    let mut text = paint.bold(&clip(&heading(frame), width));
    text.push('\n');
    let mut headers = Table::new(&[
        ("at", Align::Right),
        ("bytes", Align::Right),
        ("header", Align::Left),
        ("", Align::Left),
    ]);
    for header in &frame.headers {
        headers.row([
            header.offset.to_string(),
            header.bytes.to_string(),
            header.name.clone(),
            header.text.clone(),
        ]);
    }
    text += &headers.render(paint, width);
    text.push('\n');
    let mut facts = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for note in &frame.notes {
        facts.row(["note".to_owned(), note.clone()]);
    }
    placement(&frame.placement, frame.addresses_cut, &mut facts);
    sets(frame, &mut facts);
    rules(frame, &mut facts);
    if let Some(found) = &frame.route {
        let (prefix, kind) = (&found.prefix, &found.kind);
        let text = format!("{kind} {prefix} {}", hops(found));
        facts.row(["route".to_owned(), text.trim_end().to_owned()]);
    }
    facts.row(["verdict".to_owned(), verdict(frame)]);
    for leaving in frame.leaves.iter().flatten() {
        facts.row([format!("leaves by {}", leaving.port), leaves(leaving)]);
    }
    text += &painted(&facts.render(paint, width), frame, paint);
    text.push('\n');
    text
}

/// A record that cannot be explained, with an empty line behind it.
pub(super) fn render_unread(record: &Unread, paint: Paint, width: usize) -> String {
    let name = paint.bold(&clip(&format!("{}: not read", record.name), width));
    let reason = wrap(&format!("It {}.", record.reason), 2, width);
    format!("{name}\n{reason}\n")
}

fn heading(frame: &FrameFacts) -> String {
    let bytes = plural(frame.bytes as u64, "byte", "bytes");
    match frame.original_len > frame.bytes {
        true => format!("{}: {bytes} of {}", frame.name, frame.original_len),
        false => format!("{}: {bytes}", frame.name),
    }
}

fn placement(placed: &PlacementFacts, addresses_cut: bool, facts: &mut Table) {
    let mut fact = |name: &str, value: String| facts.row([name.to_owned(), value]);
    let of = |number: usize, many: usize| format!("{number} (of 0 to {})", many - 1);
    let (Some(header), Some(flow), Some(hash), Some(bucket)) =
        (placed.header, &placed.flow, placed.hash, placed.bucket)
    else {
        let why = match addresses_cut {
            true => "no address, since the capture cut it: it is the first worker's here",
            false => "no address: it is the first worker's",
        };
        return fact("placed by", why.to_owned());
    };
    fact("placed by", format!("{header} header, {}", hashed(flow)));
    fact("hash", format!("0x{hash:08x} (Toeplitz, symmetric key)"));
    fact("bucket", of(usize::from(bucket), placed.buckets));
    fact(
        "worker",
        of(usize::from(placed.worker), usize::from(placed.workers)),
    );
}

fn hashed(flow: &FlowFacts) -> String {
    let FlowFacts { src, dst, .. } = flow;
    let protocol = protocol_name(flow.protocol);
    match flow.spi {
        Some(spi) => format!("{src} > {dst}, SPI 0x{spi:08x} ({protocol})"),
        None if (flow.src_port, flow.dst_port) == (0, 0) => {
            format!("{src} > {dst}, no ports ({protocol})")
        }
        None => format!(
            "{src} > {dst}, ports {} > {} ({protocol})",
            flow.src_port, flow.dst_port
        ),
    }
}

fn sets(frame: &FrameFacts, facts: &mut Table) {
    if frame.addresses_cut && frame.sets != 0 {
        let unknown = match frame.matches.is_empty() {
            true => "not known: the capture cut the frame within its addresses",
            false => "known in part: the capture cut the frame within its addresses",
        };
        facts.row(["sets".to_owned(), unknown.to_owned()]);
    } else if frame.matches.is_empty() {
        let none = match frame.sets {
            0 => "none were given".to_owned(),
            1 => "no address is in the set".to_owned(),
            count => format!(
                "no address is in any of {}",
                plural(count as u64, "set", "sets")
            ),
        };
        facts.row(["sets".to_owned(), none]);
    }
    for found in &frame.matches {
        facts.row([format!("{} {}", found.header, found.side), matched(found)]);
        for entry in found.entries.iter().take(ENTRIES_SHOWN_MAX) {
            let text = match entry.line {
                Some(line) => format!("  {}:{line}: {}", entry.source, entry.text),
                None => format!("  {}", entry.source),
            };
            facts.row([String::new(), text]);
        }
        let shown = found.entries.len().min(ENTRIES_SHOWN_MAX) as u64;
        if found.count > shown {
            let more = plural(found.count - shown, "more entry", "more entries");
            facts.row([String::new(), format!("  and {more}")]);
        }
    }
}

fn rules(frame: &FrameFacts, facts: &mut Table) {
    let Some(rules) = &frame.rules else {
        return;
    };
    let shown = |rule: &RuleFacts| format!("{}, line {}: {}", rule.number, rule.line, rule.rule);
    for rule in &rules.passed {
        facts.row(["rule".to_owned(), format!("{} (goes on)", shown(rule))]);
    }
    let decided = rules.decided.iter().map(shown);
    let policy = rules
        .policy
        .iter()
        .map(|word| format!("no rule: policy {word}"));
    for text in decided.chain(policy) {
        facts.row(["rule".to_owned(), text]);
    }
}

fn matched(found: &MatchFacts) -> String {
    let MatchFacts {
        set,
        action,
        address,
        ..
    } = found;
    format!("{address} is in set {set} ({action})")
}

/// Its headers in one line.
fn leaves(leaving: &LeavingFacts) -> String {
    let shown = |header: &HeaderFacts| match header.text.is_empty() {
        true => header.name.clone(),
        false => format!("{} {}", header.name, header.text),
    };
    let headers: Vec<String> = leaving.headers.iter().map(shown).collect();
    let bytes = plural(leaving.bytes as u64, "byte", "bytes");
    format!("{}, {bytes}: {}", leaving.what, headers.join("; "))
}

fn verdict(frame: &FrameFacts) -> String {
    match (frame.reason, frame.sentence) {
        _ if frame.verdict == "hold" => {
            "hold: it waits until the Ethernet address of its next hop is known".to_owned()
        }
        _ if frame.verdict == "consume" => {
            "consume: it ends here, since it was for the router".to_owned()
        }
        (Some(reason), Some(sentence)) => format!("drop, {reason}: {sentence}"),
        _ => match (frame.rule, frame.rule_sentence) {
            (Some(rule), Some(sentence)) => {
                format!("{}, by rule {rule} (--pass): {sentence}", frame.verdict)
            }
            _ => frame.verdict.to_owned(),
        },
    }
}

/// The facts with the verdict in its colour.
fn painted(facts: &str, frame: &FrameFacts, paint: Paint) -> String {
    let (before, verdict) = facts.split_at(facts.rfind("  verdict ").unwrap_or(0));
    let word = match frame.reason {
        Some(_) => paint.bad(frame.verdict),
        None => paint.good(frame.verdict),
    };
    before.to_owned() + &verdict.replacen(frame.verdict, &word, 1)
}
