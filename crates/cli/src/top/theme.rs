//! How things look, with colours and without.

use ratatui::style::{Color, Modifier, Style};

/// Colours for structure only; without them weight and reversal do the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    colours: bool,
}

impl Theme {
    pub(super) const fn new(colours: bool) -> Self {
        Self { colours }
    }

    pub(super) fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The heading of the table that keys scroll.
    pub(super) fn chosen(self) -> Style {
        self.heading().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn good(self) -> Style {
        self.coloured(Color::Green, Modifier::empty())
    }

    pub(super) fn warning(self) -> Style {
        self.coloured(Color::Yellow, Modifier::BOLD)
    }

    pub(super) fn bad(self) -> Style {
        self.coloured(Color::Red, Modifier::BOLD)
    }

    pub(super) fn line(self) -> Style {
        self.coloured(Color::Cyan, Modifier::empty())
    }

    fn coloured(self, colour: Color, weight: Modifier) -> Style {
        let style = Style::new().add_modifier(weight);
        if self.colours {
            style.fg(colour)
        } else {
            style
        }
    }
}
