//! What a server shows and offers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::{Connection, Error, ServerConfig, ServerConnection};

use super::{ALPN, Session, TlsVersion, provider, versions};
use crate::LoadError;

/// How a server of `https://` behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTlsOptions {
    /// Its certificate and those between it and an authority: a file in PEM.
    pub certificate: PathBuf,
    /// The key of the first of them: a file in PEM.
    pub key: PathBuf,
    /// The one version that is taken.
    pub version: Option<TlsVersion>,
    /// No client may go on with a session that it had.
    pub no_resumption: bool,
}

/// A server of `https://`. All threads share it, so that any of them resumes what another began.
#[derive(Clone, Debug)]
pub struct ServerTls(Arc<ServerConfig>);

impl ServerTls {
    /// Reads certificate and key.
    ///
    /// # Errors
    /// A file cannot be read, or certificate and key do not belong together.
    pub fn read(options: &ServerTlsOptions) -> Result<Self, LoadError> {
        let chain = certificates(&options.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&options.key)
            .map_err(|error| refusal(&options.key, &error, "name a private key in PEM"))?;
        let builder = ServerConfig::builder_with_provider(provider());
        let mut config = builder
            .with_protocol_versions(versions(options.version))
            .map_err(LoadError::new)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| {
                let remedy = "name a certificate and the key that belongs to it";
                refusal(&options.certificate, &error, remedy)
            })?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        if options.no_resumption {
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        } else {
            // What a session needs goes to the client: the server keeps nothing of it.
            config.ticketer = rustls::crypto::ring::Ticketer::new().map_err(LoadError::new)?;
        }
        Ok(Self(Arc::new(config)))
    }

    /// A connection that begins.
    pub(crate) fn session(&self) -> Result<Session, Error> {
        let connection = ServerConnection::new(Arc::clone(&self.0))?;
        Ok(Session::new(Connection::Server(connection)))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let remedy = "name a file of certificates in PEM";
    let refuse = |error| refusal(file, &error, remedy);
    let found = CertificateDer::pem_file_iter(file).map_err(refuse)?;
    let chain = found.collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    match chain.is_empty() {
        true => Err(refusal(file, &"there is no certificate in it", remedy)),
        false => Ok(chain),
    }
}

fn refusal(file: &Path, why: &dyn fmt::Display, remedy: &str) -> LoadError {
    LoadError::new(format!("{}: {why}: {remedy}", file.display()))
}
