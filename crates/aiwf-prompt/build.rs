//! Lays out the public vocabularies for `src/vocabulary.rs`: at a tenth of their size in the library, and ready to use
//! without loading.

#![expect(clippy::disallowed_methods, reason = "a build script writes files for the compiler")]

use std::error::Error;
use std::path::Path;

use bpe_openai::byte_pair_encoding::BytePairEncoding;

#[path = "src/token_slots.rs"]
#[allow(dead_code, reason = "used only by the program")]
mod token_slots;

use token_slots::{EMPTY, Slot, place};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/token_slots.rs");
    let directory = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    for (name, tokenizer) in
        [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())]
    {
        std::fs::write(Path::new(&directory).join(name), lay_out(&tokenizer.bpe)?)?;
    }
    Ok(())
}

fn lay_out(bpe: &BytePairEncoding) -> Result<Vec<u8>, Box<dyn Error>> {
    // At most half full, so that most searches end at their first slot.
    let n_slots = (2 * bpe.num_tokens()).next_power_of_two();
    let mut slots = vec![EMPTY; n_slots];
    let mut all_bytes = Vec::new();
    for rank in 0..u32::try_from(bpe.num_tokens())? {
        let bytes = bpe.token_bytes(rank);
        let (first, tag) = place(bytes, n_slots as u64);
        let slot = Slot { start: all_bytes.len() as u64, len: bytes.len() as u64, rank: rank.into(), tag };
        let packed = slot.pack().ok_or("a token does not fit its slot")?;
        let (before, after) = slots.split_at_mut(usize::try_from(first)?);
        let free = after.iter_mut().chain(before).find(|slot| **slot == EMPTY);
        *free.ok_or("the table is full")? = packed;
        all_bytes.extend_from_slice(bytes);
    }
    let numbers = std::iter::once(n_slots as u64).chain(slots);
    Ok(numbers.flat_map(u64::to_le_bytes).chain(all_bytes).collect())
}
