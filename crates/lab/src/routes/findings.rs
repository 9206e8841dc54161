//! What follows from the rows of `routes`.

use super::scheme::Scheme;
use crate::contest::{ratio, ratios};
use crate::experiment::Row;
use crate::paired::with_interval;

pub(super) fn sentences(rows: &[Row]) -> Vec<String> {
    let mut sentences = Vec::new();
    for scheme in Scheme::EVERY {
        sentences.extend(surprise(rows, scheme));
    }
    sentences.extend(published(rows));
    sentences.extend(full(rows));
    for stream in ["uniform", "zipf", "from_table"] {
        sentences.extend(lookups(rows, stream));
    }
    sentences.extend(bytes(rows));
    sentences
}

fn of_scheme(row: &Row, scheme: Scheme, routes: u64) -> bool {
    row.is("scheme", scheme.name()) && row.is("routes", routes)
}

/// The row of one flow.
fn one(rows: &[Row], scheme: Scheme, routes: u64) -> Option<&Row> {
    let mut of = rows.iter().filter(|row| of_scheme(row, scheme, routes));
    of.find(|row| row.is("flows", 1_u64))
}

/// The index of the row of many flows on all threads.
pub(super) fn many(rows: &[Row], scheme: Scheme, routes: u64) -> Option<usize> {
    let all = rows.iter().enumerate();
    let of = all.filter(|(_, row)| of_scheme(row, scheme, routes) && !row.is("flows", 1_u64));
    let most = of.max_by_key(|(_, row)| row.number("threads"));
    most.map(|(index, _)| index)
}

/// Many flows against one, by how many routes they have.
fn surprise(rows: &[Row], scheme: Scheme) -> Option<String> {
    let mut parts = Vec::new();
    let mut threads = 1;
    for routes in super::PARTS.map(u64::from) {
        let many = &rows[many(rows, scheme, routes)?];
        threads = many.number("threads")?;
        let times = ratios(many, one(rows, scheme, routes)?);
        parts.push(format!("{routes} route(s) {}", with_interval(&times, 2)));
    }
    Some(format!(
        "{}: many flows on {threads} thread(s) have, times the rate of one flow on one: {}",
        scheme.name(),
        parts.join(", ")
    ))
}

/// The shape of the published figures.
fn published(rows: &[Row]) -> Option<String> {
    let row = |scheme| Some(&rows[many(rows, scheme, 1)?]);
    let base = row(Scheme::None)?;
    let of = |scheme| Some(ratio(row(scheme)?, base));
    let (cache, read_mostly) = (of(Scheme::FlowCache)?, of(Scheme::ReadMostly)?);
    let mutex = of(Scheme::MutexTwice)?;
    Some(format!(
        "published: a flow cache and a read-mostly lock have 0.94 of the rate without a lock; \
         here, many flows by one route on all threads, {cache:.2} and {read_mostly:.2}, and a \
         mutex of the route {mutex:.2}; those rates were of whole packets, these are of lookups"
    ))
}

/// The largest table.
fn full(rows: &[Row]) -> Option<String> {
    let routes = rows.iter().filter_map(|row| row.number("routes")).max()?;
    let row = |scheme| Some(&rows[many(rows, scheme, routes)?]);
    let base = row(Scheme::None)?;
    let mut parts = Vec::new();
    for scheme in Scheme::EVERY.into_iter().skip(1) {
        parts.push(format!(
            "{} {:.2}",
            scheme.name(),
            ratio(row(scheme)?, base)
        ));
    }
    Some(format!(
        "{routes} routes, many flows on all threads, times the rate without a lock: {}",
        parts.join(", ")
    ))
}

/// The row of a design, by its metric and its keys.
fn design<'a>(rows: &'a [Row], design: &'static str, stream: &'static str) -> Option<&'a Row> {
    let mut of = rows.iter().filter(|row| row.is("design", design));
    of.find(|row| row.is("stream", stream))
}

fn lookups(rows: &[Row], stream: &'static str) -> Option<String> {
    let ours = design(rows, "fib", stream)?;
    let plain = design(rows, "dir_24_8", stream)?;
    let bytes = ours.number("bytes")?;
    let mut limits = rows.iter().filter(|row| row.is("design", "limit"));
    let limit = limits.find(|row| row.is("bytes", bytes))?;
    Some(format!(
        "full table, {stream} keys: {:.0} million lookups a second, {} times DIR-24-8, {} of the \
         lines that memory gives for {:.1} MiB",
        ours.samples.median() / 1e6,
        with_interval(&ratios(ours, plain), 2),
        with_interval(&ratios(ours, limit), 2),
        bytes as f64 / f64::from(1 << 20)
    ))
}

fn bytes(rows: &[Row]) -> Option<String> {
    let sizes = rows.iter().filter(|row| row.metric == "bytes_per_prefix");
    let part = |row: &Row| {
        Some(format!(
            "{} IPv{} {:.1} with {} next hops",
            row.value("design")?,
            row.number("family")?,
            row.samples.median(),
            row.number("next_hops")?
        ))
    };
    let parts: Vec<String> = sizes.filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("bytes a prefix: {}", parts.join(", ")))
}
