//! `linerate top`: a running daemon on one screen, once a second.
//!
//! [`feed`] asks the daemon over its control socket, on a thread of its own; [`history`] keeps the
//! answers and makes rates of them; [`view`] draws; [`screen`] is what the keys change.

mod feed;
mod history;
mod keys;
mod lines;
mod panels;
mod screen;
mod theme;
mod view;

#[cfg(test)]
mod tests;

use std::env;
use std::io::{self, IsTerminal};
use std::panic;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::{cursor, event, execute};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::args::TopArgs;
use crate::control;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use feed::News;
use screen::Screen;
use theme::Theme;

/// How long the screen waits for a key before it looks for news: what a key is answered within.
const KEY_WAIT: Duration = Duration::from_millis(50);

/// Shows the screen until `q`, Ctrl-C or a signal.
pub(crate) fn run(args: &TopArgs, output: Output) -> Outcome {
    refuse_without_terminal()?;
    let theme = Theme::new(output.paint(Stream::Stdout).is_on());
    let interrupt = Interrupt::watch_on_screen()?;
    let news = feed::start(control::socket(&args.daemon), args.interval)?;
    on_screen(|terminal| {
        let screen = Screen::new(args.interval);
        show(terminal, screen, theme, &news, &interrupt)
    })?;
    Ok(ExitCode::Done)
}

/// Draws on the whole terminal and puts it back, also in a panic: then by hooks, since a release
/// build ends without dropping anything.
fn on_screen(show: impl FnOnce(DefaultTerminal) -> Result<(), Error>) -> Result<(), Error> {
    let terminal = ratatui::try_init().map_err(|error| terminal_failed(&error));
    // ratatui's own hook, which this one comes before, leaves the cursor hidden.
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        let _gone_too = execute!(io::stdout(), cursor::Show);
        before(panicked);
    }));
    let shown = terminal.and_then(show);
    ratatui::restore();
    shown
}

fn show(
    mut terminal: DefaultTerminal,
    mut screen: Screen,
    theme: Theme,
    news: &Receiver<News>,
    interrupt: &Interrupt,
) -> Result<(), Error> {
    let mut changed = true;
    while !interrupt.is_asked() && !screen.is_left() {
        if changed {
            let drawn = terminal.draw(|frame| view::draw(frame, &screen, theme));
            drawn.map_err(|error| terminal_failed(&error))?;
        }
        changed = wait_for_keys(&mut screen).map_err(|error| lost(&error))?;
        for news in news.try_iter() {
            screen.hear(news);
            changed = true;
        }
    }
    Ok(())
}

/// Takes what keys were pressed, or waits for one; whether something changed.
fn wait_for_keys(screen: &mut Screen) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec::try_from(KEY_WAIT).ok();
    match poll(&mut keys, wait.as_ref()) {
        // A signal: a new size, perhaps.
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    // The library below reads the end of a terminal over and over, and never comes back.
    if keys[0]
        .revents()
        .intersects(PollFlags::HUP | PollFlags::ERR)
    {
        return Err(io::Error::other("it was closed"));
    }
    let mut changed = false;
    while event::poll(Duration::ZERO)? {
        changed |= screen.take(&event::read()?);
    }
    Ok(changed)
}

fn refuse_without_terminal() -> Result<(), Error> {
    let dumb = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if io::stdout().is_terminal() && io::stdin().is_terminal() && !dumb {
        return Ok(());
    }
    Err(Error::refused(
        "'top' draws a screen and needs a terminal that can move its cursor; 'linerate show \
         workers --watch' prints lines instead",
    ))
}

fn terminal_failed(error: &io::Error) -> Error {
    Error::check_failed(format!("the terminal cannot be drawn on: {error}"))
}

fn lost(error: &io::Error) -> Error {
    Error::check_failed(format!("no keys come from the terminal any more: {error}"))
}
