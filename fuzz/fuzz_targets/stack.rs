//! libFuzzer's way into `fuzz::stack`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::stack(bytes));
