//! The switch against a naive one in Python, over captures.

use std::process::Command;

use super::Place;

/// Cases in every run; `LINERATE_SWITCH_CASES` asks for more.
const CASES: &str = "300";

#[test]
fn every_frame_leaves_as_the_model_says() {
    let from_environment =
        |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let cases = from_environment("LINERATE_SWITCH_CASES", CASES);
    let seed = from_environment("LINERATE_SWITCH_SEED", "1");
    let judged = Command::new("python3")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/switch/judge.py"
        ))
        .args([env!("CARGO_BIN_EXE_linerate"), &seed, &cases])
        .output();
    let Ok(judged) = judged else {
        eprintln!("skipped: no python3 here");
        return;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(judged.status.success(), "{}", text(&judged.stderr));
    assert!(text(&judged.stdout).contains(&format!("{cases} cases")));
}

#[test]
fn what_a_switch_cannot_have_is_refused() {
    let place = Place::new();
    for (words, said) in [
        (
            "A=xdp:x,shortcut=on B=xdp:y,shortcut=on",
            "pass by the switch",
        ),
        ("A=xdp:x,bypass=on B=xdp:y,bypass=on", "pass by the switch"),
        ("A=gen: A=null:", "two ports are called 'A'"),
        (
            "A=gen: B=null: --vlan 10=A,C",
            "--vlan: no port is called 'C'",
        ),
        (
            "A=gen: B=null: --stateful allow-new=A",
            "between two ports alone",
        ),
        ("gen:", "required"),
    ] {
        let ran = place.run(&format!("switch {words}")).ended(2);
        assert!(
            ran.complaints().contains(said),
            "{words}: {}",
            ran.complaints()
        );
    }
    let ran = place
        .run("switch gen: null: null: --frames 1000 --json")
        .ended(0);
    assert_eq!(ran.json()["switch"]["copies"], 1000);
}
