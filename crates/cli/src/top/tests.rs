//! The screen drawn into memory, from answers made up here.

use std::time::Duration;

use daemon::rpc::answers::{
    Action, DropFacts, HitAddress, Hits, PortFacts, SetHits, Side, Status, WorkerFacts,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::feed::News;
use super::screen::Screen;
use super::theme::Theme;
use super::view;

/// A daemon at one second of its life: two ports, two workers, some drops, three sets.
fn status(second: u64) -> Status {
    Status {
        seconds: 90_000.0 + second as f64,
        ports: vec![
            port("left", "up", second * 2_000_000),
            port("right", "link down", second * 500_000),
        ],
        workers: vec![
            worker(0, second * 2_000_000, 721_000_000 * second),
            worker(1, second * 500_000, 31_000_000 * second),
        ],
        drops: vec![
            reason("blocked_src", 100_000 * second),
            reason("blocked_dst", 20 * second),
            reason("ipv4_header_truncated", 7),
        ],
        passed: Vec::new(),
        sets: vec![
            hits("spamhaus", Action::Block, 90_000 * second, 20 * second),
            hits("a-set-with-a-long-name", Action::Count, 10 * second, 0),
            hits("own", Action::Allow, 0, 0),
        ],
        would_drop: 10 * second,
    }
}

fn port(name: &str, state: &str, frames: u64) -> PortFacts {
    PortFacts {
        port: name.to_owned(),
        state: state.to_owned(),
        in_frames: frames,
        in_bytes: frames * 60,
        missed: if state == "up" { 0 } else { frames / 100 },
        in_dropped: frames / 20,
        out_frames: frames,
        out_bytes: frames * 60,
        ..PortFacts::default()
    }
}

fn worker(number: u32, frames: u64, busy_ns: u64) -> WorkerFacts {
    WorkerFacts {
        worker: number,
        cpu: number + 2,
        frames,
        bursts: frames / 25,
        busy_ns,
        drops: frames / 20,
        pool_free: 7_000,
        pool_frames: 8_192,
        ..WorkerFacts::default()
    }
}

fn reason(name: &str, frames: u64) -> DropFacts {
    DropFacts {
        reason: name.to_owned(),
        frames,
    }
}

fn hits(set: &str, action: Action, source: u64, destination: u64) -> SetHits {
    SetHits {
        set: set.to_owned(),
        action,
        source,
        destination,
        would_drop: if action == Action::Count { source } else { 0 },
    }
}

/// As many addresses, the last of which may have been hit by nobody.
fn talkers(count: u8) -> News {
    let one = |number: u8| HitAddress {
        address: [192, 0, 2, number].into(),
        side: Side::Source,
        last_minute: 92,
        last_minute_error: if number == count { 92 } else { 0 },
        frames: 2_000 - u64::from(number),
        error: 7,
        sets: vec!["spamhaus".to_owned()],
    };
    News::Hits(Box::new(Hits {
        seconds: 90_000.0,
        top: (1..=count).map(one).collect(),
        never: Vec::new(),
    }))
}

/// After `seconds` answers, one a second.
fn screen(seconds: u64) -> Screen {
    let mut screen = Screen::new(Duration::from_secs(1));
    screen.hear(News::Hello {
        version: "0.1.0".to_owned(),
        pid: 4711,
    });
    for second in 0..=seconds {
        screen.hear(News::Status(Box::new(status(second))));
    }
    screen
}

fn draw(screen: &Screen, width: u16, height: u16, colours: bool) -> Buffer {
    let backend = TestBackend::new(width, height);
    let mut terminal = Terminal::new(backend).expect("a terminal in memory");
    let theme = Theme::new(colours);
    let drawn = terminal.draw(|frame| view::draw(frame, screen, theme));
    drawn.expect("memory takes all").buffer.clone()
}

fn text(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width);
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    rows.map(|row| row.trim_end().to_owned()).collect()
}

fn shown(screen: &Screen) -> String {
    text(&draw(screen, 80, 24, false)).join("\n")
}

fn press(screen: &mut Screen, code: KeyCode) {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    assert!(screen.take(&Event::Key(key)), "{code:?} means nothing");
}

