//! Configurations.

use std::path::Path;

use daemon::config::{Config, is_set_name};

/// A configuration of a daemon: whatever is in it, it is read or refused by a sentence with a line
/// of it; and what is shown of one reads back to the same.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let file = Path::new("/etc/linerate/fuzz.toml");
    match Config::parse(file, text) {
        Ok(config) => {
            assert_eq!(config.ports.len(), 2);
            assert!(config.sets.iter().all(|set| is_set_name(&set.name)));
            let shown = config.resolved();
            let again = Config::parse(file, &shown).expect("what is shown can be read");
            assert_eq!(again, config, "{shown}");
        }
        Err(error) => {
            assert!(
                error.line >= 1 && error.line <= text.lines().count() + 1,
                "{error}"
            );
            assert!(
                !error.what.is_empty() && !error.remedy.is_empty(),
                "{error}"
            );
        }
    }
}
