//! Which process holds an XDP program, so that it can be asked to let go.

use std::fs;
use std::path::Path;

/// A process that has a program, or the link by which it is attached, open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub process: u32,
    /// Its name, as `ps` shows it.
    pub name: String,
    /// The kernel's number of the link, where it holds one: `bpftool link detach id` takes it.
    pub link: Option<u32>,
}

impl Holder {
    /// Who holds the program of this number. The kernel tells by what processes have open: those of
    /// others, root alone may see. One with its link comes before one that only loaded it.
    pub(super) fn of(program: u32) -> Option<Self> {
        Self::under(Path::new("/proc"), program)
    }

    fn under(proc: &Path, program: u32) -> Option<Self> {
        let mut loader = None;
        for process in fs::read_dir(proc).ok()?.flatten() {
            let number = process
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let Some(number) = number else { continue };
            let open = fs::read_dir(process.path().join("fdinfo"));
            for info in open.into_iter().flatten().flatten() {
                let text = fs::read_to_string(info.path()).unwrap_or_default();
                let Some(link) = held(&text, program) else {
                    continue;
                };
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                let holder = Self {
                    process: number,
                    name: name.trim().to_owned(),
                    link,
                };
                if link.is_some() {
                    return Some(holder);
                }
                loader = loader.or(Some(holder));
            }
        }
        loader
    }
}

/// Whether what is open is this program, or a link of it: then its number.
fn held(info: &str, program: u32) -> Option<Option<u32>> {
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<u32>().ok()
    };
    (field("prog_id:") == Some(program)).then(|| field("link_id:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_comes_before_the_program_alone() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let of = |program| Holder::under(folder.path(), program);
        write("7/comm", "loader\n");
        write("7/fdinfo/3", "pos:\t0\nprog_type:\t6\nprog_id:\t42\n");
        write("version", "text");
        let loader = of(42).unwrap();
        assert_eq!((loader.process, loader.link), (7, None));
        write("8/comm", "filter\n");
        write(
            "8/fdinfo/5",
            "link_type:\txdp\nlink_id:\t9\nprog_id:\t42\nifindex:\t3\n",
        );
        write("8/fdinfo/6", "prog_id:\tmany\n");
        let holder = of(42).unwrap();
        assert_eq!((holder.process, holder.link), (8, Some(9)));
        assert_eq!(holder.name, "filter");
        assert_eq!(of(43), None);
    }
}
