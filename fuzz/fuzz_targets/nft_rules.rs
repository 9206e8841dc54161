//! libFuzzer's way into `fuzz::nft_rules`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::nft_rules(bytes));
