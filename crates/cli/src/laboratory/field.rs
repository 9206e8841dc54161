//! A variant's fields as people read them.

use lab::Value;

use crate::report::number::{bytes, count};

/// What an axis over this field is called.
pub(super) fn axis(field: &str) -> String {
    let known = match field {
        "stride" => "distance of two frames, bytes",
        "pool" => "frames in the pool",
        "bytes" => "footprint",
        "entries" => "entries in the set",
        "burst" => "keys a burst",
        "batch" => "frames handled together",
        "distance" => "lines prefetched ahead",
        "lists" => "lists looked up at once",
        "offered" => "offered, frames/s in each direction",
        _ => return field.replace('_', " "),
    };
    known.to_owned()
}

/// A column's heading.
pub(super) fn heading(field: &str) -> String {
    field.replace('_', " ")
}

/// A value in a table: `6,000,000`, `24 MiB`.
pub(super) fn cell(field: &str, value: &Value) -> String {
    match value {
        Value::Number(number) if field == "bytes" => bytes(*number).replace(".0 ", " "),
        Value::Number(number) => count(*number),
        Value::Word(word) => (*word).to_owned(),
    }
}

/// A value beside an axis, where room is scarce: `6M`, `24 MiB`.
pub(super) fn tick(field: &str, value: &Value) -> String {
    match value {
        Value::Number(number) if field == "offered" => rate(*number),
        Value::Number(number) if field != "bytes" => short(*number),
        value => cell(field, value),
    }
}

/// `1.0012M`, `51.74k`: rates are never round, and neighbours differ late.
fn rate(number: u64) -> String {
    let (scaled, prefix) = match number {
        n if n >= 1_000_000 => (n as f64 / 1e6, "M"),
        n if n >= 1_000 => (n as f64 / 1e3, "k"),
        n => (n as f64, ""),
    };
    let text = format!("{scaled:.4}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    format!("{short}{prefix}")
}

/// `6M`, `10k`; whatever would lose digits stays as it is.
fn short(number: u64) -> String {
    match number {
        n if n >= 1_000_000 && n.is_multiple_of(100_000) => {
            format!("{:.1}M", n as f64 / 1e6).replace(".0M", "M")
        }
        1_000..1_000_000 if number.is_multiple_of(1_000) => format!("{}k", number / 1_000),
        n => count(n),
    }
}

/// A series in a legend: `pool 2,048`, `ours`.
pub(super) fn named(field: &str, value: &Value) -> String {
    match value {
        Value::Number(_) if field == "bytes" => cell(field, value),
        Value::Number(_) => format!("{} {}", heading(field), cell(field, value)),
        Value::Word(word) => (*word).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_where_room_is_scarce() {
        for (number, text) in [
            (256u64, "256"),
            (1_000, "1k"),
            (2_048, "2,048"),
            (10_000, "10k"),
            (65_536, "65,536"),
            (524_288, "524,288"),
            (2_500_000, "2.5M"),
            (6_000_000, "6M"),
            (64_000_000, "64M"),
        ] {
            assert_eq!(tick("entries", &number.into()), text);
        }
        for (number, text) in [(1_001_200u64, "1.0012M"), (51_740, "51.74k"), (500, "500")] {
            assert_eq!(tick("offered", &number.into()), text);
        }
        let footprint = Value::Number(24 << 20);
        assert_eq!(tick("bytes", &footprint), "24 MiB");
        assert_eq!(named("bytes", &footprint), "24 MiB");
        assert_eq!(named("pool", &2048u64.into()), "pool 2,048");
        assert_eq!(named("design", &"ours".into()), "ours");
        assert_eq!(heading("a_b"), "a b");
    }
}
