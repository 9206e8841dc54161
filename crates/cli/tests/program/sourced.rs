//! Sources of sets from outside: one that gives nothing at the start, one that a guard refuses, and
//! being read by hand.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::Place;
use crate::daemon::{Daemon, config};

/// A web server with one page, or none: then it hangs up.
struct Server {
    address: SocketAddr,
    page: Arc<Mutex<Option<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let page = Arc::new(Mutex::new(None));
        let served = Arc::clone(&page);
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let page: Option<String> = served.lock().expect("a page").clone();
                // A client that goes early is none of the test's business.
                let _ = page.map(|page| answer(&stream, &page));
            }
        });
        Self { address, page }
    }

    fn give(&self, page: &str) {
        *self.page.lock().expect("a page") = Some(page.to_owned());
    }

    fn set(&self, more: &str) -> String {
        let address = self.address;
        config(&format!(
            "[metrics]\naddress = '127.0.0.1:0'\n[[set]]\nname = 'feed'\naction = 'count'\n\
             source = 'http://{address}/list.txt'\n{more}"
        ))
    }
}

fn answer(mut stream: &TcpStream, page: &str) -> std::io::Result<()> {
    let head = BufReader::new(stream).lines();
    for line in head.map_while(Result::ok) {
        if line.is_empty() {
            break;
        }
    }
    let length = page.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(page.as_bytes())
}

/// A server that takes a connection and never says a word, as long as the listener lives.
fn silent(more: &str) -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let set = "[[set]]\nname = 'feed'\naction = 'count'\n";
    let source = format!("{set}source = 'http://{address}/list.txt'\n{more}");
    (listener, config(&source))
}

#[test]
fn a_required_list_is_waited_for_until_its_own_limit_refuses_the_start() {
    let place = Place::new();
    let (_silent, text) = silent("required = true\n[limits]\nlist_time = '12s'\n");
    place.write("a.toml", text);
    let refused = place.run("run a.toml --duration 1s").ended(2);
    assert!(refused.complaints().contains("in time"), "{refused:?}");
}

/// The server is silent for as long as the daemon runs.
#[test]
fn a_list_that_need_not_be_there_does_not_keep_the_wire_cut() {
    let place = Place::new();
    let (_silent, text) = silent("[limits]\nlist_time = '1h'\n");
    place.write("a.toml", text);
    let daemon = Daemon::start(&place, "run a.toml --json");
    let source = source_of(&daemon);
    assert_eq!(source["never_read"], true, "{source}");
    let (_, log) = daemon.stop();
    assert!(log.contains("list.txt has given nothing"), "{log}");
}

fn source_of(daemon: &Daemon<'_>) -> Value {
    let shown = daemon.must("set show feed --json").json();
    shown["sources"][0].clone()
}

#[test]
fn a_set_without_its_list_says_so_and_is_read_when_asked() {
    let (place, server) = (Place::new(), Server::start());
    place.write("a.toml", server.set(""));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let source = source_of(&daemon);
    assert_eq!(source["never_read"], true, "{source}");
    assert!(source["error"].is_string() && source["next_try_at"].is_u64());
    let said = daemon.must("set list");
    let said = said.text();
    assert!(said.contains("never read"), "{said}");
    let asked = daemon.ask("set load feed");
    assert_ne!(asked.code, 0, "{asked:?}");

    server.give("45.83.2.1\n45.83.2.2\n");
    let read = daemon.must("set load feed --json").json();
    assert_eq!(read["entries"], 2, "{read}");
    let source = source_of(&daemon);
    assert_eq!(source["never_read"], false, "{source}");
    assert_eq!(source["error"], Value::Null, "{source}");

    server.give("# nothing any more\n");
    let refused = daemon.ask("set load feed");
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.stderr.contains("holds no entries"), "{refused:?}");
    let shown = daemon.must("set show feed --json").json();
    assert_eq!(shown["entries"], 2, "{shown}");
    daemon.must("set load feed --force");
    let shown = daemon.must("set show feed --json").json();
    assert_eq!(shown["entries"], 0, "{shown}");
    daemon.stop();
}

