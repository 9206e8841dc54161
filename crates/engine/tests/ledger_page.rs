//! The page of the ledger says what the code says: every column and every name, in its words.

use std::fmt::Write;

use engine::{Cause, Column};

const PAGE: &str = include_str!("../../../docs/ledger.md");

/// The first letter large and a full stop behind, as in a table of the documentation.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    format!("{}{}.", first.collect::<String>(), letters.as_str())
}

fn columns() -> String {
    let mut table =
        String::from("| in JSON | in the table | what is counted |\n| --- | --- | --- |\n");
    for column in Column::ALL {
        let said = sentence(column.sentence());
        let _infallible = writeln!(
            table,
            "| `{}` | {} | {said} |",
            column.name(),
            column.title()
        );
    }
    table
}

fn names() -> String {
    let mut table = String::from("| name | the frame | what helps |\n| --- | --- | --- |\n");
    for cause in Cause::all().filter(|cause| !matches!(cause, Cause::Drop(_))) {
        let (said, helps) = (sentence(cause.sentence()), sentence(cause.remedy()));
        let _infallible = writeln!(table, "| `{}` | {said} | {helps} |", cause.name());
    }
    table
}

#[test]
fn the_page_has_all_columns_and_names_in_the_words_of_the_code() {
    for table in [columns(), names()] {
        assert!(
            PAGE.contains(&table),
            "docs/ledger.md should have:\n{table}"
        );
    }
}
