//! Addresses of web servers: encrypted, or of this machine.

use std::fmt;

use ureq::http::Uri;

/// Why a description of a source is none: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(pub(crate) String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

/// An address of a web server that lists may be fetched from.
#[derive(Clone, PartialEq, Eq)]
pub struct ListUrl {
    uri: Uri,
    shown: String,
    http_allowed: bool,
}

impl ListUrl {
    /// Reads a URL. `http:` is taken of this machine itself, and of others only if `allow_http`:
    /// whoever sits between could empty the list, or fill it.
    ///
    /// # Errors
    /// It is no URL, of another scheme, without host, or holds a user or password.
    pub fn new(text: &str, allow_http: bool) -> Result<Self, SpecError> {
        let (address, query) = text.split_once(['?', '#']).unwrap_or((text, ""));
        let shown = match query {
            "" => address.to_owned(),
            _ => format!("{address}?..."),
        };
        let uri: Uri = text
            .split('#')
            .next()
            .unwrap_or(text)
            .parse()
            .map_err(|error| SpecError(format!("{address} is no URL: {error}")))?;
        if uri
            .authority()
            .is_some_and(|whole| whole.as_str().contains('@'))
        {
            return Err(SpecError(
                "a URL of a list holds a user or a password, which would end up in logs: leave \
                 them out, and fetch such a list by a command"
                    .to_owned(),
            ));
        }
        let url = Self {
            uri,
            shown,
            http_allowed: allow_http,
        };
        url.check()?;
        Ok(url)
    }

    fn check(&self) -> Result<(), SpecError> {
        let host = self.uri.host().unwrap_or_default();
        let shown = &self.shown;
        if host.is_empty() {
            return Err(SpecError(format!("{shown} names no server")));
        }
        match self.uri.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if self.http_allowed || self.is_loopback() => Ok(()),
            Some("http") => Err(SpecError(format!(
                "{shown} is not encrypted, so that anybody on the way could change the list: \
                 write https://"
            ))),
            _ => Err(SpecError(format!(
                "{shown} is of a scheme that lists are not fetched by: write https://"
            ))),
        }
    }

    /// True when the server is this machine by address or by the name `localhost`.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let host = self.uri.host().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let address = bare.parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// True when it is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    /// The whole address, secrets in its query included.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The address without query, for people.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Another address of the same server.
    pub(crate) fn beside(&self, text: &str) -> Result<Self, SpecError> {
        Self::new(text, self.http_allowed)
    }

    /// Where a redirect of this leads: an absolute URL, or a path on the same server.
    ///
    /// # Errors
    /// It leads from `https:` to `http:`, or to what [`Self::new`] refuses.
    pub(crate) fn redirected(&self, location: &str) -> Result<Self, SpecError> {
        let target = if location.contains("://") {
            location.to_owned()
        } else {
            self.resolve(location)
        };
        let next = Self::new(&target, self.http_allowed)?;
        if self.is_https() && !next.is_https() {
            return Err(SpecError(format!(
                "{} is not encrypted: ask whoever runs the server",
                next.shown()
            )));
        }
        Ok(next)
    }

    /// A relative reference (RFC 3986 section 4.2), without folding dot segments, which servers do.
    fn resolve(&self, reference: &str) -> String {
        let scheme = self.uri.scheme_str().unwrap_or("https");
        let host = self.uri.authority().map_or("", |whole| whole.as_str());
        let path = self.uri.path();
        if let Some(rest) = reference.strip_prefix("//") {
            return format!("{scheme}://{rest}");
        }
        if reference.starts_with('/') {
            return format!("{scheme}://{host}{reference}");
        }
        if reference.starts_with('?') {
            return format!("{scheme}://{host}{path}{reference}");
        }
        let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
        format!("{scheme}://{host}{folder}{reference}")
    }
}

impl fmt::Debug for ListUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ListUrl({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> ListUrl {
        ListUrl::new(text, false).unwrap()
    }

    #[test]
    fn http_is_for_this_machine() {
        for near in [
            "http://127.0.0.1:80/a",
            "http://[::1]/a",
            "http://localhost/a",
        ] {
            assert!(url(near).is_loopback(), "{near}");
        }
        for far in [
            "http://example.com/a",
            "http://10.0.0.1/",
            "http://localhost.example/",
        ] {
            assert!(ListUrl::new(far, false).is_err(), "{far}");
            assert!(ListUrl::new(far, true).is_ok(), "{far}");
        }
        let error = ListUrl::new("https://me:SECRET@example.com/", true).unwrap_err();
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }

    #[test]
    fn redirects_stay_encrypted() {
        let from = url("https://a.example/lists/today.txt?x=1");
        let to = |location: &str| from.redirected(location).unwrap().uri().to_string();
        assert_eq!(to("https://b.example/c"), "https://b.example/c");
        assert_eq!(to("//b.example/c"), "https://b.example/c");
        assert_eq!(to("/c"), "https://a.example/c");
        assert_eq!(to("c.txt"), "https://a.example/lists/c.txt");
        assert_eq!(to("?y=2"), "https://a.example/lists/today.txt?y=2");
        assert!(from.redirected("http://127.0.0.1/c").is_err());
        assert!(from.redirected("file:///etc/passwd").is_err());
        assert!(from.redirected("https://u:p@b.example/").is_err());
    }
}
