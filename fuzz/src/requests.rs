//! Requests of a server and responses of a client.

use frame::Nanos;
use load::http::{BodyCheck, Method, ResponseReader};
use load::serve::Peer;

/// The first byte says in which pieces the rest comes. However it comes, the server takes it or
/// refuses it: the answers are the same, and no answer is longer than what was asked for allows.
/// The same bytes as a response end in the same way however they come.
pub fn requests(bytes: &[u8]) {
    let Some((&piece, input)) = bytes.split_first() else {
        return;
    };
    let piece = usize::from(piece).max(1);
    let whole = answers(input, input.len().max(1));
    assert_eq!(
        answers(input, piece),
        whole,
        "a request is another one when it is cut"
    );
    let whole = response(input, input.len().max(1));
    assert_eq!(
        response(input, piece),
        whole,
        "a response is another one when it is cut"
    );
}

/// How many requests, answers and refusals, and whether the connection is over.
fn answers(input: &[u8], piece: usize) -> (u64, u64, u64, bool) {
    let mut peer = Peer::new(1000);
    let (mut requests, mut answered, mut refused) = (0, 0, 0);
    let mut now = Nanos(0);
    for mut rest in input.chunks(piece) {
        // Bodies of a terabyte and rates of a byte a second are not waited for.
        for _ in 0..64 {
            let mut out = Vec::new();
            rest = &rest[peer.receive(now, rest, &mut out)..];
            let later = peer.transmit(now, &mut out);
            assert!(out.len() < 1 << 20, "the output is bounded");
            now = later.unwrap_or(now).after(1);
            if rest.is_empty() && !peer.is_answering() {
                break;
            }
        }
        let counts = peer.take_counts();
        requests += counts.requests;
        answered += counts.answers;
        refused += counts.refused;
        if peer.is_answering() {
            return (0, 0, 0, false);
        }
    }
    assert!(refused <= 1, "nothing is read behind what was refused");
    (requests, answered, refused, peer.is_closed())
}

/// Where the response ends, its status and the bytes of its body; of faults only that there is one.
fn response(input: &[u8], piece: usize) -> Result<Option<(usize, u16, u64)>, ()> {
    let mut reader = ResponseReader::new(BodyCheck::Announced);
    reader.begin(Method::Other);
    let mut before = 0;
    for part in input.chunks(piece) {
        let received = reader.receive(part).map_err(|_| ())?;
        assert!(received.taken <= part.len());
        if received.is_done {
            return Ok(Some((
                before + received.taken,
                reader.status(),
                reader.body_bytes(),
            )));
        }
        assert_eq!(
            received.taken,
            part.len(),
            "what is not done takes everything"
        );
        before += part.len();
    }
    Ok(None)
}
