//! `linerate ndr --http` on servers whose capacity is known: it finds that, or says why not.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::http_nginx::Nginx;
use super::{Place, Ran};

/// Requests a second that the servers of these tests do.
const CAPACITY: f64 = 300.0;
/// A search on a machine that does not hold still may give no rate; so many are tried.
const TRIES: usize = 4;

/// Answers so many requests a second of all connections together, in the order of their arrival.
struct Queue {
    each: Duration,
    /// When the last of those that wait is answered.
    last: Mutex<Instant>,
}

impl Queue {
    /// A machine that was late by less makes up for it.
    const SLACK: Duration = Duration::from_millis(100);

    /// Serves until the test ends; returns its address.
    fn start(rate: f64) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("an address").to_string();
        let queue = Arc::new(Self {
            each: Duration::from_secs_f64(1.0 / rate),
            last: Mutex::new(Instant::now()),
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let queue = Arc::clone(&queue);
                thread::spawn(move || queue.answer(&stream));
            }
        });
        address
    }

    fn answer(&self, mut stream: &TcpStream) {
        stream.set_nodelay(true).expect("an option");
        let lines = BufReader::new(stream).lines();
        for line in lines.map_while(Result::ok) {
            if line.is_empty() {
                thread::sleep(self.turn().saturating_duration_since(Instant::now()));
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            }
        }
    }

    fn turn(&self) -> Instant {
        let mut last = self.last.lock().expect("a lock");
        *last = (*last).max(Instant::now() - Self::SLACK) + self.each;
        *last
    }
}

/// The rate that a search claims, by its JSON.
#[track_caller]
fn search(place: &Place, words: &str) -> (f64, Value) {
    let mut reasons = Vec::new();
    for _ in 0..TRIES {
        let run: Ran = place.run(&format!("ndr {words} --json -q"));
        let said = run.json();
        if let Some(rate) = said["rate"].as_f64() {
            assert_eq!((run.code, &said["sound"]), (0, &true.into()), "{said}");
            return (rate, said);
        }
        assert_eq!((run.code, &said["sound"]), (1, &false.into()), "{said}");
        reasons.push(said["reason"].as_str().expect("a reason").to_owned());
    }
    panic!("no rate in {TRIES} searches: {reasons:?}");
}

#[track_caller]
fn check(rate: f64, most: f64, said: &Value) {
    // Twice the precision below, and above what a queue or a burst adds within a trial.
    let band = CAPACITY * 0.8..CAPACITY * most * 1.1;
    assert!(band.contains(&rate), "{rate} of {band:?}: {said}");
}

#[test]
fn the_rate_of_a_server_that_queues_is_found() {
    let place = Place::new();
    let address = Queue::start(CAPACITY);
    let words = format!(
        "--http http://{address}/ -c 60 -t 1 --expect p99=150ms,errors=1% --duration 1s \
         --precision 10%"
    );
    let (rate, said) = search(&place, &words);
    check(rate, 1.15, &said);
    assert_eq!(said["verdict"], "found", "{said}");
    let trials = said["trials"].as_array().expect("a list");
    for trial in trials {
        let number = |name: &str| trial[name].as_f64().expect(name);
        // Nothing else is late by so much at twice the capacity.
        if number("rate") > CAPACITY * 1.8 {
            assert_ne!(trial["judged"], "met", "{trial}");
        }
        if trial["judged"] == "met" {
            assert!(number("errors") <= 0.01 * number("due"), "{trial}");
            let p99 = trial["latency"]["p99"].as_f64().expect("a time");
            assert!(p99 <= 0.15 * 1.05, "{trial}");
        }
    }
    let points = said["at_shares"].as_array().expect("a list");
    let shares: Vec<&Value> = points.iter().map(|point| &point["percent"]).collect();
    assert_eq!(shares, [10, 50, 90, 100]);
}

/// nginx, which refuses what is too much at once: its limit is one of errors.
#[test]
fn the_rate_that_nginx_allows_is_found() {
    let place = Place::new();
    let limits = format!(
        "limit_req_zone $binary_remote_addr zone=all:1m rate={CAPACITY}r/s; \
         limit_req zone=all burst=30 nodelay;"
    );
    let Some(nginx) = Nginx::limited(&place, &limits) else {
        return;
    };
    let words = format!(
        "--http http://{}/file -c 60 -t 1 --expect errors=5% --duration 1s --precision 10%",
        nginx.address
    );
    let (rate, said) = search(&place, &words);
    // 30 at once beside the rate, within a second, and 5 % that may be refused.
    check(rate, 1.1 / 0.95, &said);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let place = Place::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let nobody = free.local_addr().expect("an address").to_string();
    drop(free);
    let refused = place
        .run(&format!("ndr --http http://{nobody}/ --duration 100ms"))
        .ended(1);
    assert!(
        refused.stderr.contains("nobody listens at the address"),
        "{}",
        refused.stderr
    );
    for words in [
        "--http http://127.0.0.1/ --expect rate=100",
        "--http http://127.0.0.1/ --tx xdp:eth0",
        "--http http://127.0.0.1/ --size imix",
        "--http http://127.0.0.1/ --max 1Gbps",
        "--simulate capacity=1Mpps -c 5",
        "--simulate capacity=1Mpps --expect p99=5ms",
        "-c 5",
    ] {
        place.run(&format!("ndr {words}")).ended(2);
    }
}
