//! `source = { etcd = [...], prefix = "..." }`: a list in etcd.

use std::path::{Path, PathBuf};

use super::error::{ConfigError, Wrong};
use super::resolved::Writer;
use super::section::Section;
use super::sets::sound_url;

/// Longest prefix or key.
const KEY_BYTES_MAX: usize = 1024;

/// Most members that are named.
const MEMBERS_MAX: usize = 16;

/// A list in etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdConfig {
    /// Addresses of members: `https://...`, or `http://` on this machine.
    pub members: Vec<String>,
    /// The prefix of keys that are entries, or the key of a whole list.
    pub held: Held,
    /// A user, and the file of its password.
    pub login: Option<Login>,
    /// Certificates.
    pub tls: TlsFiles,
}

/// A user of etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password is the first line of this file: never on a command line, where everybody on the
    /// machine can read it.
    pub password_file: PathBuf,
}

/// Where in etcd a list is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Each key behind this prefix is an entry, and its value a comment.
    Prefix(String),
    /// The value of this key is a whole list.
    Key(String),
}

impl Held {
    /// The prefix or the key.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Prefix(text) | Self::Key(text) => text,
        }
    }
}

/// Files of certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Authorities to trust in place of the platform's, PEM.
    pub ca_file: Option<PathBuf>,
    /// What we show the server.
    pub client: Option<ClientFiles>,
}

/// A certificate of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFiles {
    /// The certificate, and those between it and its authority, PEM.
    pub cert_file: PathBuf,
    /// Its private key, PEM.
    pub key_file: PathBuf,
}

impl EtcdConfig {
    pub(crate) fn read(table: Section<'_>) -> Result<Self, ConfigError> {
        let member = |text: &str| sound_url(text).map(|()| text.to_owned());
        let members = table.texts("etcd", member)?;
        let members = members.unwrap_or_default();
        if members.is_empty() || members.len() > MEMBERS_MAX {
            let what = format!("etcd names {} members", members.len());
            let wrong = Wrong::new(what, "name 1 to 16");
            return Err(table.error_at("etcd", wrong));
        }
        let etcd = Self {
            members,
            held: held(&table)?,
            login: login(&table)?,
            tls: TlsFiles {
                ca_file: table.path("ca_file")?,
                client: client(&table)?,
            },
        };
        table.finish()?;
        Ok(etcd)
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.texts("source.etcd", self.members.iter().map(String::as_str));
        match &self.held {
            Held::Prefix(prefix) => out.text("source.prefix", prefix),
            Held::Key(key) => out.text("source.key", key),
        }
        if let Some(login) = &self.login {
            out.text("source.user", &login.user);
            out.path("source.password_file", &login.password_file);
        }
        if let Some(path) = &self.tls.ca_file {
            out.path("source.ca_file", path);
        }
        if let Some(client) = &self.tls.client {
            out.path("source.cert_file", &client.cert_file);
            out.path("source.key_file", &client.key_file);
        }
    }

    /// All files that it needs.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let password = self.login.as_ref().map(|login| &login.password_file);
        let client = self.tls.client.as_ref();
        let client = client.map(|client| [&client.cert_file, &client.key_file]);
        let files: [Option<&PathBuf>; 2] = [password, self.tls.ca_file.as_ref()];
        let all = files.into_iter().flatten();
        all.chain(client.into_iter().flatten())
            .map(PathBuf::as_path)
    }
}

fn held(table: &Section<'_>) -> Result<Held, ConfigError> {
    let known = |key: &'static str| {
        table.parsed(key, "prefix = \"/linerate/bad/\"", |text| {
            match text.len() {
                1..=KEY_BYTES_MAX => Ok(text.to_owned()),
                _ => Err(Wrong::new(
                    format!("{key} has {} bytes", text.len()),
                    "write 1 to 1024",
                )),
            }
        })
    };
    match (known("prefix")?, known("key")?) {
        (Some(prefix), None) => Ok(Held::Prefix(prefix)),
        (None, Some(key)) => Ok(Held::Key(key)),
        (None, None) => Err(table.missing("prefix")),
        (Some(_), Some(_)) => {
            let remedy = "keep prefix, whose keys are entries, or key, whose value is a list";
            let wrong = Wrong::new("prefix and key are both there", remedy);
            Err(table.error_at("key", wrong))
        }
    }
}

