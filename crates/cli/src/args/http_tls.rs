//! TLS of `linerate load http` and `linerate serve http`.

use std::path::PathBuf;

use clap::Args;
use load::tls::TlsVersion;

/// TLS of a client.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "TLS, for https://")]
pub(crate) struct HttpTlsArgs {
    /// Take any certificate of the server.
    #[arg(long, conflicts_with = "ca")]
    pub(crate) insecure: bool,
    /// Trust the authorities in this file, in PEM, instead of those of this host.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Offer this version of TLS alone: 1.2 or 1.3.
    #[arg(long, value_name = "VERSION", value_parser = tls_version)]
    pub(crate) tls_version: Option<TlsVersion>,
    /// Begin each connection with a whole handshake, and resume no session.
    #[arg(long)]
    pub(crate) no_resumption: bool,
}

/// TLS of a server.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "TLS")]
pub(crate) struct TlsServeArgs {
    /// Answer by TLS with this certificate, and those that lead to an authority, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Take this version of TLS alone: 1.2 or 1.3.
    #[arg(long, value_name = "VERSION", requires = "tls_cert", value_parser = tls_version)]
    pub(crate) tls_version: Option<TlsVersion>,
    /// Let no client resume a session: each connection has a whole handshake.
    #[arg(long, requires = "tls_cert")]
    pub(crate) no_resumption: bool,
}

fn tls_version(text: &str) -> Result<TlsVersion, String> {
    TlsVersion::parse(text).ok_or_else(|| "write 1.2 or 1.3".to_owned())
}
