//! One request of HTTP/1: bytes in, an answer out; no sockets, no clock.

/// Most bytes of a request's head. A scraper sends some 300.
pub const REQUEST_BYTES_MAX: usize = 8 * 1024;
/// Most header lines.
const HEADERS_MAX: usize = 64;

const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// What came of the bytes so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The head of the request is not all there: read on.
    Incomplete,
    /// These bytes, and then the connection ends.
    Reply(Vec<u8>),
}

/// A page that is made when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// `/metrics`.
    Metrics,
    /// `/healthz`: workers go round, ports are up, required sets are current.
    Healthy,
    /// `/readyz`: the same, and it does not drain.
    Ready,
}

/// A page as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Whether what was asked for holds; false answers with status 503.
    pub is_well: bool,
    /// The text of the page.
    pub text: String,
}

/// Reads the head of a request and answers it; `make` is called once where a page is asked for
/// that it makes, and not otherwise. Never waits for more than [`REQUEST_BYTES_MAX`].
#[must_use]
pub fn answer(bytes: &[u8], make: &mut dyn FnMut(Page) -> Made) -> Answer {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let reply = match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => respond(
            request.method.unwrap_or_default(),
            request.path.unwrap_or_default(),
            make,
        ),
        Ok(httparse::Status::Partial) if bytes.len() < REQUEST_BYTES_MAX => {
            return Answer::Incomplete;
        }
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => refusal(
            "431 Request Header Fields Too Large",
            "a request may have 64 header lines in 8 KiB",
        ),
        Err(error) => refusal("400 Bad Request", &format!("not a request: {error}")),
    };
    Answer::Reply(reply)
}

fn respond(method: &str, target: &str, make: &mut dyn FnMut(Page) -> Made) -> Vec<u8> {
    let head_only = method == "HEAD";
    if !head_only && method != "GET" {
        let more = "Allow: GET, HEAD\r\n";
        let text = "only GET and HEAD are answered\n";
        return reply("405 Method Not Allowed", PLAIN, more, text, false);
    }
    let path = target.split('?').next().unwrap_or_default();
    let (page, kind) = match path {
        "/metrics" => (Page::Metrics, TEXT_FORMAT),
        "/healthz" => (Page::Healthy, PLAIN),
        "/readyz" => (Page::Ready, PLAIN),
        "/" => {
            let text = "linerate: metrics are at /metrics, health is at /healthz and /readyz\n";
            return reply("200 OK", PLAIN, "", text, head_only);
        }
        _ => return reply("404 Not Found", PLAIN, "", "try /metrics\n", head_only),
    };
    let made = make(page);
    let status = match made.is_well {
        true => "200 OK",
        false => "503 Service Unavailable",
    };
    // What was true a moment ago says nothing of health now.
    reply(
        status,
        kind,
        "Cache-Control: no-store\r\n",
        &made.text,
        head_only,
    )
}

/// What a connection gets that asked for nothing useful, or too late.
pub(super) fn refusal(status: &str, sentence: &str) -> Vec<u8> {
    reply(status, PLAIN, "", &format!("{sentence}\n"), false)
}

fn reply(status: &str, kind: &str, more: &str, text: &str, head_only: bool) -> Vec<u8> {
    let length = text.len();
    let mut reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         {more}Connection: close\r\n\r\n"
    );
    if !head_only {
        reply += text;
    }
    reply.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(request: &str) -> String {
        let mut make = |page| Made {
            is_well: page != Page::Ready,
            text: match page {
                Page::Metrics => "m 1\n".to_owned(),
                Page::Healthy => "ok\n".to_owned(),
                Page::Ready => "it drains\n".to_owned(),
            },
        };
        match answer(request.as_bytes(), &mut make) {
            Answer::Incomplete => "incomplete".to_owned(),
            Answer::Reply(bytes) => String::from_utf8(bytes).expect("text"),
        }
    }

    #[test]
    fn what_is_asked_and_what_is_answered() {
        for (request, status, end) in [
            ("GET /metrics HTTP/1.1\r\n\r\n", "200 OK", "m 1\n"),
            ("GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200 OK", "m 1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "200 OK", "\r\n\r\n"),
            ("GET /healthz HTTP/1.1\r\n\r\n", "200 OK", "ok\n"),
            ("GET /readyz HTTP/1.1\r\n\r\n", "503", "it drains\n"),
            ("HEAD /readyz HTTP/1.1\r\n\r\n", "503", "\r\n\r\n"),
            ("GET /readyz/ HTTP/1.1\r\n\r\n", "404", "try /metrics\n"),
            ("GET / HTTP/1.1\r\n\r\n", "200 OK", "/readyz\n"),
            ("GET /metricsx HTTP/1.1\r\n\r\n", "404", "try /metrics\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405", "answered\n"),
            ("GET /metrics HTTP/2.0\r\n\r\n", "400", "\n"),
            ("\0\0\0", "400", "\n"),
        ] {
            let reply = ask(request);
            assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{reply}");
            assert!(reply.ends_with(end), "{request}: {reply}");
        }
    }

    #[test]
    fn the_length_is_that_of_the_text_also_without_it() {
        let head = ask("HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head.contains("Content-Length: 4\r\n"), "{head}");
        assert!(head.contains("version=0.0.4"), "{head}");
    }

    #[test]
    fn a_head_has_an_end() {
        let short = "GET /metrics HTTP/1.1\r\nA: b\r\n";
        assert_eq!(ask(short), "incomplete");
        let long = format!("GET / HTTP/1.1\r\nA: {}", "b".repeat(REQUEST_BYTES_MAX));
        assert!(ask(&long).starts_with("HTTP/1.1 431"));
        let lines = "A: b\r\n".repeat(HEADERS_MAX + 1);
        let many = format!("GET / HTTP/1.1\r\n{lines}\r\n");
        assert!(ask(&many).starts_with("HTTP/1.1 431"));
    }
}
