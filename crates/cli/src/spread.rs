//! How times are spread: percentiles, in JSON and as rows of a table.

use serde::Serialize;
use traffic::Histogram;

use crate::paint::Paint;
use crate::report::number::seconds;
use crate::report::table::{Align, Table};

/// Percentiles, seconds; null where nothing was measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Spread {
    pub(crate) count: u64,
    pub(crate) min: Option<f64>,
    pub(crate) mean: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) p90: Option<f64>,
    pub(crate) p99: Option<f64>,
    #[serde(rename = "p99.9")]
    pub(crate) p99_9: Option<f64>,
    #[serde(rename = "p99.99")]
    pub(crate) p99_99: Option<f64>,
    #[serde(rename = "p99.999")]
    pub(crate) p99_999: Option<f64>,
    pub(crate) max: Option<f64>,
}

impl Spread {
    pub(crate) fn new(histogram: &Histogram) -> Self {
        let report = histogram.report();
        if report.count == 0 {
            return Self::default();
        }
        let seconds = |nanos: u64| Some(nanos as f64 / 1e9);
        Self {
            count: report.count,
            min: seconds(report.min),
            mean: Some(report.mean / 1e9),
            p50: seconds(report.p50),
            p90: seconds(report.p90),
            p99: seconds(report.p99),
            p99_9: seconds(report.p999),
            p99_99: seconds(histogram.quantile(0.9999)),
            p99_999: seconds(histogram.quantile(0.99999)),
            max: seconds(report.max),
        }
    }
}

/// A table of those that have any times.
pub(crate) fn table(rows: &[(&str, &Spread)], paint: Paint, width: usize) -> String {
    let heads = ["p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max"];
    let mut columns = vec![("time", Align::Left)];
    columns.extend(heads.map(|head| (head, Align::Right)));
    let mut table = Table::new(&columns);
    for (name, spread) in rows.iter().filter(|(_, spread)| spread.count > 0) {
        table.push(cells(name, spread));
    }
    table.render(paint, width)
}

fn cells(name: &str, spread: &Spread) -> Vec<String> {
    let values = [
        spread.p50,
        spread.p90,
        spread.p99,
        spread.p99_9,
        spread.p99_99,
        spread.p99_999,
        spread.max,
    ];
    let values = values.map(|value| value.map_or_else(|| "-".to_owned(), seconds));
    std::iter::once(name.to_owned()).chain(values).collect()
}