#[test]
fn the_screen_of_80_by_24() {
    let expected = include_str!("screen.txt");
    let shown = shown(&screen(60));
    assert_eq!(shown.trim_end(), expected.trim_end(), "\n{shown}");
}

#[test]
fn names_are_whole_where_there_is_room() {
    let mut screen = screen(3);
    let mut more = status(4);
    let long = |end: &str| format!("a-set-with-a-name-that-differs-at-its-end-{end}");
    more.sets.push(hits(&long("one"), Action::Count, 0, 0));
    more.sets.push(hits(&long("two"), Action::Count, 0, 0));
    more.ports[0].port = "the-uplink-of-the-second-rack".to_owned();
    screen.hear(News::Status(Box::new(more)));
    let wide = text(&draw(&screen, 140, 24, false)).join("\n");
    for name in [&long("one"), &long("two"), "the-uplink-of-the-second-rack"] {
        assert!(wide.contains(name), "{wide}");
    }
    let narrow = shown(&screen);
    assert!(
        narrow.contains("a-set-with…") && narrow.contains("the-upli…"),
        "{narrow}"
    );
    let long_lines = narrow.lines().filter(|line| line.chars().count() > 80);
    assert_eq!(long_lines.count(), 0, "{narrow}");
}

#[test]
fn addresses_hit_most_fill_what_room_there_is() {
    let mut screen = screen(3);
    let rows = |screen: &Screen, height| {
        let shown = text(&draw(screen, 80, height, false));
        let rows = shown.iter().filter(|line| line.starts_with("192.0.2."));
        (rows.count(), shown.join("\n"))
    };
    assert!(!rows(&screen, 60).1.contains("HIT MOST"), "there are none");
    screen.hear(talkers(12));
    for (height, fit) in [(20, 0), (23, 0), (24, 3), (30, 9), (33, 12), (60, 12)] {
        let (found, shown) = rows(&screen, height);
        assert_eq!(found, fit, "{height} rows:\n{shown}");
        assert_eq!(shown.contains("HIT MOST"), fit != 0, "{shown}");
        assert!(
            shown.contains("a-set-with") && shown.contains("q quit"),
            "{shown}"
        );
    }
    let shown = rows(&screen, 40).1;
    let last = shown.lines().find(|line| line.starts_with("192.0.2.12"));
    let words: Vec<&str> = last.unwrap_or_default().split_whitespace().collect();
    let range = [
        "192.0.2.12",
        "src",
        "0",
        "to",
        "92",
        "1,981",
        "to",
        "1,988",
        "spamhaus",
    ];
    assert_eq!(words, range, "{shown}");
    press(&mut screen, KeyCode::Char('p'));
    screen.hear(talkers(3));
    assert_eq!(
        rows(&screen, 40).1.matches("192.0.2.").count(),
        12,
        "a pause stands still"
    );
}

#[test]
fn nothing_is_coloured_without_colours() {
    let mut screen = screen(5);
    screen.hear(News::Away("the daemon is gone".to_owned()));
    press(&mut screen, KeyCode::Char('p'));
    let coloured = |colours| {
        let buffer = draw(&screen, 80, 24, colours);
        let cells = buffer.content.iter();
        let plain = |colour| colour == Color::Reset;
        cells
            .filter(|cell| !plain(cell.fg) || !plain(cell.bg))
            .count()
    };
    assert_eq!(coloured(false), 0);
    assert!(coloured(true) > 0);
}

#[test]
fn every_size_is_drawn() {
    let mut screen = screen(400);
    screen.hear(News::Away("why ".repeat(100)));
    for width in (1..200).step_by(7) {
        for height in (1..70).step_by(3) {
            draw(&screen, width, height, true);
        }
    }
}

#[test]
fn rows_are_sorted_as_asked() {
    let mut screen = screen(5);
    let order = |screen: &Screen| {
        let shown = shown(screen);
        let at = |name: &str| shown.find(name).unwrap_or(usize::MAX);
        at("worker") < usize::MAX && at("own ") < at("spamhaus")
    };
    assert!(shown(&screen).contains("sort: rate"));
    press(&mut screen, KeyCode::Char('s'));
    assert!(shown(&screen).contains("sort: total"));
    press(&mut screen, KeyCode::Char('s'));
    assert!(shown(&screen).contains("sort: order"));
    assert!(!order(&screen));
}

