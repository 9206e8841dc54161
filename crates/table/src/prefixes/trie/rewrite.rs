//! The slots that a change touches.
use super::*;
impl Trie {
    pub(in crate::prefixes) fn rewrite<A: Address>(
        &mut self,
        _: A,
        _: A,
        _: &std::collections::BTreeMap<A, u32>,
    ) -> Result<bool, CompileError> {
        Ok(false)
    }
}
