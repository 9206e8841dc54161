//! Captures: sampled frames of a running daemon, over the control socket.
//!
//! `capture.start` begins a stream ([`begin`]). Workers copy at most as many frames as the rate
//! allows into boxes that come back to them; where a receiver is slow there are none, and the next
//! sample stands for more frames. So nothing here makes a worker wait, and no frame is uncounted.

mod count;
mod params;
mod sample;
mod stream;

pub use count::Counting;
pub use params::{CaptureParams, RATE_MAX};
pub use sample::{CapturedFrame, CapturedSet, HexBytes};
pub use stream::{Source, begin};
