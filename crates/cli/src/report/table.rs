//! Aligned columns of text.

use crate::paint::Paint;

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with a heading line; cells are plain text and widths count characters.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns; an empty heading is allowed.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns
            .iter()
            .map(|&(name, align)| (name.to_owned(), align))
            .collect();
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty and superfluous ones ignored.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Adds a row of as many cells as there happen to be.
    pub(crate) fn push(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as lines, indented by two, each at most `width` wide. Words of a last column that
    /// is aligned left go on in the next line; whatever else is too long is cut.
    pub(crate) fn render(&self, paint: Paint, width: usize) -> String {
        let widths = self.widths();
        let heading: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut text = String::new();
        if heading.iter().any(|name| !name.is_empty()) {
            let line = clip(&self.line(&heading, &widths), width);
            text += &paint.dim(&line);
            text.push('\n');
        }
        for row in &self.rows {
            let line = self.line(row, &widths);
            match self.wrapped(row, &line, &widths, width) {
                Some(lines) => text += &lines,
                None => text += &format!("{}\n", clip(&line, width)),
            }
        }
        text
    }

    /// A line that is too long with the words of its last cell one below the other, if it is one
    /// of words and there is room for them.
    fn wrapped(
        &self,
        row: &[String],
        line: &str,
        widths: &[usize],
        width: usize,
    ) -> Option<String> {
        const ROOM_MIN: usize = 24;
        let last = self.columns.len().checked_sub(1)?;
        let start = 2 + widths[..last].iter().map(|width| width + 2).sum::<usize>();
        let words = row.get(last).filter(|cell| cell.contains(' '))?;
        let fits = line.chars().count() <= width || start + ROOM_MIN > width;
        if fits || self.columns[last].1 == Align::Right {
            return None;
        }
        let head: String = line.chars().take(start).collect();
        Some(wrap(words, start, width).replacen(&" ".repeat(start), &head, 1))
    }

    /// How wide its lines are at most.
    pub(crate) fn width(&self) -> usize {
        self.widths().iter().map(|width| width + 2).sum()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |(place, (name, _)): (usize, &(String, Align))| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            cells
                .chain([name])
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::from(" ");
        for ((cell, &width), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            line += match align {
                Align::Left => format!(" {cell:<width$} "),
                Align::Right => format!(" {cell:>width$} "),
            }
            .as_str();
        }
        line.trim_end().to_owned()
    }
}

/// The line, cut to `width` characters and then marked by an ellipsis.
pub(crate) fn clip(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Words in lines of at most `width` characters, each line indented by `indent` spaces.
pub(crate) fn wrap(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
        .iter()
        .map(|line| format!("{:indent$}{line}\n", ""))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[("name", Align::Left), ("n", Align::Right)]);
        table.row(["a".to_owned(), "1,000".to_owned()]);
        table.row(["longer".to_owned(), "7".to_owned()]);
        let expect = "  name        n\n  a       1,000\n  longer      7\n";
        assert_eq!(table.render(Paint::off(), 80), expect);
    }

    #[test]
    fn the_words_of_a_last_column_go_on_below() {
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
        table.row(["name".to_owned(), "one two three four five six".to_owned()]);
        let expect = "  name  one two three four five\n        six\n";
        assert_eq!(table.render(Paint::off(), 32), expect);
        assert_eq!(
            table.render(Paint::off(), 20),
            "  name  one two thr…\n",
            "no room for words"
        );
    }

    #[test]
    fn long_lines_are_cut_and_words_wrapped() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(
            wrap("one two three four five six", 2, 24),
            "  one two three four\n  five six\n"
        );
    }
}
