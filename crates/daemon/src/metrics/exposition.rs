//! The text format 0.0.4 as bytes: HELP and TYPE lines, labels, escapes, numbers.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::{Display, Write};

use super::family::Family;

/// A page of metrics in the making. Families must come whole, one after the other.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
}

/// Samples of one family; its head is written with the first, so that a family without samples
/// leaves no trace.
#[derive(Debug)]
pub struct Samples<'a> {
    text: &'a mut String,
    family: Family,
    begun: bool,
}

impl Exposition {
    /// An empty page.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The page.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    /// Begins a family. Each has its place once.
    pub fn family(&mut self, family: Family) -> Samples<'_> {
        Samples {
            text: &mut self.text,
            family,
            begun: false,
        }
    }
}

impl Samples<'_> {
    /// One sample with a value for each label of the family, in their order.
    pub fn add(&mut self, labels: &[&str], value: impl Number) -> &mut Self {
        self.sample("", labels, None, value)
    }

    /// Cumulative counts of a histogram: pairs of an upper bound and what is in that bucket alone.
    /// `of` is how many there are in all, and their sum.
    pub fn histogram(
        &mut self,
        labels: &[&str],
        buckets: &[(impl Display, u64)],
        of: (u64, impl Number),
    ) {
        let (count, sum) = of;
        let mut below = 0;
        for (bound, inside) in buckets {
            below += inside;
            self.sample(
                "_bucket",
                labels,
                Some(&bound.to_string()),
                below.min(count),
            );
        }
        self.sample("_bucket", labels, Some("+Inf"), count);
        self.sample("_sum", labels, None, sum);
        self.sample("_count", labels, None, count);
    }

    fn sample(
        &mut self,
        suffix: &str,
        labels: &[&str],
        bound: Option<&str>,
        value: impl Number,
    ) -> &mut Self {
        debug_assert_eq!(
            labels.len(),
            self.family.labels.len(),
            "{}",
            self.family.name
        );
        self.begin();
        self.text.push_str(self.family.name);
        self.text.push_str(suffix);
        let own = self
            .family
            .labels
            .iter()
            .copied()
            .zip(labels.iter().copied());
        let mut separator = '{';
        for (name, label) in own.chain(bound.map(|bound| ("le", bound))) {
            self.text.push(separator);
            self.text.push_str(name);
            self.text.push_str("=\"");
            escape(self.text, label, true);
            self.text.push('"');
            separator = ',';
        }
        if separator == ',' {
            self.text.push('}');
        }
        self.text.push(' ');
        value.write(self.text);
        self.text.push('\n');
        self
    }

    fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let Family {
            name, kind, help, ..
        } = self.family;
        self.text.push_str("# HELP ");
        self.text.push_str(name);
        self.text.push(' ');
        escape(self.text, help, false);
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "\n# TYPE {name} {}", kind.name());
    }
}

/// Backslash and line feed are escaped everywhere, double quotes in values of labels.
fn escape(text: &mut String, value: &str, quotes: bool) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '"' if quotes => text.push_str("\\\""),
            other => text.push(other),
        }
    }
}

/// A value of a sample.
pub trait Number {
    /// Writes it as the format wants it.
    fn write(self, text: &mut String);
}

impl Number for u64 {
    fn write(self, text: &mut String) {
        let _ = write!(text, "{self}");
    }
}

impl Number for bool {
    fn write(self, text: &mut String) {
        text.push(if self { '1' } else { '0' });
    }
}

impl Number for f64 {
    fn write(self, text: &mut String) {
        let _ = match self {
            value if value.is_nan() => write!(text, "NaN"),
            value if value.is_infinite() => {
                write!(text, "{}Inf", if value > 0.0 { '+' } else { '-' })
            }
            value => write!(text, "{value}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::Kind;
    use super::*;

    const FAMILY: Family = Family {
        name: "a_total",
        kind: Kind::Counter,
        labels: &["x"],
        help: "back\\slash\nand line",
    };

    #[test]
    fn labels_and_help_are_escaped() {
        let mut page = Exposition::new();
        page.family(FAMILY)
            .add(&["q\"\\\n"], 3_u64)
            .add(&["ü"], 0.25);
        let text = page.into_text();
        let expected = concat!(
            "# HELP a_total back\\\\slash\\nand line\n",
            "# TYPE a_total counter\n",
            "a_total{x=\"q\\\"\\\\\\n\"} 3\n",
            "a_total{x=\"ü\"} 0.25\n",
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_family_without_samples_leaves_no_trace() {
        let mut page = Exposition::new();
        page.family(FAMILY);
        assert_eq!(page.into_text(), "");
    }

    #[test]
    fn buckets_are_cumulative_and_end_with_all() {
        let family = Family {
            kind: Kind::Histogram,
            name: "h",
            labels: &[],
            help: "h",
        };
        let mut page = Exposition::new();
        page.family(family)
            .histogram(&[], &[(1, 2), (4, 3)], (6, 40));
        let text = page.into_text();
        let samples: Vec<&str> = text.lines().skip(2).collect();
        let expected = [
            "h_bucket{le=\"1\"} 2",
            "h_bucket{le=\"4\"} 5",
            "h_bucket{le=\"+Inf\"} 6",
            "h_sum 40",
            "h_count 6",
        ];
        assert_eq!(samples, expected);
    }

    #[test]
    fn numbers_as_prometheus_writes_them() {
        let mut text = String::new();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.5e9] {
            value.write(&mut text);
            text.push(' ');
        }
        assert_eq!(text, "NaN +Inf -Inf 1500000000 ");
    }
}
