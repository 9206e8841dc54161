//! A folder whose files are served, and nothing outside of it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use crate::LoadError;

/// Links followed and files opened again where a file changed its name meanwhile.
const TRIES_MAX: usize = 4;

/// An open folder. Whatever a path says, files are looked up below it: `..` and links that lead
/// out are refused by the kernel.
#[derive(Debug)]
pub struct Folder(OwnedFd);

/// A file that is open for an answer.
#[derive(Debug)]
pub struct Page {
    pub(super) file: File,
    pub(super) bytes: u64,
    pub(super) content_type: &'static str,
}

/// Why there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPage {
    /// The path leads to no file, or out of the folder.
    Absent,
    /// No more files can be open.
    Exhausted,
}

impl Folder {
    /// Opens it.
    ///
    /// # Errors
    /// It is no folder that can be read.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty());
        opened.map(Self).map_err(|error| {
            LoadError::new(format!(
                "{}: {error}: name a folder that can be read",
                path.display()
            ))
        })
    }

    /// The file of a path of a request. A folder's is its `index.html`.
    ///
    /// # Errors
    /// There is none.
    pub fn page(&self, path: &str) -> Result<Page, NoPage> {
        let name = file_name(path).ok_or(NoPage::Absent)?;
        let file = File::from(self.open_below(&name)?);
        let about = file.metadata().map_err(|_| NoPage::Absent)?;
        match about.is_file() {
            true => Ok(Page {
                bytes: about.len(),
                content_type: content_type(&name),
                file,
            }),
            false => Err(NoPage::Absent),
        }
    }

    fn open_below(&self, name: &Path) -> Result<OwnedFd, NoPage> {
        // A pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let below = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..TRIES_MAX {
            match openat2(&self.0, name, flags, Mode::empty(), below) {
                Ok(file) => return Ok(file),
                // Something was renamed while the kernel looked.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => return Err(NoPage::Exhausted),
                Err(_) => return Err(NoPage::Absent),
            }
        }
        Err(NoPage::Absent)
    }
}

/// The name below the folder that a path of a request means, without its query; none where a part
/// of it is no plain name.
fn file_name(path: &str) -> Option<PathBuf> {
    let path = path.split('?').next()?;
    let bytes = decoded(path.strip_prefix('/')?)?;
    let text = String::from_utf8(bytes).ok()?;
    let mut name = PathBuf::new();
    for part in text.split('/').filter(|part| !part.is_empty()) {
        if part.starts_with('.') || part.contains(['\0', '\\']) {
            return None;
        }
        name.push(part);
    }
    if text.is_empty() || text.ends_with('/') {
        name.push("index.html");
    }
    Some(name)
}

/// Bytes of a text with `%20` and the like, read once.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = behind;
            continue;
        }
        let digits = behind.get(..2)?;
        let value = |digit: u8| char::from(digit).to_digit(16);
        let byte = value(digits[0])? * 16 + value(digits[1])?;
        bytes.push(u8::try_from(byte).ok()?);
        rest = &behind[2..];
    }
    Some(bytes)
}

fn content_type(name: &Path) -> &'static str {
    match name.extension().and_then(|end| end.to_str()) {
        Some("html" | "htm") => "text/html",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("json") => "application/json",
        Some("txt") => "text/plain",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_mean_names_below_the_folder() {
        for (path, name) in [
            ("/", "index.html"),
            ("/a", "a"),
            ("/a/", "a/index.html"),
            ("/a/b.txt?c=../d", "a/b.txt"),
            ("//a///b", "a/b"),
            ("/a%20b%2Fc", "a b/c"),
            ("/%C3%A9", "\u{e9}"),
            ("/a..b/c...", "a..b/c..."),
        ] {
            assert_eq!(file_name(path).as_deref(), Some(Path::new(name)), "{path}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_mean_nothing() {
        for path in [
            "",
            "a",
            "*",
            "..",
            "/..",
            "/../etc/passwd",
            "/a/../../etc/passwd",
            "/a/..",
            "/./a",
            "/.",
            "/.git/config",
            "/%2e%2e/etc/passwd",
            "/%2E./etc/passwd",
            "/..%2fetc/passwd",
            "/..%5cetc",
            "/a\\..\\b",
            "/a%00.txt",
            "/%",
            "/%2",
            "/%zz",
            "/%+1",
            "/%ff",
            "/%c0%ae%c0%ae/etc/passwd",
        ] {
            assert_eq!(file_name(path), None, "{path}");
        }
        // What is written twice is read once, and names a file of such a name.
        let twice = file_name("/%252e%252e/etc");
        assert_eq!(twice.as_deref(), Some(Path::new("%2e%2e/etc")));
    }

    #[test]
    fn only_files_below_the_folder_are_pages() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir_all(at("served/deep")).expect("folders");
        for (name, text) in [
            ("outside", "secret"),
            ("served/index.html", "first"),
            ("served/deep/x.txt", "deep"),
        ] {
            std::fs::write(at(name), text).expect("a file");
        }
        for (to, link) in [
            ("../outside", "served/up"),
            ("/etc/passwd", "served/away"),
            ("..", "served/above"),
            ("deep/x.txt", "served/within"),
            ("loop", "served/loop"),
        ] {
            std::os::unix::fs::symlink(to, at(link)).expect("a link");
        }
        let pipe = rustix::fs::mknodat(
            rustix::fs::CWD,
            at("served/pipe"),
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        );
        pipe.expect("a pipe");
        let folder = Folder::open(&at("served")).expect("a folder");
        for (path, bytes) in [
            ("/", 5),
            ("/index.html", 5),
            ("/deep/x.txt", 4),
            ("/within", 4),
        ] {
            assert_eq!(folder.page(path).expect(path).bytes, bytes, "{path}");
        }
        for path in [
            "/absent",
            "/deep",
            "/deep/",
            "/up",
            "/away",
            "/above/outside",
            "/loop",
            "/pipe",
            "/index.html/x",
        ] {
            assert_eq!(folder.page(path).err(), Some(NoPage::Absent), "{path}");
        }
        assert!(Folder::open(&at("outside")).is_err());
        assert!(Folder::open(&at("absent")).is_err());
    }
}
