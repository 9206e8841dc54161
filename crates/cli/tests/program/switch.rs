//! The switch against a naive one in Python, over captures.

use std::process::Command;

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
