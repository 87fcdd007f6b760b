//! The paths of a session's files, relative to the session.
//!
//! Journals name files by these paths, so they are part of the journal's format.

use crate::flow::Flow;
use crate::phase::Phase;

impl Flow {
    pub fn prompt_path(&self, phase: Phase, iteration: u32) -> Option<String> {
        self.spec(phase).map(|spec| format!("iteration-{iteration}/{}-prompt.md", spec.file))
    }

    pub fn system_prompt_path(&self, phase: Phase, iteration: u32) -> Option<String> {
        self.spec(phase).map(|spec| format!("iteration-{iteration}/{}-system-prompt.md", spec.file))
    }

    pub fn response_path(&self, phase: Phase, iteration: u32) -> Option<String> {
        self.spec(phase).map(|spec| format!("iteration-{iteration}/{}-response.md", spec.file))
    }

    /// The phase whose reply this file is, in any iteration.
    pub fn phase_of_response(&self, path: &str) -> Option<Phase> {
        let (iteration, _) = split_iteration(path)?;
        self.names().find(|phase| self.response_path(*phase, iteration).as_deref() == Some(path))
    }
}

/// The path of the K-th rejected version of a file: `plan-response.rejected-1.md`.
pub fn rejected_path(path: &str, number: u32) -> String {
    format!("{}.rejected-{number}.md", path.strip_suffix(".md").unwrap_or(path))
}

/// Whether a path is that of a rejected version of `of`.
pub(crate) fn is_rejected_version(path: &str, of: &str) -> bool {
    let number = || {
        let rest = path.strip_prefix(of.strip_suffix(".md").unwrap_or(of))?;
        rest.strip_prefix(".rejected-")?.strip_suffix(".md")?.parse::<u32>().ok()
    };
    number().is_some_and(|number| rejected_path(of, number) == path)
}

/// The path of a code file of an iteration.
pub fn code_path(iteration: u32, file: &str) -> String {
    format!("iteration-{iteration}/code/{file}")
}

/// The iteration and name of a code file.
pub fn code_file(path: &str) -> Option<(u32, &str)> {
    let (iteration, rest) = split_iteration(path)?;
    Some((iteration, rest.strip_prefix("code/")?))
}

fn split_iteration(path: &str) -> Option<(u32, &str)> {
    let (iteration, rest) = path.strip_prefix("iteration-")?.split_once('/')?;
    Some((iteration.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_a_file_is() {
        let flow = Flow::find_built_in(Flow::GENERATE).unwrap();
        let phase = |path: &str| flow.phase_of_response(path).map(|phase| phase.as_str().to_owned());
        assert_eq!(phase("iteration-12/generation-response.md").as_deref(), Some("generating"));
        for other in [
            "generation-response.md",
            "iteration-1/generation-prompt.md",
            "iteration-1/generation-response.rejected-1.md",
            "iteration-1/unknown-response.md",
            "iteration-x/generation-response.md",
            "iteration-1/code/generation-response.md",
        ] {
            assert_eq!(phase(other), None, "{other}");
        }
        assert_eq!(code_file(&code_path(3, "src/a.rs")), Some((3, "src/a.rs")));
        assert_eq!(code_file("iteration-3/codes/a.rs"), None);
        assert_eq!(code_file("plan.md"), None);
    }

    #[test]
    fn a_rejected_version_is_known_by_the_file_it_is_of() {
        let reply = "iteration-1/plan-response.md";
        assert_eq!(rejected_path(reply, 2), "iteration-1/plan-response.rejected-2.md");
        assert!(is_rejected_version(&rejected_path(reply, 2), reply));
        for other in [
            reply,
            "iteration-1/plan-prompt.rejected-2.md",
            "iteration-2/plan-response.rejected-2.md",
            "iteration-1/plan-response.rejected-+2.md",
            "iteration-1/plan-response.rejected-.md",
            "iteration-1/plan-response-notes.rejected-1.md",
        ] {
            assert!(!is_rejected_version(other, reply), "{other}");
        }
    }
}
