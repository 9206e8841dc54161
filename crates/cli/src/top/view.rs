//! Where everything stands on the screen. 80 by 24 is enough; with more there are more rows,
//! and names are whole.

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
    let areas = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(height(&ports)),
        Constraint::Length(height(&workers)),
        Constraint::Min(3),
        Constraint::Length(SPARKS.len() as u16),
        Constraint::Length(1),
    ]);
    let [head, port_area, worker_area, below, sparks, keys] = areas.areas(area);
    frame.render_widget(lines::head(screen, theme), head);
    table(frame, port_area, screen, Panel::Ports, ports, theme);
    table(frame, worker_area, screen, Panel::Workers, workers, theme);
    lower(frame, below, screen, theme);
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

fn lower(frame: &mut Frame<'_>, area: Rect, screen: &Screen, theme: Theme) {
    let halves = Layout::horizontal([Constraint::Length(38), Constraint::Min(20)]).spacing(2);
    let [left, right] = halves.areas(area);
    let history = screen.history();
    let drops = panels::drops(history, screen.sort);
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
