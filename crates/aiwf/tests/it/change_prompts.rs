//! The prompt of every phase of a change, as a whole.

use crate::change::{Change, IMPLEMENTATION, PLAN, verdict};
use crate::project;

fn short(phase: &str) -> String {
    format!("{phase} as {{{{AGENT}}}}.\n{{{{PROJECT_CONTEXT}}}}\n{{{{ARTIFACTS}}}}\n")
}

#[test]
fn each_phase_sees_its_template_the_files_and_what_came_before() {
    let mut project = project().file("AGENTS.md", "Speak plainly.\n");
    for phase in ["plan", "challenge", "implement", "review", "archive"] {
        project = project.file(&format!(".aiwf/templates/system/BASE-{phase}.md"), short(phase));
    }
    let change = Change::in_project(project, "");
    change.walk("plan", PLAN);
    insta::assert_snapshot!(change.text("iteration-1/plan-prompt.md"), @"");
    change.walk("challenge", &verdict("PASS"));
    insta::assert_snapshot!(change.text("iteration-1/challenge-prompt.md"), @"");
    change.walk("implement", IMPLEMENTATION);
    insta::assert_snapshot!(change.text("iteration-1/implement-prompt.md"), @"");
    change.walk("review", &verdict("NEEDS_CHANGES"));
    insta::assert_snapshot!(change.text("iteration-1/review-prompt.md"), @"");
    change.walk("implement", IMPLEMENTATION);
    insta::assert_snapshot!(change.text("iteration-2/implement-prompt.md"), @"");
    change.walk("review", &verdict("PASS"));
    change.walk("archive", "# Record\n");
    insta::assert_snapshot!(change.text("iteration-2/archive-prompt.md"), @"");
}
