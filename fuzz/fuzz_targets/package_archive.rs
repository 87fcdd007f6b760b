#![no_main]

use aiwf_package::{check, read_archive};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match read_archive(bytes) {
        Ok(files) => {
            for name in files.keys() {
                assert!(!name.starts_with('/') && !name.contains('\\') && name.split('/').all(|part| part != ".."));
            }
            check(files);
        }
        Err(error) => assert!(!error.reasons.is_empty()),
    }
});
