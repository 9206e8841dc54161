//! The control socket: JSON-RPC 2.0, one message a line, over a Unix socket.
//!
//! A connection has a thread, which reads lines ([`Request`]), asks the keeper of sets ([`Sets`])
//! or the daemon ([`Facts`]), and writes answers; what is watched goes out between them
//! ([`Stream`]). Every bound on what a peer may send, hold or wait for is in [`Limits`] and the
//! constants beside it. [`Client`] is the other end. The protocol in words:
//! `docs/daemon/control-protocol.md`.

pub mod answers;
mod buffer;
mod client;
mod client_error;
mod connection;
mod error;
mod facts;
mod limits;
mod loading;
mod message;
mod methods;
mod noted;
mod server;
mod socket;
mod sources;
mod stream;
mod streams;

pub(crate) use client::ANSWER_WITHIN;
pub use client::{Client, Sent};
pub use client_error::ClientError;
pub use error::{ErrorKind, RpcError};
pub use facts::{Facts, Pending, SetLines, Sets};
pub(crate) use facts::{no_router, no_rules, no_switch};
pub use limits::{
    DEPTH_MAX, ENTRIES_MAX, ID_BYTES_MAX, LINE_BYTES_MAX, Limits, PIPELINED_MAX, PROTOCOL,
    SOCKET_DEFAULT, STREAMS_MAX, WATCH_EVERY,
};
pub use message::{BadLine, Request};
pub use methods::METHODS;
pub use server::{Server, ServerConfig};
pub use socket::BindError;
pub use stream::{Progress, Stream};
