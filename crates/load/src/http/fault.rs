//! What is wrong with a message.

/// Why a request or a response was refused.
///
/// Servers and proxies that read one of these differently can be made to see two messages where
/// there is one (request smuggling), so nothing here is read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HttpFault {
    /// No request line, status line or header that can be read.
    Syntax,
    /// A line that ends without a carriage return, or a carriage return within one.
    BareLineEnd,
    /// A header that goes on in the next line (obs-fold).
    Folded,
    /// White space between the name of a header and its colon.
    SpaceBeforeColon,
    /// The head is longer than [`super::HEAD_BYTES_MAX`] or has too many headers.
    HeadTooLong,
    /// `Content-Length` is no plain number, or there are two.
    BadLength,
    /// Both `Content-Length` and `Transfer-Encoding`.
    LengthAndEncoding,
    /// A `Transfer-Encoding` other than `chunked`, or two, or one in HTTP/1.0.
    BadEncoding,
    /// A chunk whose size cannot be read or that does not end where it says.
    BadChunk,
    /// HTTP/1.1 without `Host`, or with two.
    BadHost,
    /// A target that is no path, or a method that is not served.
    BadTarget,
    /// A body that is longer or shorter than was said.
    WrongLength,
    /// A body that is not the pattern it should be.
    WrongBytes,
    /// The connection ended within the head.
    Cut,
}

impl HttpFault {
    /// The sentence that a peer is told.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Syntax => "the request line or a header cannot be read",
            Self::BareLineEnd => "a line does not end with CR LF",
            Self::Folded => "a header goes on in the next line",
            Self::SpaceBeforeColon => "white space stands before the colon of a header",
            Self::HeadTooLong => "the head is longer than 16 KiB or has more than 64 headers",
            Self::BadLength => "Content-Length is no plain number or stands twice",
            Self::LengthAndEncoding => "Content-Length and Transfer-Encoding exclude each other",
            Self::BadEncoding => "the only Transfer-Encoding is chunked, once, in HTTP/1.1",
            Self::BadChunk => "a chunk has no size or does not end where it says",
            Self::BadHost => "HTTP/1.1 needs exactly one Host",
            Self::BadTarget => "the target is no path, or the method is not served",
            Self::WrongLength => "the body is longer or shorter than was said",
            Self::WrongBytes => "the body is not the pattern that its header promises",
            Self::Cut => "the connection ended within the head",
        }
    }

    /// The status of the answer.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::HeadTooLong => 431,
            Self::BadEncoding => 501,
            Self::WrongBytes => 422,
            _ => 400,
        }
    }
}
