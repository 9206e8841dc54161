//! What strangers say to sockets of a daemon.

use daemon::capture::{CaptureParams, CapturedFrame};
use daemon::metrics::{Answer, Made, REQUEST_BYTES_MAX, answer};
use serde_json::value::RawValue;

/// The head of a request to the metrics server: the answer is HTTP, metrics are made once at most,
/// and nobody waits for more than a head may be long.
pub fn scrape(bytes: &[u8]) {
    let mut made = 0;
    let reply = answer(bytes, &mut |_page| {
        made += 1;
        Made {
            is_well: bytes.len() % 2 == 0,
            text: "metric 1\n".to_owned(),
        }
    });
    match reply {
        Answer::Incomplete => assert!(bytes.len() < REQUEST_BYTES_MAX && made == 0),
        Answer::Reply(reply) => {
            assert!(reply.starts_with(b"HTTP/1.1 ") && made <= 1);
            let head = reply.windows(4).position(|four| four == b"\r\n\r\n");
            let text = reply.len() - head.expect("a head ends") - 4;
            assert!(made == 0 || text == 0 || text == 9);
        }
    }
}

/// Parameters of a capture, and a sample as a daemon sends it: what is understood is within its
/// bounds and understood again.
pub fn sample(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(raw) = serde_json::from_str::<Box<RawValue>>(text)
        && let Ok(params) = CaptureParams::read(Some(&raw))
    {
        let spec = params.spec();
        assert!(spec.per_second > 0 && (spec.dropped || spec.counted));
    }
    if let Ok(frame) = serde_json::from_str::<CapturedFrame>(text) {
        let shown = serde_json::to_string(&frame).expect("JSON");
        let again = serde_json::from_str::<CapturedFrame>(&shown);
        assert_eq!(again.expect("what is shown can be read"), frame);
    }
}
