//! Reads the files of a reply: a value and problems, never a panic.
//!
//! Run it: `cargo run -p aiwf-reply --example read_reply`.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use aiwf_reply::parse_file_markers;

const REPLY: &str = "\
Here you are.
<<<FILE: src/greet.py>>>
def greet(name=\"world\"):
    return f\"hello, {name}\"
<<<FILE: >>>
a file without a name
";

fn main() {
    let parsed = parse_file_markers(REPLY);
    for file in &parsed.value {
        println!("{} has {} bytes", file.path, file.content.len());
    }
    // Whether a path may be written is decided when files are put in place, not here.
    for problem in &parsed.problems {
        println!("problem: {}", problem.message);
    }
}
