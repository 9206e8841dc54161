//! How this program was built, as far as its figures depend on it.

/// The version, as `--version` and reports name it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether the compiler was told to optimise for debugging.
pub(crate) const DEBUG: bool = cfg!(debug_assertions);

/// What a debug build has to shout before and after every run.
pub(crate) const DEBUG_WARNING: &str = "THIS IS A DEBUG BUILD and its figures mean nothing: \
build with 'cargo build --release' and run target/release/linerate";

/// The commit it was built from, `-dirty` when files differ from it; none outside of git.
pub(crate) fn commit() -> Option<&'static str> {
    Some(env!("LINERATE_COMMIT")).filter(|commit| !commit.is_empty())
}
