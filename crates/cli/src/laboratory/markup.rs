//! Text with tags, HTML and SVG alike: every text and every attribute is escaped on its way in,
//! and what is opened is closed.

use std::fmt::{self, Display, Write};

/// Names and values of a tag.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// A document as it grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Markup(String);

impl Markup {
    /// A tag and what `fill` puts into it.
    pub(super) fn inside(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        fill: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes, "");
        fill(self);
        self.plain(format_args!("</{tag}>"));
    }

    /// A tag with a text in it.
    pub(super) fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.inside(tag, attributes, |inner| inner.text(text));
    }

    /// A tag that holds nothing.
    pub(super) fn empty(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes, "/");
    }

    /// Text, escaped.
    pub(super) fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // Control characters are no text in HTML.
                c if c.is_control() && c != '\n' => self.0.push('\u{FFFD}'),
                c => self.0.push(c),
            }
        }
    }

    /// What the program itself wrote: style sheets, the document type.
    pub(super) fn own(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn open(&mut self, tag: &'static str, attributes: Attributes<'_>, end: &'static str) {
        self.plain(format_args!("<{tag}"));
        for (name, value) in attributes {
            self.plain(format_args!(" {name}=\""));
            self.text(&value.to_string());
            self.0.push('"');
        }
        self.plain(format_args!("{end}>"));
    }

    fn plain(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.0.write_fmt(text);
    }
}

/// A coordinate with one digit after the point: more cannot be seen and makes pages large.
pub(super) fn px(place: f64) -> f64 {
    (place * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes_escaping() {
        let mut page = Markup::default();
        let hostile = "<b a=\"'&\u{1b}";
        page.inside("p", &[("title", &hostile), ("x", &1.5)], |page| {
            page.text(hostile);
            page.empty("br", &[]);
            page.leaf("i", &[], "a");
        });
        let text = "&lt;b a=&quot;&#39;&amp;\u{FFFD}";
        let expect = format!("<p title=\"{text}\" x=\"1.5\">{text}<br/><i>a</i></p>");
        assert_eq!(page.finish(), expect);
        assert_eq!((px(1.26), px(-0.04)), (1.3, 0.0));
    }
}