#[test]
fn a_required_list_refuses_the_start_unless_there_is_a_copy() {
    let (place, server) = (Place::new(), Server::start());
    place.write("a.toml", server.set("required = true\n"));
    let refused = place.run("run a.toml --duration 1s").ended(2);
    assert!(refused.complaints().contains("list.txt"), "{refused:?}");
    server.give("45.83.2.1\n");
    Daemon::start(&place, "run a.toml --json").stop();
    *server.page.lock().expect("a page") = None;
    let again = Daemon::start(&place, "run a.toml --json");
    let source = source_of(&again);
    assert_eq!(source["from_copy"], true, "{source}");
    assert_eq!(source["never_read"], false, "{source}");
    again.stop();
}

/// Of a file that was accepted before, however it is gone now: the start goes on with the copy,
/// says so, and takes the file when it is back. Without a copy it is refused.
#[test]
fn a_required_file_that_is_gone_is_replaced_by_its_copy() {
    let place = Place::new();
    let set = "[[set]]\nname = 'bad'\nsource = 'lists/bad.txt'\naction = 'count'\n";
    place.write("a.toml", config(set));
    let refused = place.run("run a.toml --duration 1s").ended(2);
    assert!(refused.complaints().contains("bad.txt"), "{refused:?}");
    place.run("run a.toml --check --lists").ended(1);
    place.write("lists/bad.txt", "45.83.2.1\n45.83.2.2\n");
    Daemon::start(&place, "run a.toml --json").stop();
    let file = place.path("lists/bad.txt");
    for is_folder in [false, true] {
        match is_folder {
            false => std::fs::remove_file(&file).expect("no file"),
            true => std::fs::remove_dir(place.path("lists")).expect("no folder"),
        }
        let checked = place.run("run a.toml --check --lists").ended(1);
        assert!(checked.complaints().contains("bad.txt"), "{checked:?}");
        let daemon = Daemon::start(&place, "run a.toml --json");
        let shown = daemon.must("set show bad --json").json();
        assert_eq!(shown["entries"], 2, "{shown}");
        let source = &shown["sources"][0];
        assert_eq!(source["from_copy"], true, "{source}");
        assert!(source["error"].to_string().contains("bad.txt"), "{source}");
        daemon.stop();
    }
    let daemon = Daemon::start(&place, "run a.toml --json");
    place.write("lists/bad.new", "45.83.2.1\n45.83.2.2\n45.83.2.3\n");
    std::fs::rename(place.path("lists/bad.new"), &file).expect("a list");
    daemon.must("set load bad");
    let shown = daemon.must("set show bad --json").json();
    assert_eq!(shown["entries"], 3, "{shown}");
    daemon.stop();
}

#[test]
fn a_refused_file_is_taken_by_force_and_a_set_without_a_source_is_told() {
    let place = Place::new();
    place.write("bad.txt", "45.83.2.1\n45.83.2.2\n");
    let sets = "[[set]]\nname = 'bad'\nsource = 'bad.txt'\naction = 'block'\n\
                [[set]]\nname = 'hand'\naction = 'count'\n";
    place.write("a.toml", config(sets));
    let daemon = Daemon::start(&place, "run a.toml --json");
    place.write("bad.new", "45.83.2.1\n45.83.2.2\n10.1.2.3\n");
    std::fs::rename(place.path("bad.new"), place.path("bad.txt")).expect("a new list");
    let refused = daemon.ask("set load bad");
    assert!(refused.stderr.contains("10.1.2.3"), "{refused:?}");
    daemon.must("set load bad --force");
    let tested = daemon.must("set test 10.1.2.3 --json").json();
    assert_eq!(tested["sets"][0]["matches"][0]["entry"], "10.1.2.3");
    // Guards are overridden, and no line is read by half.
    place.write("bad.txt", "45.83.2.1\n198.51.100.0 24\n");
    for load in ["bad --force", "bad bad.txt --force", "hand bad.txt --force"] {
        let half = daemon.ask(&format!("set load {load}"));
        assert_eq!(half.code, 1, "{load}: {half:?}");
        let said = half.stderr.contains("may be a prefix length");
        assert!(said && !half.stderr.contains("--force leaves"), "{half:?}");
    }
    let none = daemon.ask("set load hand --force");
    assert!(none.stderr.contains("no source"), "{none:?}");
    daemon.stop();
}

#[test]
fn a_file_need_not_be_there_where_it_is_not_required() {
    let place = Place::new();
    let set = "[[set]]\nname = 'bad'\nsource = 'no.txt'\naction = 'count'\nrequired = false\n";
    place.write("a.toml", config(set));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let said = daemon.must("set list");
    let said = said.text();
    assert!(said.contains("never read"), "{said}");
    daemon.stop();
}
