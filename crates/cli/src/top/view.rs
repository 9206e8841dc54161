//! Where everything stands on the screen. 80 by 24 is enough; with more there are more rows,
//! the addresses hit most, and whole names.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::history::Moment;
use super::keys::HELP;
use super::lines;
use super::panels::{self, Rows};
use super::screen::{Panel, Screen};
use super::theme::Theme;

/// Rows that the tables of ports and of workers may take before those below get theirs.
const ROWS_MAX: usize = 4;

/// Cells of the reasons of drops where 80 columns are all there are, and how many more they take.
const REASONS: u16 = 33;
const REASONS_MORE: u16 = 12;

/// Rows of addresses for which it is worth a table.
const TALKERS_MIN: usize = 3;

/// A figure by name, and how it is read.
type Spark = (&'static str, fn(&Moment) -> f64);

/// The figures that have a sparkline.
const SPARKS: [Spark; 3] = [
    ("received", |moment| moment.received),
    ("dropped", |moment| moment.dropped),
    ("set hits", |moment| moment.hits),
];

/// Draws the whole screen.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &Screen, theme: Theme) {
    let area = frame.area();
    let history = screen.history();
    let ports = panels::ports(history, screen.sort, theme, area.width);
    let workers = panels::workers(history, screen.sort, theme);
    let spare = usize::from(area.height).saturating_sub(24) / 2;
    let height = |rows: &Rows| 2 + rows.lines.len().clamp(1, ROWS_MAX + spare) as u16;
    let talkers = panels::talkers(history, area.width);
    let above = 2 + height(&ports) + height(&workers);
    let room = usize::from(area.height.saturating_sub(above));
    let talker_height = talker_height(screen, talkers.lines.len(), room);
    let areas = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(height(&ports)),
        Constraint::Length(height(&workers)),
        Constraint::Min(3),
        Constraint::Length(talker_height),
        Constraint::Length(SPARKS.len() as u16),
        Constraint::Length(1),
    ]);
    let [
        head,
        port_area,
        worker_area,
        below,
        talker_area,
        sparks,
        keys,
    ] = areas.areas(area);
    frame.render_widget(lines::head(screen, theme), head);
    table(frame, port_area, screen, Panel::Ports, ports, theme);
    table(frame, worker_area, screen, Panel::Workers, workers, theme);
    lower(frame, below, screen, theme);
    if talker_height != 0 {
        let mut text = vec![Line::styled(talkers.heading, theme.heading())];
        text.extend(
            talkers
                .lines
                .into_iter()
                .take(usize::from(talker_height) - 2),
        );
        frame.render_widget(Paragraph::new(Text::from(text)), talker_area);
    }
    draw_sparks(frame, sparks, screen, theme);
    frame.render_widget(lines::keys(screen, area.width.into(), theme), keys);
    if let Some(why) = &screen.away {
        notice(frame, area, "The daemon does not answer", why, theme);
    }
    if screen.help {
        let help = HELP.iter().map(|(key, what)| format!("{key:<12} {what}\n"));
        notice(frame, area, "Keys", &help.collect::<String>(), theme);
    }
}

/// Rows for the addresses hit most, heading and an empty one included: what of `room` the reasons
/// of drops, the sets and the sparklines do not need. None where that is too little.
fn talker_height(screen: &Screen, talkers: usize, room: usize) -> u16 {
    let now = screen.history().now();
    let rows = now.map_or(0, |now| now.drops.len().max(now.sets.len()));
    let others = 2 + rows + SPARKS.len() + 1;
    let rows = talkers.min(room.saturating_sub(others + 2));
    match rows >= TALKERS_MIN {
        true => u16::try_from(rows + 2).unwrap_or(0),
        false => 0,
    }
}

fn lower(frame: &mut Frame<'_>, area: Rect, screen: &Screen, theme: Theme) {
    let more = (area.width.saturating_sub(80) / 3).min(REASONS_MORE);
    let reasons = Constraint::Length(REASONS + more);
    let halves = Layout::horizontal([reasons, Constraint::Min(20)]).spacing(2);
    let [left, right] = halves.areas(area);
    let history = screen.history();
    let drops = panels::drops(history, screen.sort, left.width);
    table(frame, left, screen, Panel::Drops, drops, theme);
    let sets = panels::sets(history, screen.sort, right.width);
    table(frame, right, screen, Panel::Sets, sets, theme);
}

/// A heading and as many rows as there is room for; the last one says how many are left out.
fn table(
    frame: &mut Frame<'_>,
    area: Rect,
    screen: &Screen,
    panel: Panel,
    rows: Rows,
    theme: Theme,
) {
    let style = if screen.panel == panel {
        theme.chosen()
    } else {
        theme.heading()
    };
    let mut text = vec![Line::styled(rows.heading, style)];
    // One line below stays free, so that tables do not touch.
    let room = usize::from(area.height).saturating_sub(2);
    let all = rows.lines.len();
    let first = screen.first_row(panel, all, room);
    text.extend(rows.lines.into_iter().skip(first).take(room));
    let hidden = all.saturating_sub(room);
    if hidden != 0 {
        text.push(Line::styled(format!("  {hidden} more"), theme.faint()));
    }
    frame.render_widget(Paragraph::new(Text::from(text)), area);
}

fn draw_sparks(frame: &mut Frame<'_>, area: Rect, screen: &Screen, theme: Theme) {
    let width = usize::from(area.width);
    let history = screen.history();
    let text: Vec<Line<'_>> = SPARKS
        .iter()
        .map(|(name, of)| lines::spark(name, history, *of, width, theme))
        .collect();
    frame.render_widget(Paragraph::new(text), area);
}

/// A box in the middle.
fn notice(frame: &mut Frame<'_>, area: Rect, title: &str, text: &str, theme: Theme) {
    let width = area.width.min(72);
    let lines = text.lines().map(|line| line.chars().count());
    let inner = usize::from(width.saturating_sub(4)).max(1);
    // Words do not fill lines: one more than the characters need for each.
    let height: usize = lines.map(|length| length / inner + 1).sum::<usize>() + 3;
    let height = u16::try_from(height).unwrap_or(u16::MAX).min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let block = Block::bordered()
        .title(title.to_owned())
        .title_style(theme.heading());
    let inside = block.inner(place).inner(Margin::new(1, 0));
    frame.render_widget(Clear, place);
    frame.render_widget(block, place);
    let text = Paragraph::new(text.to_owned()).wrap(Wrap { trim: false });
    frame.render_widget(text, inside);
}
