//! The sentence about interfaces that are not there.

/// Letters that a slip of the finger changes.
const DISTANCE_MAX: usize = 2;

/// Names the missing one, those like it, and all there are.
pub(crate) fn sentence(missing: &str, here: &[String]) -> String {
    let mut near: Vec<&String> = here.iter().filter(|name| is_near(missing, name)).collect();
    near.sort_by_key(|name| distance(missing, name));
    // As `ip link` writes what an interface belongs to.
    let before = missing.split_once('@').map(|(name, _)| name);
    let before = here.iter().find(|name| Some(&name[..]) == before);
    let near = match before.or_else(|| near.first().copied()) {
        Some(name) => format!(": did you mean {name}?"),
        None => ".".to_owned(),
    };
    format!(
        "there is no interface {} in this network namespace{near} It has {}",
        missing.escape_debug(),
        here.join(", ")
    )
}

fn is_near(missing: &str, name: &str) -> bool {
    let shortest = missing.len().min(name.len());
    // Of two letters, two changed are all.
    distance(missing, name) <= DISTANCE_MAX.min(shortest / 2)
}

/// Letters to insert, remove or replace (Levenshtein), one row of the table at a time.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (place, &there) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != there);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, other, letters) in [("", "", 0), ("eth0", "eth1", 1), ("eht0", "eth0", 2)] {
            assert_eq!(distance(one, other), letters, "{one} {other}");
        }
        assert_eq!((distance("", "abc"), distance("abc", "")), (3, 3));
    }

    #[test]
    fn near_names_are_offered_and_all_are_listed() {
        let here = ["eth0", "lo", "wlan0"].map(str::to_owned);
        let near = sentence("eht0", &here);
        assert!(
            near.contains("did you mean eth0?") && near.ends_with("eth0, lo, wlan0"),
            "{near}"
        );
        let far = sentence("dummy7", &here);
        assert!(
            !far.contains("did you mean") && far.ends_with("eth0, lo, wlan0"),
            "{far}"
        );
        let listed = sentence("wlan0@if2", &here);
        assert!(listed.contains("did you mean wlan0?"), "{listed}");
        let odd = sentence("e\u{1b}[2J\n", &here);
        assert!(odd.lines().count() == 1 && !odd.contains('\u{1b}'), "{odd}");
    }
}
