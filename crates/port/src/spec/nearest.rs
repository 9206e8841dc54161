//! The nearest of some known words to one that is not among them.

/// The known word that most likely was meant, if any is near enough: at most a third of its
/// letters, and at least one, may differ.
pub fn nearest_word<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, remove or replace, or neighbours to swap, to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    // Words a person types; what is longer is near to nothing, and costs nothing.
    if a.len() > 32 || b.len() > 32 {
        return usize::MAX;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                step(&rows, &a, &b, i, j)
            };
        }
    }
    rows[a.len()][b.len()]
}

fn step(rows: &[Vec<usize>], a: &[char], b: &[char], i: usize, j: usize) -> usize {
    let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
    let best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
    let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
    if swapped {
        best.min(rows[i - 2][j - 2] + 1)
    } else {
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_understood() {
        let drivers = ["pcap", "gen", "null", "ring"];
        assert_eq!(nearest_word("pacp", &drivers), Some("pcap"));
        assert_eq!(nearest_word("gne", &drivers), Some("gen"));
        assert_eq!(nearest_word("nul", &drivers), Some("null"));
        assert_eq!(nearest_word("ringg", &drivers), Some("ring"));
        assert_eq!(
            nearest_word("adresses", &["addresses", "size"]),
            Some("addresses")
        );
    }

    #[test]
    fn what_is_far_suggests_nothing() {
        assert_eq!(nearest_word("ethernet", &["pcap", "gen"]), None);
        assert_eq!(nearest_word("", &["pcap", "gen"]), None);
        assert_eq!(nearest_word(&"x".repeat(1 << 20), &["pcap"]), None);
    }
}
