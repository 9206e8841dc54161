//! TLS 1.2 and 1.3 for both ends, by rustls on sockets that never block.

mod client;
mod server;
mod session;

use std::sync::Arc;

use rustls::SupportedProtocolVersion;
use rustls::crypto::CryptoProvider;
use rustls::version::{TLS12, TLS13};

pub use client::{ClientTls, ClientTlsOptions};
pub use server::{ServerTls, ServerTlsOptions};
pub(crate) use session::Session;

/// The protocol that both ends agree on within the handshake.
const ALPN: &[u8] = b"http/1.1";

static ALL: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

/// The one version of TLS that an end takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2.
    V1_2,
    /// TLS 1.3.
    V1_3,
}

impl TlsVersion {
    /// Reads `1.2` or `1.3`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "1.2" => Some(Self::V1_2),
            "1.3" => Some(Self::V1_3),
            _ => None,
        }
    }
}

/// The versions that are offered; both where none was asked for.
fn versions(asked: Option<TlsVersion>) -> &'static [&'static SupportedProtocolVersion] {
    match asked {
        None => ALL,
        Some(TlsVersion::V1_2) => &ALL[1..],
        Some(TlsVersion::V1_3) => &ALL[..1],
    }
}

/// Named explicitly: rustls takes no default when several crates bring one each.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
