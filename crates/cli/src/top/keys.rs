//! What keys mean.

use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Leave,
    Pause,
    Sort,
    Help,
    /// Another table.
    NextPanel,
    PreviousPanel,
    /// Rows of that table.
    Down(u16),
    Up(u16),
    Top,
    /// Nothing but to draw again.
    Redraw,
}

/// What every help says of them.
pub(super) const HELP: &[(&str, &str)] = &[
    ("q, Ctrl-C", "leave"),
    (
        "p, space",
        "pause: the screen stands still, counting goes on",
    ),
    ("s", "sort by rate, by total, or in the daemon's order"),
    ("left, right", "choose a table"),
    ("up, down", "scroll it; page keys by ten, Home to its top"),
    ("?", "this help; any key closes it"),
];

/// The wish of an event, if it has one.
pub(super) fn wish(event: &Event) -> Option<Wish> {
    let key = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key,
        Event::Resize(..) | Event::FocusGained => return Some(Wish::Redraw),
        _ => return None,
    };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => Some(Wish::Leave),
        KeyCode::Char('l') if control => Some(Wish::Redraw),
        KeyCode::Char('q') => Some(Wish::Leave),
        KeyCode::Char('p' | ' ') => Some(Wish::Pause),
        KeyCode::Char('s') => Some(Wish::Sort),
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => Some(Wish::Help),
        KeyCode::Right | KeyCode::Tab => Some(Wish::NextPanel),
        KeyCode::Left | KeyCode::BackTab => Some(Wish::PreviousPanel),
        KeyCode::Down | KeyCode::Char('j') => Some(Wish::Down(1)),
        KeyCode::Up | KeyCode::Char('k') => Some(Wish::Up(1)),
        KeyCode::PageDown => Some(Wish::Down(10)),
        KeyCode::PageUp => Some(Wish::Up(10)),
        KeyCode::Home => Some(Wish::Top),
        _ => None,
    }
}
