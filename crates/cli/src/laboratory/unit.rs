//! A metric's figures as people read them: `286.1` under `M lookups/s`.

use lab::Row;

use crate::report::number::count;

/// The scale of one metric, the same for all its rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// As a heading or beside an axis.
    pub(super) name: String,
    scale: f64,
}

impl Unit {
    /// For figures up to `largest`.
    pub(super) fn of(metric: &str, largest: f64) -> Self {
        let (scale, name) = if let Some(things) = metric.strip_suffix("_per_second") {
            let (scale, prefix) = match largest {
                n if n >= 1e6 => (1e6, "M "),
                n if n >= 1e4 => (1e3, "k "),
                _ => (1.0, ""),
            };
            (scale, format!("{prefix}{}/s", words(things)))
        } else if let Some(thing) = metric.strip_prefix("ns_per_") {
            let (scale, prefix) = if largest >= 1e5 {
                (1e3, "us")
            } else {
                (1.0, "ns")
            };
            (scale, format!("{prefix} {}", each(thing)))
        } else if let Some(thing) = metric.strip_prefix("bytes_per_") {
            (1.0, format!("bytes {}", each(thing)))
        } else if let Some(share) = metric.strip_suffix("_percent") {
            (1.0, format!("{}, %", words(share)))
        } else if let Some(time) = metric.strip_suffix("_us") {
            (1.0, format!("{}, us", words(time)))
        } else {
            (1.0, words(metric))
        };
        Self { name, scale }
    }

    /// For the rows of one metric.
    pub(super) fn of_rows<'a>(metric: &str, rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let own = rows.into_iter().filter(|row| row.metric == metric);
        let largest = own.map(|row| row.samples.median()).fold(0.0, f64::max);
        Self::of(metric, largest)
    }

    /// About three digits.
    pub(super) fn show(&self, figure: f64) -> String {
        digits(figure / self.scale)
    }
}

/// About three digits of a number.
pub(super) fn digits(number: f64) -> String {
    match number.abs() {
        size if !size.is_finite() => "-".to_owned(),
        size if size >= 999.5 => {
            let sign = if number < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(size.round() as u64))
        }
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 9.995 => format!("{number:.1}"),
        size if size >= 0.0995 || size == 0.0 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}

fn each(thing: &str) -> String {
    let article = if thing.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {}", words(thing))
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_scale_of_their_largest() {
        let rate = Unit::of("lookups_per_second", 286_100_000.0);
        assert_eq!(rate.name, "M lookups/s");
        assert_eq!(rate.show(286_100_000.0), "286");
        assert_eq!(rate.show(23_440_000.0), "23.4");
        assert_eq!(rate.show(313_000.0), "0.31");
        let cost = Unit::of("ns_per_frame", 12.0);
        assert_eq!(
            (cost.name.as_str(), cost.show(12.345).as_str()),
            ("ns a frame", "12.3")
        );
        assert_eq!(Unit::of("frames_per_second", 20_000.0).name, "k frames/s");
        assert_eq!(Unit::of("bytes_per_entry", 4.0).name, "bytes an entry");
        assert_eq!(Unit::of("sets_used", 4.0).name, "sets used");
    }

    #[test]
    fn about_three_digits() {
        let cases = [
            (0.0, "0.00"),
            (0.02, "0.0200"),
            (9.996, "10.0"),
            (99.96, "100"),
        ];
        for (number, text) in cases {
            assert_eq!(digits(number), text);
        }
        assert_eq!(
            (digits(12_345.0), digits(-1e6)),
            ("12,345".to_owned(), "-1,000,000".to_owned())
        );
        assert_eq!(digits(f64::NAN), "-");
    }
}
