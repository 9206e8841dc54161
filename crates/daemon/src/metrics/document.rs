//! The families as a table of a document, so that the page of metrics is what the program says.

use super::family::Family;

/// A Markdown table of these families.
#[must_use]
pub fn markdown(families: &[Family]) -> String {
    let head = "| metric | kind | labels | what |\n| --- | --- | --- | --- |\n";
    families
        .iter()
        .fold(head.to_owned(), |text, family| text + &row(family))
}

fn row(family: &Family) -> String {
    let labels: Vec<String> = family
        .labels
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    format!(
        "| `{}` | {} | {} | {} |\n",
        family.name,
        family.kind.name(),
        labels.join(", "),
        family.help
    )
}
