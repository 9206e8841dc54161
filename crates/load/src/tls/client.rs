//! What a client trusts and offers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore};
use rustls::{Connection, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::{ALPN, Session, TlsVersion, provider, versions};
use crate::LoadError;

/// Sessions that one thread keeps for resumption.
const SESSIONS_MAX: usize = 256;

/// How a client of `https://` behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientTlsOptions {
    /// Any certificate will do.
    pub insecure: bool,
    /// Authorities that are trusted instead of those of this host: a file in PEM.
    pub ca: Option<PathBuf>,
    /// The one version that is offered.
    pub version: Option<TlsVersion>,
    /// Each connection begins with a whole handshake.
    pub no_resumption: bool,
}

/// A client of `https://` for one server name.
#[derive(Clone, Debug)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    resumes: bool,
}

impl ClientTls {
    /// Reads what is to be trusted. `host` is an address or a name, without a port.
    ///
    /// # Errors
    /// The file of authorities cannot be read, this host trusts nobody, or `host` is no name that
    /// a certificate may have.
    pub fn new(host: &str, options: &ClientTlsOptions) -> Result<Self, LoadError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            LoadError::new(format!(
                "{host} is no name that a certificate may have: write a DNS name or an address"
            ))
        })?;
        let builder = ClientConfig::builder_with_provider(provider());
        let builder = builder
            .with_protocol_versions(versions(options.version))
            .map_err(LoadError::new)?;
        let verifier = verifier(options)?;
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.resumption = Resumption::disabled();
        Ok(Self {
            config: Arc::new(config),
            name,
            resumes: !options.no_resumption,
        })
    }

    /// The same with sessions of its own, for one thread.
    pub(crate) fn of_thread(&self) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        if self.resumes {
            config.resumption = Resumption::in_memory_sessions(SESSIONS_MAX);
        }
        Self {
            config: Arc::new(config),
            ..self.clone()
        }
    }

    /// A connection that begins.
    pub(crate) fn session(&self) -> Result<Session, Error> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        Ok(Session::new(Connection::Client(connection)))
    }
}

fn verifier(options: &ClientTlsOptions) -> Result<Arc<dyn ServerCertVerifier>, LoadError> {
    if options.insecure {
        return Ok(Arc::new(Anybody(provider())));
    }
    if let Some(file) = &options.ca {
        let roots = Arc::new(authorities(file)?);
        let built = WebPkiServerVerifier::builder_with_provider(roots, provider()).build();
        return Ok(built.map_err(LoadError::new)?);
    }
    let host = Verifier::new(provider()).map_err(|error| {
        LoadError::new(format!(
            "this host trusts no certificate authority: {error}: install ca-certificates, or \
             name one with --ca or ca"
        ))
    })?;
    Ok(Arc::new(host))
}

/// Authorities of a file, all of them or none.
fn authorities(file: &Path) -> Result<RootCertStore, LoadError> {
    let refuse = |why: &dyn fmt::Display| {
        LoadError::new(format!(
            "{}: {why}: name a file of certificates in PEM",
            file.display()
        ))
    };
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_file_iter(file).map_err(|error| refuse(&error))?;
    for certificate in found {
        let certificate = certificate.map_err(|error| refuse(&error))?;
        roots.add(certificate).map_err(|error| refuse(&error))?;
    }
    match roots.is_empty() {
        true => Err(refuse(&"there is no certificate in it")),
        false => Ok(roots),
    }
}

/// Takes any certificate, as `--insecure` asks for. Signatures of the handshake are checked, since
/// a wrong one is a fault of the server.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