#[test]
fn a_pause_stands_still_and_its_end_shows_the_present() {
    let mut screen = screen(5);
    press(&mut screen, KeyCode::Char('p'));
    let paused = shown(&screen);
    assert!(paused.contains("PAUSED"), "{paused}");
    screen.hear(News::Status(Box::new(status(60))));
    assert_eq!(shown(&screen), paused);
    press(&mut screen, KeyCode::Char('p'));
    let present = shown(&screen);
    assert!(present.contains("up 1 d 01:01:00"), "{present}");
}

#[test]
fn a_daemon_that_goes_away_is_told_of_until_it_is_back() {
    let mut screen = screen(5);
    screen.hear(News::Away("nobody listens at x.sock".to_owned()));
    let away = shown(&screen);
    assert!(away.contains("AWAY") && away.contains("nobody listens at x.sock"));
    assert!(away.contains("left"), "what was last seen stays:\n{away}");
    screen.hear(News::Hello {
        version: "0.1.0".to_owned(),
        pid: 1,
    });
    // It started again: its counts are smaller, and no rate is made of the difference.
    screen.hear(News::Status(Box::new(Status {
        seconds: 1.0,
        ..status(0)
    })));
    let back = shown(&screen);
    assert!(!back.contains("AWAY"), "{back}");
    assert!(back.contains("up 00:00:01"), "{back}");
}

#[test]
fn tables_scroll_and_say_what_is_left_out() {
    let mut screen = screen(1);
    let mut many = status(2);
    many.drops = (0..40)
        .map(|n| reason(&format!("reason_{n:02}"), 40 - n))
        .collect();
    screen.hear(News::Status(Box::new(many)));
    press(&mut screen, KeyCode::Char('s'));
    let top = shown(&screen);
    assert!(top.contains("reason_00") && top.contains(" more"), "{top}");
    press(&mut screen, KeyCode::Down);
    assert!(!shown(&screen).contains("reason_00"));
    for _ in 0..10 {
        press(&mut screen, KeyCode::PageDown);
    }
    let end = shown(&screen);
    assert!(end.contains("reason_39"), "{end}");
    press(&mut screen, KeyCode::Home);
    assert_eq!(shown(&screen), top);
}

#[test]
fn help_lists_the_keys_and_any_key_closes_it() {
    let mut screen = screen(1);
    press(&mut screen, KeyCode::Char('?'));
    let help = shown(&screen);
    for (key, _) in super::keys::HELP {
        assert!(help.contains(key), "{key} in\n{help}");
    }
    press(&mut screen, KeyCode::Char('x'));
    assert!(!shown(&screen).contains("Ctrl-C"));
    assert!(!screen.is_left());
    press(&mut screen, KeyCode::Char('q'));
    assert!(screen.is_left());
}

/// Not a test but for `a_panic_leaves_the_terminal_as_it_was`, which runs it on a terminal.
#[test]
fn panics_on_a_screen() {
    if std::env::var_os("LINERATE_TEST_PANICS").is_none() {
        return;
    }
    // As a release build does, in which nothing is dropped.
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let shown = super::on_screen(|mut terminal| {
        let drawn = terminal.draw(|frame| frame.render_widget("a screen", frame.area()));
        assert!(drawn.is_ok());
        // Until the other side has seen that the keys come one by one.
        std::thread::sleep(Duration::from_secs(1));
        panic!("on a screen");
    });
    assert!(shown.is_err(), "it never comes here");
}

#[test]
fn a_panic_leaves_the_terminal_as_it_was() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/terminal.py");
    let program = std::env::current_exe().expect("this program");
    let output = std::process::Command::new("python3")
        .args([script, "nothing"])
        .arg(program)
        .args(["top::tests::panics_on_a_screen", "--exact", "--nocapture"])
        .env("LINERATE_TEST_PANICS", "1")
        .output();
    let Ok(output) = output else {
        println!("skipped: no python3 here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), "restored", "{output:?}");
}
