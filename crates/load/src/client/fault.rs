//! Faults of TLS as kinds of errors.

use rustls::{CertificateError, Error};

use super::ErrorKind;

/// What an error of TLS means for a request.
pub(super) fn kind_of_tls(error: &Error) -> ErrorKind {
    match error {
        Error::InvalidCertificate(error) => kind_of_certificate(error),
        Error::NoCertificatesPresented => ErrorKind::TlsUntrusted,
        Error::AlertReceived(_) | Error::PeerIncompatible(_) | Error::NoApplicationProtocol => {
            ErrorKind::TlsRefused
        }
        _ => ErrorKind::TlsBroken,
    }
}

fn kind_of_certificate(error: &CertificateError) -> ErrorKind {
    match error {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => ErrorKind::TlsExpired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            ErrorKind::TlsName
        }
        _ => ErrorKind::TlsUntrusted,
    }
}

#[cfg(test)]
mod tests {
    use rustls::{AlertDescription, InvalidMessage, PeerIncompatible};

    use super::*;

    #[test]
    fn each_fault_has_its_kind() {
        let certificate = Error::InvalidCertificate;
        for (error, kind) in [
            (
                certificate(CertificateError::UnknownIssuer),
                ErrorKind::TlsUntrusted,
            ),
            (
                certificate(CertificateError::BadSignature),
                ErrorKind::TlsUntrusted,
            ),
            (
                certificate(CertificateError::Expired),
                ErrorKind::TlsExpired,
            ),
            (
                certificate(CertificateError::NotValidYet),
                ErrorKind::TlsExpired,
            ),
            (
                certificate(CertificateError::NotValidForName),
                ErrorKind::TlsName,
            ),
            (Error::NoCertificatesPresented, ErrorKind::TlsUntrusted),
            (
                Error::AlertReceived(AlertDescription::HandshakeFailure),
                ErrorKind::TlsRefused,
            ),
            (
                PeerIncompatible::ServerDoesNotSupportTls12Or13.into(),
                ErrorKind::TlsRefused,
            ),
            (
                InvalidMessage::InvalidContentType.into(),
                ErrorKind::TlsBroken,
            ),
            (Error::DecryptError, ErrorKind::TlsBroken),
        ] {
            assert_eq!(kind_of_tls(&error), kind, "{error}");
        }
    }
}
