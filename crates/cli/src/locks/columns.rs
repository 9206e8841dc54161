//! The order of rows.

use std::cmp::Reverse;

use lab::contention::Row;

use crate::args::LockColumn;

/// The largest first, names by the alphabet; rows that are equal in it by their names.
pub(super) fn sort(rows: &mut [Row], column: LockColumn) {
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    match column {
        LockColumn::WaitTotal => rows.sort_by_key(|row| Reverse(row.total_ns)),
        LockColumn::WaitMax => rows.sort_by_key(|row| Reverse(row.longest_ns)),
        LockColumn::WaitAvg => rows.sort_by_key(|row| Reverse(average_ns(row))),
        LockColumn::CntLock => rows.sort_by_key(|row| Reverse(row.waits)),
        LockColumn::Name => {}
    }
}

/// Of a wait.
pub(super) fn average_ns(row: &Row) -> u64 {
    row.total_ns / row.waits.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::contention::Source;

    #[test]
    fn rows_are_sorted_by_the_column_that_is_asked_for() {
        let row = |name: &str, waits, total_ns, longest_ns| Row {
            source: Source::Kernel,
            name: name.to_owned(),
            waits,
            total_ns,
            longest_ns,
            timed_out: 0,
        };
        let mut rows = vec![row("c", 1, 10, 10), row("b", 9, 30, 5), row("a", 9, 20, 9)];
        for (column, expected) in [
            (LockColumn::WaitTotal, "bac"),
            (LockColumn::WaitMax, "cab"),
            (LockColumn::WaitAvg, "cba"),
            (LockColumn::CntLock, "abc"),
            (LockColumn::Name, "abc"),
        ] {
            sort(&mut rows, column);
            let names: String = rows.iter().map(|row| row.name.as_str()).collect();
            assert_eq!(names, expected, "{column:?}");
        }
    }
}