fn login(table: &Section<'_>) -> Result<Option<Login>, ConfigError> {
    match (table.text("user")?, table.path("password_file")?) {
        (None, None) => Ok(None),
        (Some(user), Some(password_file)) => Ok(Some(Login {
            user,
            password_file,
        })),
        (Some(_), None) => Err(table.missing("password_file")),
        (None, Some(_)) => Err(table.missing("user")),
    }
}

fn client(table: &Section<'_>) -> Result<Option<ClientFiles>, ConfigError> {
    match (table.path("cert_file")?, table.path("key_file")?) {
        (None, None) => Ok(None),
        (Some(cert_file), Some(key_file)) => Ok(Some(ClientFiles {
            cert_file,
            key_file,
        })),
        (Some(_), None) => Err(table.missing("key_file")),
        (None, Some(_)) => Err(table.missing("cert_file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};

    fn parse(source: &str) -> Result<Config, String> {
        let text = format!(
            "[[port]]\nspec = 'gen:'\n[[port]]\nspec = 'null:'\n[[set]]\nname = 's'\n\
             action = 'block'\nsource = {{ {source} }}\n"
        );
        let config = Config::parse(Path::new("/etc/linerate/a.toml"), &text);
        config.map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_read_is_shown_and_reads_back() {
        for source in [
            "etcd = ['http://127.0.0.1:2379'], prefix = '/p/'",
            "etcd = ['https://a.example:2379', 'https://b.example:2379'], key = '/k', user = 'me', \
             password_file = 'pw', ca_file = '/ca.pem', cert_file = 'c.pem', key_file = 'k.pem'",
        ] {
            let config = parse(source).expect(source);
            let Some(Source::Etcd(etcd)) = &config.sets[0].source else {
                panic!("{config:?}");
            };
            let login = etcd.login.as_ref();
            let password = Path::new("/etc/linerate/pw");
            assert!(login.is_none_or(|login| login.password_file == password));
            let shown = config.resolved();
            let again = Config::parse(Path::new("/etc/linerate/a.toml"), &shown);
            assert_eq!(again.expect(&shown), config);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let member = "etcd = ['https://a.example:2379']";
        for (source, wanted) in [
            ("etcd = [], prefix = '/p/'".to_owned(), "names 0 members"),
            (
                "etcd = ['http://192.0.2.1:2379'], prefix = '/p/'".to_owned(),
                "can be forged",
            ),
            (
                "etcd = ['a.example:2379'], prefix = '/p/'".to_owned(),
                "cannot be fetched",
            ),
            (member.to_owned(), "has no prefix"),
            (format!("{member}, prefix = ''"), "prefix has 0 bytes"),
            (
                format!("{member}, prefix = '/p/', key = '/k'"),
                "both there",
            ),
            (
                format!("{member}, prefix = '/p/', user = 'me'"),
                "has no password_file",
            ),
            (
                format!("{member}, prefix = '/p/', password_file = 'p'"),
                "has no user",
            ),
            (
                format!("{member}, prefix = '/p/', cert_file = 'c'"),
                "has no key_file",
            ),
            (format!("{member}, prefx = '/p/'"), "did you mean"),
            (
                format!("{member}, prefix = '/p/', timeout = '1s'"),
                "knows no key 'timeout'",
            ),
        ] {
            let refused = parse(&source).expect_err(&source);
            assert!(refused.contains(wanted), "{source}: {refused}");
        }
    }
}
