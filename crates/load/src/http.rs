//! HTTP/1.1 without I/O: bytes in, bytes out. Time is an argument.

mod body;
mod chunked;
mod fault;
mod head;
pub mod pattern;
mod request;
mod response;

pub use body::Body;
pub use fault::HttpFault;
pub(crate) use head::HeadReader;
pub use request::{Method, RequestHead};
pub use response::{BodyCheck, Received, ResponseReader};

/// The header of bodies that are the [`pattern`], so that the other end can check them.
pub const PATTERN_HEADER: &str = "Linerate-Body";
/// Its value.
pub const PATTERN_VALUE: &str = "pattern";
/// The longest head of a request or a response that is read.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
