//! What the kernel takes as the name of a network interface (`dev_valid_name` in net/core/dev.c).

use super::SpecError;

/// Longest name of a network interface, bytes.
const NAME_BYTES_MAX: usize = 15;

/// Refuses what no interface is called. A colon would be cut off by the kernel's ioctls, which then
/// speak of another interface, and `%d` is a pattern for names yet to be found.
pub(crate) fn check_interface(name: &str) -> Result<(), SpecError> {
    let strange = |letter: char| {
        matches!(letter, '/' | ':' | '%') || letter.is_whitespace() || letter.is_control()
    };
    let dots = name == "." || name == "..";
    if name.is_empty() || name.len() > NAME_BYTES_MAX || dots || name.contains(strange) {
        return Err(SpecError::new(format!(
            "`{}` is no name of a network interface: they have at most {NAME_BYTES_MAX} bytes, no \
             blank and none of / : %; write one that `ip link` lists",
            name.escape_default()
        )));
    }
    Ok(())
}
