//! The page for people: a block an interface, one for the machine, and what it comes to.

use super::Page;
use super::finding::{Finding, Judgement};
use crate::paint::Paint;
use crate::report::number::plural;
use crate::report::table::{Align, Table, clip, wrap};

/// Wider than this the eye loses the line.
const WIDTH_MAX: usize = 100;

pub(super) fn render(page: &Page, paint: Paint, width: usize) -> String {
    let width = width.min(WIDTH_MAX);
    let mut text = String::new();
    for interface in &page.interfaces {
        let rate = &interface.rate;
        let asked = interface.other_name.as_ref();
        let asked = asked.map_or_else(String::new, |asked| format!(" (asked for as {asked})"));
        let heading = format!(
            "{}{asked}: expect {} ({})",
            interface.name,
            rate.class.name(),
            rate.why
        );
        text += &block(&heading, &interface.findings, paint, width);
    }
    text += &block("this machine", &page.machine, paint, width);
    text + &sum(page, paint)
}

fn block(heading: &str, findings: &[Finding], paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for finding in findings {
        let said = match finding.why.as_str() {
            "" => finding.value.clone(),
            why if finding.judgement == Judgement::Unknown => why.to_owned(),
            why => format!("{}: {why}", finding.value),
        };
        table.row([
            finding.judgement.name().to_owned(),
            finding.what.to_owned(),
            said,
        ]);
    }
    let mut text = paint.bold(&clip(heading, width)) + "\n";
    let mut findings = findings.iter();
    let mut last: Option<&Finding> = None;
    for line in table.render(paint, width).lines() {
        // A line that begins with a judgement is a finding's first.
        if !line.starts_with("   ") {
            text += &remedy(last, width);
            last = findings.next();
        }
        text += &painted(line, last, paint);
    }
    text + &remedy(last, width) + "\n"
}

fn painted(line: &str, finding: Option<&Finding>, paint: Paint) -> String {
    let judgement = finding.map_or(Judgement::Unknown, |finding| finding.judgement);
    let name = judgement.name();
    let colored = match judgement {
        Judgement::Good => paint.good(name),
        Judgement::Unknown => paint.dim(name),
        Judgement::Doubtful => paint.warning(name),
        Judgement::Wrong => paint.bad(name),
    };
    match line.strip_prefix(&format!("  {name}")) {
        Some(rest) => format!("  {colored}{rest}\n"),
        None => format!("{line}\n"),
    }
}

/// The command on a line of its own, so that it can be copied.
fn remedy(finding: Option<&Finding>, width: usize) -> String {
    const INDENT: usize = 12;
    let remedy = finding.and_then(|finding| finding.remedy.as_deref());
    remedy.map_or_else(String::new, |command| {
        wrap(&format!("$ {command}"), INDENT, width)
    })
}

fn sum(page: &Page, paint: Paint) -> String {
    let (wrong, doubtful, unknown) = (page.wrong, page.doubtful, page.unknown);
    let text = format!("{wrong} wrong, {doubtful} doubtful, {unknown} unknown");
    if wrong == 0 {
        return text + "\n";
    }
    let things = plural(wrong as u64, "thing", "things");
    format!(
        "{text}: {}\n",
        paint.bad(&format!("{things} that can change or lose frames"))
    )
}
