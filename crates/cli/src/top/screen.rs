//! What is shown: the history, and what keys have made of the screen.

use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyEventKind};

use super::feed::News;
use super::history::History;
use super::keys::{self, Wish};

/// A table of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panel {
    Ports,
    Workers,
    Drops,
    Sets,
}

impl Panel {
    const ALL: [Self; 4] = [Self::Ports, Self::Workers, Self::Drops, Self::Sets];

    fn turned(self, by: usize) -> Self {
        Self::ALL[(self as usize + by) % Self::ALL.len()]
    }
}

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Rate,
    Total,
    /// As the daemon tells them.
    Order,
}

impl Sort {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Total => "total",
            Self::Order => "order",
        }
    }

    const fn next(self) -> Self {
        match self {
            Self::Rate => Self::Total,
            Self::Total => Self::Order,
            Self::Order => Self::Rate,
        }
    }
}

/// Everything that is drawn.
#[derive(Clone, Debug)]
pub(super) struct Screen {
    live: History,
    /// What stands still while it is paused.
    paused: Option<Box<History>>,
    /// Why the daemon does not answer.
    pub(super) away: Option<String>,
    /// The daemon's version and process.
    pub(super) daemon: Option<(String, u32)>,
    pub(super) interval: Duration,
    pub(super) sort: Sort,
    pub(super) panel: Panel,
    pub(super) help: bool,
    scrolled: [u16; 4],
    left: bool,
}

impl Screen {
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            live: History::default(),
            paused: None,
            away: None,
            daemon: None,
            interval,
            sort: Sort::Rate,
            panel: Panel::Drops,
            help: false,
            scrolled: [0; 4],
            left: false,
        }
    }

    /// Whether the user wants to go.
    pub(super) const fn is_left(&self) -> bool {
        self.left
    }

    pub(super) const fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// What is shown: the present, or the moment of the pause.
    pub(super) fn history(&self) -> &History {
        self.paused.as_deref().unwrap_or(&self.live)
    }

    /// The first row of a table of `rows`, of which `room` fit.
    pub(super) fn first_row(&self, panel: Panel, rows: usize, room: usize) -> usize {
        usize::from(self.scrolled[panel as usize]).min(rows.saturating_sub(room))
    }

    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Hello { version, pid } => {
                self.daemon = Some((version, pid));
                self.away = None;
            }
            News::Status(status) => {
                self.live.take(*status);
                self.away = None;
            }
            News::Hits(hits) => self.live.take_hits(*hits),
            News::Away(why) => self.away = Some(why),
        }
    }

    /// Does what a key asks for; true when the screen must be drawn again.
    pub(super) fn take(&mut self, event: &Event) -> bool {
        let pressed = matches!(event, Event::Key(key) if key.kind != KeyEventKind::Release);
        let wish = keys::wish(event);
        if self.help && pressed && wish != Some(Wish::Leave) {
            self.help = false;
            return true;
        }
        wish.is_some_and(|wish| {
            self.grant(wish);
            true
        })
    }

    fn grant(&mut self, wish: Wish) {
        let rows = self.rows(self.panel);
        let scrolled = &mut self.scrolled[self.panel as usize];
        match wish {
            Wish::Leave => self.left = true,
            Wish::Pause if self.paused.is_some() => self.paused = None,
            Wish::Pause => self.paused = Some(Box::new(self.live.clone())),
            Wish::Sort => self.sort = self.sort.next(),
            Wish::Help => self.help = true,
            Wish::NextPanel => self.panel = self.panel.turned(1),
            Wish::PreviousPanel => self.panel = self.panel.turned(Panel::ALL.len() - 1),
            Wish::Down(by) => *scrolled = scrolled.saturating_add(by).min(rows),
            Wish::Up(by) => *scrolled = scrolled.saturating_sub(by),
            Wish::Top => *scrolled = 0,
            Wish::Redraw => {}
        }
    }

    fn rows(&self, panel: Panel) -> u16 {
        let rows = self.history().now().map_or(0, |now| match panel {
            Panel::Ports => now.ports.len(),
            Panel::Workers => now.workers.len(),
            Panel::Drops => now.drops.len(),
            Panel::Sets => now.sets.len(),
        });
        u16::try_from(rows).unwrap_or(u16::MAX)
    }
}
