//! The declared drop reasons.

use super::Place;

#[test]
fn a_line_a_reason_with_a_sentence() {
    let ran = Place::new().run("drops").ended(0);
    assert!(ran.stderr.is_empty());
    let lines: Vec<&str> = ran.text().lines().collect();
    assert!(lines.len() > 10, "{lines:?}");
    assert!(lines[0].contains("reason") && lines[0].contains("meaning"));
    assert!(lines[1].trim_start().starts_with("blocked_src"));
    assert!(
        lines[1..]
            .iter()
            .all(|line| line.split_whitespace().count() >= 5),
        "{lines:?}"
    );
}

#[test]
fn the_same_for_programs() {
    let place = Place::new();
    let json = place.run("drops --json").ended(0).json();
    let reasons = json["drop_reasons"].as_array().expect("a list");
    assert_eq!(reasons.len(), place.run("drops").text().lines().count() - 1);
    for reason in reasons {
        for field in ["name", "severity", "sentence", "remedy"] {
            assert!(
                reason[field].as_str().is_some_and(|text| !text.is_empty()),
                "{reason}"
            );
        }
    }
}

#[test]
fn the_page_of_the_documentation_is_what_the_program_prints() {
    let page = include_str!("../../../../docs/daemon/drops.md");
    let ran = Place::new().run("drops --markdown").ended(0);
    assert_eq!(
        ran.text(),
        page,
        "make it anew: linerate drops --markdown > docs/daemon/drops.md"
    );
}
