//! What became of every request.

use std::collections::BTreeMap;

/// Why a request has no sound answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// Nobody listens.
    Refused,
    /// There is no way to the server.
    Unreachable,
    /// The peer reset the connection.
    Reset,
    /// The connection ended before the head of the response was whole.
    ClosedEarly,
    /// There was no whole response in time.
    Timeout,
    /// Nobody that this client trusts vouches for the certificate of the server.
    TlsUntrusted,
    /// The certificate is of another server.
    TlsName,
    /// The certificate is not valid yet, or no longer.
    TlsExpired,
    /// The server ended TLS by an alert, or both have no version in common.
    TlsRefused,
    /// What came is not TLS, or was changed on its way.
    TlsBroken,
    /// The connection ended without an end of TLS: the body may be cut.
    TlsCut,
    /// The response is not HTTP/1.1, or can be read in two ways.
    Malformed,
    /// The body is longer or shorter than was said.
    WrongLength,
    /// The body is not what the server sent.
    WrongBytes,
    /// The status is 400 or more.
    Status,
    /// No source port was free: a limit of this client.
    NoPort,
    /// No more files could be opened: a limit of this client.
    NoFile,
}

impl ErrorKind {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Refused,
        Self::Unreachable,
        Self::Reset,
        Self::ClosedEarly,
        Self::Timeout,
        Self::TlsUntrusted,
        Self::TlsName,
        Self::TlsExpired,
        Self::TlsRefused,
        Self::TlsBroken,
        Self::TlsCut,
        Self::Malformed,
        Self::WrongLength,
        Self::WrongBytes,
        Self::Status,
        Self::NoPort,
        Self::NoFile,
    ];

    /// Its name, in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Reset => "reset",
            Self::ClosedEarly => "closed_early",
            Self::Timeout => "timeout",
            Self::TlsUntrusted => "tls_untrusted",
            Self::TlsName => "tls_name",
            Self::TlsExpired => "tls_expired",
            Self::TlsRefused => "tls_refused",
            Self::TlsBroken => "tls_broken",
            Self::TlsCut => "tls_cut",
            Self::Malformed => "malformed",
            Self::WrongLength => "wrong_length",
            Self::WrongBytes => "wrong_bytes",
            Self::Status => "status",
            Self::NoPort => "no_port",
            Self::NoFile => "no_file",
        }
    }

    /// One sentence for people.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Refused => "nobody listens at the address",
            Self::Unreachable => "there is no way to the address",
            Self::Reset => "the peer reset the connection",
            Self::ClosedEarly => "the connection ended before the head of a response was whole",
            Self::Timeout => "there was no whole response in time",
            Self::TlsUntrusted => {
                "no trusted authority signed the certificate, or it is an authority: see --ca"
            }
            Self::TlsName => "the certificate is of another server name than the URL's",
            Self::TlsExpired => "the certificate is not valid yet, or no longer",
            Self::TlsRefused => "the server ended TLS by an alert, or has no version in common",
            Self::TlsBroken => "what came is not TLS, or was changed on its way",
            Self::TlsCut => "the connection ended without an end of TLS: the body may be cut",
            Self::Malformed => "the response is not HTTP/1.1, or can be read in two ways",
            Self::WrongLength => "the body is longer or shorter than was said",
            Self::WrongBytes => "the body is not the pattern that was sent",
            Self::Status => "the status is 400 or more",
            Self::NoPort => "no source port was free: more client addresses help (--from)",
            Self::NoFile => "no more files can be open: raise 'ulimit -n'",
        }
    }
}

/// The accounting of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Requests that the schedule has up to the end; in a closed loop, those that were sent.
    pub due: u64,
    /// Requests given to a connection.
    pub sent: u64,
    /// Requests that were due and got no connection before the end.
    pub not_sent: u64,
    /// Requests with a whole and sound response.
    pub answered: u64,
    /// Requests whose response was left on purpose after so many bytes.
    pub aborted: u64,
    /// Requests whose response was not whole when the run ended.
    pub unfinished: u64,
    /// The rest, by kind.
    pub errors: [u64; ErrorKind::ALL.len()],
    /// Requests that a closed loop with a rate left out: every connection was waiting.
    pub omitted: u64,
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Connections opened.
    pub connections: u64,
    /// TLS handshakes that went on with a session of before.
    pub resumed: u64,
    /// Idle connections that the server closed, as it may.
    pub closed_idle: u64,
    /// Idle connections on which bytes came that nobody had asked for.
    pub unasked: u64,
    /// Requests that waited for a connection, since all were in use.
    pub waited: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
}

impl Books {
    /// How many errors of a kind.
    #[must_use]
    pub const fn errors_of(&self, kind: ErrorKind) -> u64 {
        self.errors[kind as usize]
    }

    /// All errors.
    #[must_use]
    pub fn errors_all(&self) -> u64 {
        self.errors.iter().sum()
    }

    /// Requests that should have had a response and have none that is sound.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.errors_all() + self.unfinished + self.not_sent + self.omitted
    }

    /// Whether every request is accounted for.
    #[must_use]
    pub fn balance(&self) -> bool {
        let ended = self.answered + self.aborted + self.errors_all() + self.unfinished;
        self.due == self.sent + self.not_sent + self.omitted && self.sent == ended
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.sent += other.sent;
        self.not_sent += other.not_sent;
        self.answered += other.answered;
        self.aborted += other.aborted;
        self.unfinished += other.unfinished;
        self.omitted += other.omitted;
        self.connections += other.connections;
        self.resumed += other.resumed;
        self.closed_idle += other.closed_idle;
        self.unasked += other.unasked;
        self.waited += other.waited;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        for (mine, theirs) in self.errors.iter_mut().zip(other.errors) {
            *mine += theirs;
        }
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_at_their_index() {
        for (index, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index, "{}", kind.name());
        }
    }

    #[test]
    fn books_balance_or_not() {
        let sound = Books {
            due: 10,
            sent: 8,
            not_sent: 2,
            answered: 5,
            ..Books::default()
        };
        let sound = Books {
            aborted: 1,
            unfinished: 1,
            ..sound
        };
        let mut sound = sound;
        assert!(!sound.balance(), "one is missing");
        sound.errors[ErrorKind::Reset as usize] = 1;
        assert!(sound.balance());
        assert_eq!(sound.failed(), 4);
        sound.due += 1;
        assert!(!sound.balance());
    }
}
