//! Screens of a terminal in the pages of the guide, and what of them must come again.

use std::path::Path;

/// The blocks of one language.
pub(crate) fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence[..]).skip(1);
    blocks
        .filter_map(|block| block.split("\n```").next())
        .collect()
}

/// A screen without what differs from run to run: numbers, times, rates, widths.
pub(crate) fn skeleton(folder: &Path, screen: &str) -> Vec<String> {
    let folder = folder.display().to_string();
    let folder = folder.trim_end_matches('/');
    let screen = screen.replace(folder, "/etc/linerate");
    let units = [
        "us", "ms", "s", "min", "B", "KiB", "MiB", "GiB", "kpps", "Mpps", "pps", "%", "-", "k/s",
        "B/s",
    ];
    let differs = |word: &&str| {
        let bare = word.trim_matches(|c: char| ",;()".contains(c));
        bare.chars().any(|c| c.is_ascii_digit()) || units.contains(&bare)
    };
    let line = |line: &str| {
        // What else is said of an address that may have been hit.
        let line = line.split(", hit ").next().unwrap_or(line);
        let words = line.split_whitespace().filter(|word| !differs(word));
        words.collect::<Vec<_>>().join(" ")
    };
    let debug = |line: &&str| !line.contains("DEBUG BUILD");
    screen.lines().filter(debug).map(line).collect()
}

/// The commands of a block of a terminal, each with the screen that follows.
pub(crate) fn flow(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), said.last_mut()) {
            (Some(command), _) => said.push((command, Vec::new())),
            (None, Some((_, screen))) if !line.is_empty() => screen.push(line),
            _ => {}
        }
    }
    said
}
