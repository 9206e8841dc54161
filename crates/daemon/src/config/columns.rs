//! `column` and `columns` of a `[[set]]`: which columns of its list hold the entries.

use list::{Column, Columns};
use toml::de::DeValue;

use super::error::{ConfigError, Wrong};
use super::resolved::Writer;
use super::section::Section;

const WANTED: &str = "column = 2, column = \"src_ip\", columns = \"1-2\" (a range), \"1/2\" (an \
                      address and its length or netmask) or \"all\"";

pub(super) fn read(section: &Section<'_>) -> Result<Option<Columns>, ConfigError> {
    let wrong = |what| Wrong::new(what, format!("write {WANTED}"));
    let is_text = |value: &toml::Spanned<DeValue<'_>>| value.get_ref().is_str();
    let column = match section.any("column") {
        Some(value) if is_text(value) => section.parsed("column", WANTED, |text| {
            text.parse::<Column>().map_err(wrong)
        })?,
        _ => section.number("column", 1..=4096)?.map(Column::Number),
    };
    let columns = section.parsed("columns", WANTED, |text| {
        text.parse::<Columns>().map_err(wrong)
    })?;
    match (column, columns) {
        (Some(_), Some(_)) => {
            let wrong = Wrong::new("column and columns are both given", "remove one of them");
            Err(section.error_at("columns", wrong))
        }
        (column, columns) => Ok(columns.or(column.map(Columns::One))),
    }
}

pub(super) fn write(columns: &Columns, out: &mut Writer) {
    match columns {
        Columns::One(Column::Number(number)) => out.raw("column", number),
        Columns::One(Column::Named(heading)) => out.text("column", heading),
        columns => out.text("columns", &columns.to_string()),
    }
}
