//! Addresses of what is asked for.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::LoadError;

/// `http://HOST[:PORT][/PATH]`, or `https://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// By TLS.
    pub is_https: bool,
    /// Host and port as the header `Host` has them.
    pub host: String,
    /// From the slash on.
    pub path: String,
}

impl Url {
    /// Reads one.
    ///
    /// # Errors
    /// A sentence for anything else.
    pub fn parse(text: &str) -> Result<Self, LoadError> {
        let refuse = |what: &str| LoadError::new(format!("{text}: {what}"));
        let plain = text.strip_prefix("http://").map(|rest| (false, rest));
        let scheme = plain.or_else(|| Some((true, text.strip_prefix("https://")?)));
        let (is_https, rest) =
            scheme.ok_or_else(|| refuse("no URL: write http://ADDRESS:PORT/PATH, or https://"))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(at);
        if host.is_empty() || host.contains('@') {
            return Err(refuse(
                "no host, or a name and password, which belong into a header",
            ));
        }
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain(host) || !plain(path) {
            return Err(refuse(
                "write spaces and characters beyond ASCII as %20 and the like",
            ));
        }
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        Ok(Self {
            is_https,
            host: host.to_owned(),
            path,
        })
    }

    /// Host and port.
    fn authority(&self) -> String {
        let port = if self.is_https { 443 } else { 80 };
        match self.name_and_port() {
            (_, Some(_)) => self.host.clone(),
            (_, None) => format!("{}:{port}", self.host),
        }
    }

    fn name_and_port(&self) -> (&str, Option<&str>) {
        match self.host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(port)),
            _ => (&self.host, None),
        }
    }

    /// The name or address of the server, without a port and without brackets.
    #[must_use]
    pub fn server_name(&self) -> &str {
        let (name, _) = self.name_and_port();
        let inner = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        inner.unwrap_or(name)
    }

    /// The first address of the host.
    ///
    /// # Errors
    /// The name has none.
    pub fn resolve(&self) -> Result<SocketAddr, LoadError> {
        let authority = self.authority();
        let refuse = |why: String| {
            LoadError::new(format!(
                "{authority} has no address: {why}: write one instead of a name"
            ))
        };
        let found = authority
            .to_socket_addrs()
            .map_err(|error| refuse(error.to_string()))?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| refuse("the name is known, without addresses".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for (text, host, path, authority, name) in [
            ("http://a", "a", "/", "a:80", "a"),
            ("http://a:81/b?c=d#e", "a:81", "/b?c=d", "a:81", "a"),
            ("http://[::1]:80", "[::1]:80", "/", "[::1]:80", "::1"),
            ("http://[::1]/x", "[::1]", "/x", "[::1]:80", "::1"),
            ("http://a?b", "a", "/?b", "a:80", "a"),
            ("https://a/b", "a", "/b", "a:443", "a"),
            ("https://a:444", "a:444", "/", "a:444", "a"),
            ("https://[::1]", "[::1]", "/", "[::1]:443", "::1"),
        ] {
            let url = Url::parse(text).expect(text);
            assert_eq!(
                (url.host.as_str(), url.path.as_str()),
                (host, path),
                "{text}"
            );
            assert_eq!(url.authority(), authority, "{text}");
            assert_eq!(url.server_name(), name, "{text}");
            assert_eq!(url.is_https, text.starts_with("https"), "{text}");
        }
        for text in [
            "",
            "a",
            "https://",
            "ftp://a",
            "http://",
            "http:///x",
            "http://u:p@a/",
            "http://a/\u{e9}",
            "http://a/x\r\nHost: b",
            "http://a b/",
        ] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
