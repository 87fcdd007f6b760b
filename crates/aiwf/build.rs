//! Lists the demo's recordings, so that recording them anew needs no change of code.

use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manifest = std::env::var("CARGO_MANIFEST_DIR")?;
    let directory = Path::new(&manifest).join("../../examples/shop/cassette").canonicalize()?;
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut names: Vec<_> =
        std::fs::read_dir(&directory)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    names.sort();
    let mut list = "&[".to_owned();
    for path in names {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        write!(list, "({name:?}, include_bytes!({:?})),", path.display().to_string())?;
    }
    list.push(']');
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("cassette.rs"), list)?;
    Ok(())
}
