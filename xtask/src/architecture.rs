//! What ARCHITECTURE.md says in a form that rules can check.
//!
//! A block is the lines between `<!-- tidy: NAME -->` and `<!-- /tidy -->`; code fences inside it
//! are decoration.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// Where the facts come from.
pub const PATH: &str = "ARCHITECTURE.md";

/// The facts of ARCHITECTURE.md that rules are made of.
#[derive(Debug, Default)]
pub struct Architecture {
    /// Files in which `unsafe` may stand.
    pub unsafe_files: BTreeSet<String>,
    /// For each of our crates, by folder name, the crates of ours that it may use.
    pub edges: BTreeMap<String, BTreeSet<String>>,
    /// Third-party crates that have a line saying why they are there.
    pub dependencies: BTreeSet<String>,
    /// What each folder of a crate is, by its path below `crates/`.
    pub folders: BTreeMap<String, String>,
}

impl Architecture {
    /// Reads the four blocks.
    ///
    /// # Errors
    /// When the file or a block is missing, as a sentence.
    pub fn read(tree: &Tree) -> Result<Self, String> {
        let text = &tree
            .file(PATH)
            .ok_or_else(|| format!("{PATH} is missing"))?
            .text;
        Ok(Self {
            unsafe_files: block(text, "unsafe-files")?.map(str::to_owned).collect(),
            edges: block(text, "edges")?.filter_map(edge_line).collect(),
            dependencies: block(text, "dependencies")?
                .filter_map(table_name)
                .collect(),
            folders: block(text, "folders")?.filter_map(table_row).collect(),
        })
    }
}

fn block<'a>(text: &'a str, name: &str) -> Result<impl Iterator<Item = &'a str>, String> {
    let open = format!("<!-- tidy: {name} -->");
    let (_, rest) = text
        .split_once(&open)
        .ok_or_else(|| format!("{PATH} has no block `{open}`"))?;
    let (body, _) = rest
        .split_once("<!-- /tidy -->")
        .ok_or_else(|| format!("{PATH}: block `{name}` is not closed by `<!-- /tidy -->`"))?;
    Ok(body
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("```")))
}

/// `plane: table frame wire`
fn edge_line(line: &str) -> Option<(String, BTreeSet<String>)> {
    let (crate_name, uses) = line.split_once(':')?;
    Some((
        crate_name.trim().to_owned(),
        uses.split_whitespace().map(str::to_owned).collect(),
    ))
}

/// The name in backticks that opens a table row.
fn table_name(line: &str) -> Option<String> {
    let cell = line.strip_prefix('|')?.split('|').next()?.trim();
    Some(cell.strip_prefix('`')?.strip_suffix('`')?.to_owned())
}

/// The name that opens a table row, and what the next cell says of it.
fn table_row(line: &str) -> Option<(String, String)> {
    let name = table_name(line)?;
    let (_, what) = line.strip_prefix('|')?.split_once('|')?;
    Some((name, what.trim().trim_end_matches('|').trim().to_owned()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const SAMPLE: &str = "# A\n<!-- tidy: unsafe-files -->\n```text\n\
        crates/frame/src/pool.rs\n```\n<!-- /tidy -->\n<!-- tidy: edges -->\nwire:\nplane: wire\n\
        <!-- /tidy -->\n<!-- tidy: dependencies -->\n| crate | why |\n| --- | --- |\n\
        | `libc` | mmap |\n<!-- /tidy -->\n<!-- tidy: folders -->\n| folder | what |\n\
        | --- | --- |\n| `a/src/b` | Bees |\n<!-- /tidy -->\n";

    #[test]
    fn the_four_blocks_are_read() {
        let read = Architecture::read(&Tree::sample(&[(PATH, SAMPLE)])).unwrap();
        assert_eq!(
            read.unsafe_files.iter().collect::<Vec<_>>(),
            ["crates/frame/src/pool.rs"]
        );
        assert_eq!(read.edges["plane"].iter().collect::<Vec<_>>(), ["wire"]);
        assert!(read.edges["wire"].is_empty());
        assert_eq!(read.dependencies.iter().collect::<Vec<_>>(), ["libc"]);
        assert_eq!(read.folders["a/src/b"], "Bees");
    }

    #[test]
    fn a_missing_block_is_named() {
        let error = Architecture::read(&Tree::sample(&[(PATH, "# A\n")])).unwrap_err();
        assert!(error.contains("tidy: unsafe-files"), "{error}");
    }
}
