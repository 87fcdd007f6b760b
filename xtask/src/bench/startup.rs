//! What it costs to start: the binary that says its version against the least a Rust program can do.

use crate::bench::lab::{Lab, write};
use crate::bench::table::Row;
use crate::failure::Failure;
use crate::workspace;

const SMALLEST: &str = "fn main() {\n    println!(\"aiwf 0.0.0\");\n}\n";

/// Many, since one run takes about a millisecond.
const N_TURNS: usize = 101;

pub(super) fn startup(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let source = lab.path("smallest.rs");
    let smallest = lab.path("smallest");
    write(&source, SMALLEST)?;
    workspace::capture(lab.rustc().args(["--edition", "2024", "-O", "-o"]).arg(&smallest).arg(&source))?;
    let [ours, reference] = lab.take_turns(
        N_TURNS,
        [
            &|| {
                let mut command = lab.aiwf()?;
                command.arg("--version");
                Ok(command)
            },
            &|| Ok(lab.program(&smallest)),
        ],
    )?;
    Ok(vec![Row::of_times("aiwf --version", &ours, ("smallest program", &reference)).at_most(3.0)])
}
