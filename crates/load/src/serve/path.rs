//! What a path asks for: `/size/N`, `/time/MS`, `/rate/BYTES_PER_S`, `/status/CODE`, `/chunked/N`,
//! several in one path together as in `/size/1000/time/50`, and `/echo` alone.

/// Bodies are at most so long: 1 TB.
const BYTES_MAX: u64 = 1 << 40;
/// The longest that an answer waits: an hour.
const MILLIS_MAX: u64 = 3_600_000;

/// An order for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The status.
    pub status: u16,
    /// Bytes of the body.
    pub bytes: u64,
    /// In chunks.
    pub chunked: bool,
    /// Milliseconds until the answer begins.
    pub millis: u64,
    /// Bytes of the body a second.
    pub rate: Option<u64>,
    /// The body is that of the request.
    pub echo: bool,
}

impl Order {
    /// An answer with this status and no body.
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        Self {
            status,
            bytes: 0,
            chunked: false,
            millis: 0,
            rate: None,
            echo: false,
        }
    }

    /// Reads a path. `/` is an empty answer; what cannot be read is no order.
    #[must_use]
    pub fn parse(path: &str) -> Option<Self> {
        let mut order = Self::of_status(200);
        if path == "/echo" {
            order.echo = true;
            return Some(order);
        }
        let mut words = path.split('/').filter(|word| !word.is_empty());
        let mut sized = false;
        while let Some(word) = words.next() {
            let number = plain(words.next()?)?;
            match word {
                "size" | "chunked" => {
                    order.bytes = (number <= BYTES_MAX).then_some(number)?;
                    order.chunked |= word == "chunked";
                    sized = true;
                }
                "time" => order.millis = (number <= MILLIS_MAX).then_some(number)?,
                "rate" => order.rate = (1..=BYTES_MAX).contains(&number).then_some(Some(number))?,
                "status" => {
                    let known = (200..600).contains(&number);
                    order.status = u16::try_from(number).ok().filter(|_| known)?;
                }
                _ => return None,
            }
        }
        // A rate alone is one second of it.
        if let (Some(rate), false) = (order.rate, sized) {
            order.bytes = rate;
        }
        if matches!(order.status, 204 | 304) {
            (order.bytes, order.chunked) = (0, false);
        }
        Some(order)
    }
}

fn plain(word: &str) -> Option<u64> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(bytes: u64) -> Order {
        let plain = Order::of_status(200);
        Order { bytes, ..plain }
    }

    #[test]
    fn orders() {
        for (path, order) in [
            ("/", sized(0)),
            ("/size/0", sized(0)),
            ("/size/1000", sized(1000)),
            ("//size/1000/", sized(1000)),
            ("/status/404", Order::of_status(404)),
            ("/status/204/size/5", Order::of_status(204)),
        ] {
            assert_eq!(Order::parse(path), Some(order), "{path}");
        }
        type Change = fn(&mut Order);
        let changed: [(&str, u64, Change); 6] = [
            ("/time/50", 0, |order| order.millis = 50),
            ("/rate/500", 500, |order| order.rate = Some(500)),
            ("/rate/500/size/9", 9, |order| order.rate = Some(500)),
            ("/size/9/rate/500", 9, |order| order.rate = Some(500)),
            ("/chunked/7", 7, |order| order.chunked = true),
            ("/echo", 0, |order| order.echo = true),
        ];
        for (path, bytes, change) in changed {
            let mut order = sized(bytes);
            change(&mut order);
            assert_eq!(Order::parse(path), Some(order), "{path}");
        }
    }

    #[test]
    fn what_is_no_order() {
        let wrong = "/size /size/ /size/-1 /size/+1 /size/1k /other/1 /status/199 /status/600 \
                     /status/70000 /rate/0 /time/99999999 /size/1099511627777 \
                     /size/99999999999999999999 /../size/1 /size/1/x /echo/time/5";
        for path in wrong.split_whitespace() {
            assert_eq!(Order::parse(path), None, "{path}");
        }
    }
}
