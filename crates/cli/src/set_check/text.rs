//! The check for people: a block a file, then what matches.

use super::{AddressTest, Check, FileFacts};
use crate::load::WARNINGS_SHOWN_MAX;
use crate::paint::Paint;
use crate::report::number::{brief, bytes, count, plural, seconds};
use crate::report::table::{Align, Table, clip};

/// Matches shown of one address; the rest is counted.
const MATCHES_SHOWN_MAX: usize = 20;

/// The whole answer.
pub(super) fn render(check: &Check, paint: Paint, width: usize) -> String {
    let files = check
        .files
        .iter()
        .map(|file| render_file(file, paint, width));
    let tests = check
        .tests
        .iter()
        .map(|test| render_test(test, paint, width));
    files.chain(tests).collect::<Vec<_>>().join("\n")
}

fn render_file(file: &FileFacts, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut fact = |name: &str, value: String| table.row([name.to_owned(), value]);
    let gzip = if file.gzip { ", gzip" } else { "" };
    fact(
        "format",
        format!(
            "{}{gzip}, {}",
            file.format,
            plural(file.lines, "line", "lines")
        ),
    );
    fact("entries", entries(file));
    fact("merged", merged(file));
    for (place, covered) in covers(file).into_iter().enumerate() {
        fact(if place == 0 { "covers" } else { "" }, covered);
    }
    fact("memory", format!("{} once loaded", bytes(file.bytes)));
    fact("loading", loading(file));
    let heading = paint.bold(&clip(&file.file, width));
    let mut text = format!("{heading}\n{}", table.render(paint, width));
    text += &section(
        &format!(
            "  {}",
            paint.bad(&plural(file.bad_lines, "bad line", "bad lines"))
        ),
        &file.bad,
        file.bad_lines,
        file.bad.len(),
    );
    text += &section(
        &format!(
            "  {}",
            paint.warning(&plural(file.warning_count, "warning", "warnings"))
        ),
        &file.warnings,
        file.warning_count,
        WARNINGS_SHOWN_MAX,
    );
    text
}

/// A heading and the first lines under it; nothing when there are none.
fn section(heading: &str, lines: &[String], total: u64, shown_max: usize) -> String {
    if total == 0 {
        return String::new();
    }
    let shown = lines.len().min(shown_max);
    let mut text = format!("{heading}\n");
    for line in &lines[..shown] {
        text += &format!("    {line}\n");
    }
    let more = total.saturating_sub(shown as u64);
    if more != 0 {
        text += &format!("    and {} more\n", count(more));
    }
    text
}

fn entries(file: &FileFacts) -> String {
    let kinds = [
        (file.addresses, "address", "addresses"),
        (file.networks, "network", "networks"),
        (file.ranges, "range", "ranges"),
    ];
    let kinds = kinds.iter().filter(|(number, ..)| *number != 0);
    let kinds: Vec<String> = kinds
        .map(|&(number, one, many)| plural(number, one, many))
        .collect();
    if kinds.is_empty() {
        return "none".to_owned();
    }
    format!("{}: {}", count(file.entries), kinds.join(", "))
}

fn merged(file: &FileFacts) -> String {
    match file.merged {
        0 => "none: no entry is given twice or lies within another".to_owned(),
        merged => format!("{}, given twice or within others", count(merged)),
    }
}

/// What is covered, a family a line.
fn covers(file: &FileFacts) -> Vec<String> {
    let mut parts = Vec::new();
    if file.covered_v4 != 0 {
        let share = percent(file.covered_v4_share);
        let addresses = plural(file.covered_v4, "IPv4 address", "IPv4 addresses");
        parts.push(format!("{addresses} ({share} of all)"));
    }
    if file.covered_v6_count != 0 {
        parts.push(v6(file.covered_v6_count));
    }
    if parts.is_empty() {
        parts.push("nothing".to_owned());
    }
    parts
}

/// Single addresses as they are; more than a /64 holds in units of that, as networks are handed
/// out.
fn v6(addresses: u128) -> String {
    match u64::try_from(addresses) {
        Ok(addresses) => plural(addresses, "IPv6 address", "IPv6 addresses"),
        Err(_) => format!(
            "as many IPv6 addresses as {} /64 networks",
            count((addresses >> 64) as u64)
        ),
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 0.1 => format!("{p:.1} %"),
        p if p >= 0.0001 => format!("{p:.4} %"),
        _ => "< 0.0001 %".to_owned(),
    }
}

fn loading(file: &FileFacts) -> String {
    format!(
        "{} to read ({} lines/s), {} to compile",
        seconds(file.read_seconds),
        brief(file.lines_per_second),
        seconds(file.compile_seconds),
    )
}

fn render_test(test: &AddressTest, paint: Paint, width: usize) -> String {
    let address = paint.bold(&test.address.to_string());
    if test.count == 0 {
        return format!("{address}: no entry matches\n");
    }
    let entries = if test.count == 1 {
        "entry matches"
    } else {
        "entries match"
    };
    let mut text = format!("{address}: {} {entries}\n", count(test.count));
    for found in test.matches.iter().take(MATCHES_SHOWN_MAX) {
        let line = format!("  {}:{}: {}", found.file, found.line, found.text);
        text += &format!("{}\n", clip(&line, width));
    }
    let more = test
        .count
        .saturating_sub(test.matches.len().min(MATCHES_SHOWN_MAX) as u64);
    if more != 0 {
        text += &format!("  and {} more\n", count(more));
    }
    text
}
