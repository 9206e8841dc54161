//! `[fragments]`: read, shown, refused.

use std::path::Path;

use frame::Nanos;

use super::{Config, ConfigError, FragmentsSection};

const STATEFUL: &str = "[[port]]\nname = 'out'\nspec = 'null:'\n[[port]]\nname = 'in'\n\
                        spec = 'gen:'\n[stateful]\nallow_new = ['in']\n";

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("/etc/linerate/bridge.toml"), text)
}

fn with(added: &str) -> Result<Config, ConfigError> {
    parse(&format!("{STATEFUL}{added}"))
}

#[test]
fn bounds_are_read_and_read_back() {
    for (added, shown) in [
        (
            "",
            "follow = true\ndatagrams = 16384\npieces = 128\nheld = 512\ntimeout = \"2s\"\n",
        ),
        (
            "[fragments]\ndatagrams = 5\npieces = 8192\nheld = 7\ntimeout = '500ms'\n\
             source_part = 1\n",
            "datagrams = 5\npieces = 8192\nheld = 7\ntimeout = \"500ms\"\nsource_part = 1\n",
        ),
        (
            "[fragments]\nfollow = false\n",
            "[fragments]\nfollow = false\n",
        ),
    ] {
        let config = with(added).expect("sound");
        let resolved = config.resolved();
        assert!(resolved.contains(shown), "{added}: {resolved}");
        assert_eq!(parse(&resolved).expect("its own text"), config);
    }
    let config = with("[fragments]\ntimeout = 3\n").expect("sound");
    let limits = config.fragments.and_then(|section| section.limits);
    assert_eq!(
        limits.map(|limits| limits.timeout),
        Some(Nanos(3_000_000_000))
    );
    let without = parse(STATEFUL.split("[stateful]").next().expect("a part"));
    assert_eq!(without.expect("a bridge").fragments, None);
    assert!(FragmentsSection::default().limits.is_some());
}

#[test]
fn what_cannot_be_meant_is_named() {
    for (added, sentence) in [
        ("[fragments]\nheld = 0\n", "held in [fragments] is 0"),
        (
            "[fragments]\npieces = 8193\n",
            "pieces in [fragments] is 8193",
        ),
        (
            "[fragments]\ntimeout = '61s'\n",
            "timeout in [fragments] is 61s",
        ),
        ("[fragments]\nholds = 1\n", "holds"),
        (
            "[fragments]\nfollow = false\nheld = 1\n",
            "follow = false lets nothing wait",
        ),
    ] {
        let error = with(added).expect_err(added).to_string();
        assert!(error.contains(sentence), "{added}: {error}");
    }
    let bare = STATEFUL.split("[stateful]").next().expect("a part");
    let error = parse(&format!("{bare}[fragments]\nheld = 1\n")).expect_err("no [stateful]");
    assert!(error.to_string().contains("without [stateful]"), "{error}");
}
