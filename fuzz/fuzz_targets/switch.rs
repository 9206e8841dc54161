//! libFuzzer's way into `fuzz::switch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::switch(bytes));
