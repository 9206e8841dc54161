//! What the kernel takes as the name of a network interface (`dev_valid_name` in net/core/dev.c).

use super::SpecError;
use crate::interface::OTHER_NAME_BYTES_MAX;

/// Longest name of its own that an interface has, bytes.
const OWN_NAME_BYTES_MAX: usize = 15;

/// Refuses what no interface is called, by its own name or by another. A colon would be cut off by
/// the kernel's ioctls, which then speak of another interface, and `%d` is a pattern for names yet
/// to be found.
pub(crate) fn check_interface(name: &str) -> Result<(), SpecError> {
    check(name, OTHER_NAME_BYTES_MAX)
}

/// The same of one that is to be made, which has no other name yet.
pub(crate) fn check_own_name(name: &str) -> Result<(), SpecError> {
    check(name, OWN_NAME_BYTES_MAX)
}

fn check(name: &str, bytes_max: usize) -> Result<(), SpecError> {
    let strange = |letter: char| {
        matches!(letter, '/' | ':' | '%') || letter.is_whitespace() || letter.is_control()
    };
    let dots = name == "." || name == "..";
    if name.is_empty() || name.len() > bytes_max || dots || name.contains(strange) {
        return Err(SpecError::new(format!(
            "`{}` is no name of a network interface: they have at most {bytes_max} bytes, no blank \
             and none of / : %; write one that `ip link` lists",
            name.escape_default()
        )));
    }
    Ok(())
}
