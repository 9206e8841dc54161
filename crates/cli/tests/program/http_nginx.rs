//! nginx behind `linerate load http`: its access log agrees request for request.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::Place;
use super::http::{load, requests, signal};
use super::http_tls::certificates;

/// A server that ends with the test.
pub(crate) struct Nginx {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connections end after 20 requests, and half of the paths are missing.
const CONFIGURATION: &str = "
daemon off;
master_process off;
pid nginx.pid;
error_log error.log;
events { worker_connections 512; }
http {
    log_format judge '$connection $status $request_uri $request_length $bytes_sent '
                     '$ssl_session_reused $ssl_protocol';
    access_log access.log judge;
    keepalive_requests 20;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    LIMITS
    server {
        listen ADDRESS LISTEN;
        location = /file { root .; }
        location /there/ { return 200 'hello'; }
        location / { return 404; }
    }
}
";

impl Nginx {
    /// None, with a printed reason, where there is no nginx.
    fn start(place: &Place, listen: &str) -> Option<Self> {
        Self::run(place, listen, "")
    }

    /// The same with an empty `/file` and limits, which hold for it alone: what `return` answers
    /// does not get as far.
    pub(crate) fn limited(place: &Place, limits: &str) -> Option<Self> {
        place.write("file", "");
        Self::run(place, "", limits)
    }

    fn run(place: &Place, listen: &str, limits: &str) -> Option<Self> {
        let programs = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"];
        let Some(program) = programs.into_iter().find(|path| Path::new(path).exists()) else {
            eprintln!("skipped: there is no nginx (apt-get install nginx-light)");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        place.write(
            "nginx.conf",
            CONFIGURATION
                .replace("ADDRESS LISTEN", &format!("{address} {listen}"))
                .replace("LIMITS", limits),
        );
        let child = Command::new(program)
            .args(["-p", "./", "-c", "nginx.conf", "-e", "error.log"])
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts");
        let nginx = Self { child, address };
        for _ in 0..500 {
            if TcpStream::connect(&nginx.address).is_ok() {
                return Some(nginx);
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!(
            "nginx listens: {}",
            String::from_utf8_lossy(&place.read("error.log"))
        );
    }

    /// Ends it when it has answered; lines of its log, in words.
    fn log(mut self, place: &Place) -> Vec<Vec<String>> {
        signal(&self.child, Signal::QUIT);
        let _ = self.child.wait();
        let text = String::from_utf8(place.read("access.log")).expect("text");
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        text.lines().map(words).collect()
    }
}

#[test]
fn the_access_log_of_nginx_agrees_request_for_request() {
    let place = Place::new();
    let Some(nginx) = Nginx::start(&place, "") else {
        return;
    };
    let address = &nginx.address;
    place.write(
        "pools.toml",
        format!(
            "[[pool]]\nrequests = 400\nrequest = [{{ url = 'http://{address}/there/{{n}}' }}]\n\
             [[pool]]\nrate = 300\nrequests = 200\nrequests_each = 3\n\
             url = 'http://{address}/absent/{{n}}'\n"
        ),
    );
    let said = load(&place, "--profile pools.toml -d 60s -t 2", 0);
    let log = nginx.log(&place);
    let lines = log.iter().filter(|line| line[2] != "-");
    let mut paths: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut connections, mut bytes) = (BTreeMap::new(), (0, 0));
    for line in lines {
        *paths.entry(line[2].as_str()).or_default() += 1;
        *connections.entry(line[0].as_str()).or_insert(0) += 1;
        bytes.0 += line[3].parse::<u64>().expect("a length");
        bytes.1 += line[4].parse::<u64>().expect("a length");
    }
    assert_eq!(paths.len(), 600, "each path once");
    assert!(paths.values().all(|times| *times == 1), "{paths:?}");
    assert!((0..400).all(|n| paths.contains_key(format!("/there/{n}").as_str())));
    assert!((0..200).all(|n| paths.contains_key(format!("/absent/{n}").as_str())));
    assert_eq!(
        (requests(&said, "answered"), requests(&said, "sent")),
        (400, 600),
        "{said}"
    );
    assert_eq!(said["all"]["requests"]["statuses"]["404"], 200, "{said}");
    assert_eq!(
        said["all"]["connections"]["opened"],
        connections.len(),
        "{said}"
    );
    assert!(
        connections.values().all(|count| *count <= 20),
        "{connections:?}"
    );
    assert_eq!(
        bytes,
        (requests(&said, "bytes_out"), requests(&said, "bytes_in")),
        "{said}"
    );
}

/// TLS by OpenSSL behind the client: both versions, whole handshakes and resumed ones.
#[test]
fn nginx_agrees_with_handshakes_and_sessions() {
    let place = Place::new();
    if !certificates(&place) {
        return;
    }
    let tls = "ssl; ssl_certificate server.pem; ssl_certificate_key server.key; \
               ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache builtin";
    let Some(nginx) = Nginx::start(&place, tls) else {
        return;
    };
    let url = format!("https://{}/there/x --ca ca.pem -d 60s", nginx.address);
    let mut resumed = Vec::new();
    for words in [
        "--tls-version 1.2",
        "--tls-version 1.3",
        "--tls-version 1.2 --no-resumption",
        "--tls-version 1.3 --no-resumption",
    ] {
        let words = format!("{url} {words} -n 40 --requests-each 4 -c 1");
        let said = load(&place, &words, 0);
        assert_eq!(requests(&said, "answered"), 40, "{said}");
        assert_eq!(said["all"]["times"]["tls"]["count"], 10, "{said}");
        let connections = &said["all"]["connections"];
        assert_eq!(connections["opened"], 10, "{said}");
        resumed.push(connections["tls_resumed"].as_u64().expect("a number"));
    }
    // The first connection has no session yet.
    assert_eq!(resumed, [9, 9, 0, 0]);
    let log = nginx.log(&place);
    for (index, version) in ["TLSv1.2", "TLSv1.3"].into_iter().enumerate() {
        let of_version = log.iter().filter(|line| line[6] == version);
        assert_eq!(of_version.clone().count(), 80, "{version}");
        let reused: BTreeSet<&str> = of_version
            .filter(|line| line[5] == "r")
            .map(|line| line[0].as_str())
            .collect();
        assert_eq!(reused.len() as u64, resumed[index], "{version}");
    }
}
