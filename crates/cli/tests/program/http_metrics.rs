//! Metrics of `linerate load http` while it runs, judged by promtool and by the report.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::http::{Served, requests};
use super::{Place, Ran};

/// The page, or nothing where nobody serves it.
fn page(address: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let asked = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    asked.ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, page) = text.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    Some(page.to_owned())
}

fn value(page: &str, sample: &str) -> f64 {
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {sample}: {page}"))
        .parse()
        .expect("a number")
}

fn check_by_promtool(page: &str) {
    let tool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut tool) = tool else {
        eprintln!("skipped: no promtool here (Debian: apt-get install prometheus)");
        return;
    };
    let mut stdin = tool.stdin.take().expect("a pipe");
    stdin.write_all(page.as_bytes()).expect("promtool reads");
    drop(stdin);
    let output = tool.wait_with_output().expect("promtool ends");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.is_empty(), "{said}\n{page}");
}

#[test]
fn counts_of_a_run_are_served_while_it_goes_on() {
    let place = Place::new();
    let served = Served::start(&place, "");
    let words = format!(
        "load http {} -R 100 -d 6s -c 4 --metrics 127.0.0.1:0 --json",
        served.url("/status/404")
    );
    let mut run = place.command(&words).spawn().expect("the program starts");
    let stderr = run.stderr.take().expect("a pipe");
    let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
    let line = lines.find_map(|line| {
        let (_, address) = line.split_once("metrics are at http://")?;
        Some(address.trim_end_matches("/metrics").to_owned())
    });
    let address = line.expect("it says where");
    thread::spawn(move || lines.for_each(drop));
    let (mut last, mut seen) = (String::new(), Vec::new());
    while let Some(page) = page(&address) {
        seen.push(value(
            &page,
            r#"linerate_load_requests_total{pool="clients",event="sent"}"#,
        ));
        last = page;
        thread::sleep(Duration::from_millis(300));
    }
    check_by_promtool(&last);
    assert!(seen.is_sorted() && seen.last() > seen.first(), "{seen:?}");
    let status = r#"linerate_load_errors_total{pool="clients",kind="status"}"#;
    let counted = value(&last, status);
    let said = Ran::of(run.wait_with_output().expect("it ends")).json();
    // What the last second brought may not be on the page yet.
    let all = requests(&said, "sent") as f64;
    assert!(counted > 0.0 && counted <= all, "{counted} of {all}");
    assert_eq!(
        value(
            &last,
            r#"linerate_load_latency_seconds_count{pool="clients"}"#
        ),
        0.0
    );
}

#[test]
fn an_address_that_is_taken_is_refused() {
    let place = Place::new();
    let served = Served::start(&place, "");
    let words = format!("load http {} --metrics {}", served.url("/"), served.address);
    let refused = place.run(&words).ended(2);
    assert!(
        refused.stderr.contains("choose another address"),
        "{}",
        refused.stderr
    );
}
