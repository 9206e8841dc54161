//! For tests: a web server on loopback that says, byte for byte, what a test tells it to.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Path and query.
    pub(crate) target: String,
    /// By names in small letters.
    pub(crate) headers: HashMap<String, String>,
    /// What came behind them.
    pub(crate) body: Vec<u8>,
}

/// A piece of an answer.
pub(crate) enum Piece {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing for so long.
    Pause(Duration),
    /// These bytes again and again, until the client goes.
    Forever(Vec<u8>),
}

type Answer = dyn Fn(&Asked) -> Vec<Piece> + Send + Sync;

/// Ends with the test.
pub(crate) struct TestServer {
    address: SocketAddr,
    scheme: &'static str,
    asked: Arc<Mutex<Vec<Asked>>>,
    gone: Arc<AtomicBool>,
}

/// Certificates made for one test.
pub(crate) struct Certificates {
    _folder: tempfile::TempDir,
    pub(crate) ca: PathBuf,
    server: Arc<ServerConfig>,
}

impl TestServer {
    pub(crate) fn new(answer: impl Fn(&Asked) -> Vec<Piece> + Send + Sync + 'static) -> Self {
        Self::start(None, Arc::new(answer))
    }

    pub(crate) fn encrypted(
        certificates: &Certificates,
        answer: impl Fn(&Asked) -> Vec<Piece> + Send + Sync + 'static,
    ) -> Self {
        Self::start(Some(Arc::clone(&certificates.server)), Arc::new(answer))
    }

    fn start(tls: Option<Arc<ServerConfig>>, answer: Arc<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let gone = Arc::new(AtomicBool::new(false));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (heard, ended) = (Arc::clone(&asked), Arc::clone(&gone));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (tls, heard, answer) = (tls.clone(), Arc::clone(&heard), Arc::clone(&answer));
                let ended = Arc::clone(&ended);
                // Clients that go away early are part of the tests.
                thread::spawn(move || serve(stream.ok()?, tls, &heard, &ended, &*answer).ok());
            }
        });
        Self {
            address,
            scheme,
            asked,
            gone,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// All that was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Answers no more: connections are refused.
    pub(crate) fn go(&self) {
        self.gone.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.go();
    }
}

fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    asked: &Mutex<Vec<Asked>>,
    gone: &AtomicBool,
    answer: &Answer,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let Some(config) = tls else {
        return talk(stream, asked, gone, answer);
    };
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    talk(&mut stream, asked, gone, answer)?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn talk(
    mut stream: impl Read + Write,
    asked: &Mutex<Vec<Asked>>,
    gone: &AtomicBool,
    answer: &Answer,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let mut one = request(&String::from_utf8_lossy(&head));
    let length = one.headers.get("content-length");
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    one.body = vec![0; length];
    stream.read_exact(&mut one.body)?;
    asked.lock().unwrap().push(one.clone());
    for piece in answer(&one) {
        match piece {
            Piece::Bytes(bytes) => stream.write_all(&bytes)?,
            Piece::Pause(time) => thread::sleep(time),
            Piece::Forever(bytes) => {
                while !gone.load(Ordering::SeqCst) {
                    stream.write_all(&bytes)?;
                }
            }
        }
        stream.flush()?;
    }
    Ok(())
}

fn request(head: &str) -> Asked {
    let mut lines = head.lines();
    let target = lines.next().and_then(|line| line.split(' ').nth(1));
    let headers = lines.filter_map(|line| line.split_once(": "));
    Asked {
        target: target.unwrap_or_default().to_owned(),
        headers: headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect(),
        body: Vec::new(),
    }
}

/// An answer with its length.
pub(crate) fn ok(headers: &str, body: &[u8]) -> Vec<Piece> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{headers}\r\n");
    vec![Piece::Bytes([head.as_bytes(), body].concat())]
}

/// An answer as it is on the wire.
pub(crate) fn raw(text: &str) -> Vec<Piece> {
    vec![Piece::Bytes(text.as_bytes().to_vec())]
}

impl Certificates {
    /// An authority and a server of `localhost` and 127.0.0.1. None, with the reason printed, where
    /// `openssl` is missing.
    pub(crate) fn make() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").unwrap();
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        let steps = [
            format!(
                "req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca \
                 -addext keyUsage=critical,keyCertSign"
            ),
            format!("req {key} -keyout key.pem -out server.csr -subj /CN=localhost"),
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem \
             -days 2 -extfile names"
                .to_owned(),
        ];
        for step in steps {
            if !openssl(folder.path(), &step) {
                println!("skipped: openssl is missing or cannot make a certificate");
                return None;
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chain = CertificateDer::from_pem_file(at("server.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(at("key.pem")).unwrap();
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)
            .unwrap();
        Some(Self {
            ca: at("ca.pem"),
            server: Arc::new(server),
            _folder: folder,
        })
    }
}

fn openssl(folder: &Path, arguments: &str) -> bool {
    let run = Command::new("openssl")
        .args(arguments.split_ascii_whitespace())
        .current_dir(folder)
        .output();
    run.is_ok_and(|output| output.status.success())
}
