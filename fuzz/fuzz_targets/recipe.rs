//! libFuzzer's way into `fuzz::recipe`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::recipe(bytes));
