//! The file that a server answers with.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::error::Error;

/// Bytes of a file, at most: as many as a message may have.
const BYTES_MAX: u64 = 1 << 30;

/// What a file has.
pub(super) fn read(path: &Path) -> Result<Arc<[u8]>, Error> {
    let shown = path.display();
    let bytes = bounded(path).map_err(|error| {
        Error::refused(format!(
            "the response {shown} cannot be read ({error}): name a file, or a number of bytes"
        ))
    })?;
    match bytes.len() as u64 {
        0 => Err(Error::refused(format!(
            "the response {shown} is empty: write an HTTP head and a body into it"
        ))),
        length if length > BYTES_MAX => Err(Error::refused(format!(
            "the response {shown} is longer than 1 GiB: choose a shorter file"
        ))),
        _ => Ok(bytes.into()),
    }
}

/// As many bytes as it may have and one more.
fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: what is there, and what is said of it.
    #[test]
    fn what_is_no_response_is_refused() {
        let folder = std::env::temp_dir().join(format!("linerate-answer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (empty, long, good) = (
            folder.join("empty"),
            folder.join("long"),
            folder.join("good"),
        );
        File::create(&empty).expect("a file");
        let file = File::create(&long).expect("a file");
        file.set_len(BYTES_MAX + 1).expect("a sparse file");
        std::fs::write(&good, "HTTP/1.1 200 OK\r\n\r\n").expect("a file");
        for (path, said) in [
            (folder.join("absent"), "cannot be read"),
            (folder.clone(), "no regular file"),
            ("/dev/zero".into(), "no regular file"),
            (empty, "is empty"),
            (long, "longer than 1 GiB"),
        ] {
            let error = read(&path).expect_err(said).to_string();
            assert!(error.contains(said), "{error}");
        }
        assert_eq!(read(&good).expect("it is good").len(), 19);
        std::fs::remove_dir_all(&folder).expect("it was ours");
    }
}
