//! The prompt of every phase of a change, as a whole.

use aiwf_engine::config::Flags;

use crate::driver::{Change, IMPLEMENTATION, TASKS, verdict};
use crate::scene::Scene;

fn short(phase: &str) -> String {
    format!("{phase} as {{{{AGENT}}}}.\n{{{{PROJECT_CONTEXT}}}}\n{{{{ARTIFACTS}}}}\n")
}

#[test]
fn each_phase_sees_its_template_the_files_and_what_came_before() {
    let mut scene = Scene::new().file("AGENTS.md", "Speak plainly.\n");
    for phase in ["plan", "challenge", "implement", "review", "archive"] {
        scene = scene.file(&format!(".aiwf/templates/system/BASE-{phase}.md"), short(phase));
    }
    let change = Change::in_scene(scene, Flags::default());
    change.walk("plan", TASKS);
    insta::assert_snapshot!(change.text("iteration-1/plan-prompt.md"), @r#"
    <prompt>
    <system_prompt>plan as BASE.
    Speak plainly.
    (No artifacts are given.)</system_prompt>
    <context>
    <file path="src/greet.txt">hello
    </file>
    </context>
    <instructions>Greet the world</instructions>
    </prompt>
    "#);
    change.walk("challenge", &verdict("PASS"));
    insta::assert_snapshot!(change.text("iteration-1/challenge-prompt.md"), @r#"
    <prompt>
    <system_prompt>challenge as BASE.
    Speak plainly.
    - `plan`</system_prompt>
    <context>
    <file path="src/greet.txt">hello
    </file>
    <artifact name="plan"># Plan

    ### 1.1 Greet
    - Files: src/greet.txt
    </artifact>
    </context>
    <instructions>Challenge the plan of this change:

    Greet the world</instructions>
    </prompt>
    "#);
    change.walk("implement", IMPLEMENTATION);
    insta::assert_snapshot!(change.text("iteration-1/implement-prompt.md"), @r#"
    <prompt>
    <system_prompt>implement as BASE.
    Speak plainly.
    - `plan`
    - `challenge`</system_prompt>
    <context>
    <file path="src/greet.txt">hello
    </file>
    <artifact name="plan"># Plan

    ### 1.1 Greet
    - Files: src/greet.txt
    </artifact>
    <artifact name="challenge"><![CDATA[## Assessment

    Well.

    <review>PASS</review>
    ]]></artifact>
    </context>
    <instructions>Implement the approved plan of this change:

    Greet the world</instructions>
    </prompt>
    "#);
    change.walk("review", &verdict("NEEDS_CHANGES"));
    insta::assert_snapshot!(change.text("iteration-1/review-prompt.md"), @r#"
    <prompt>
    <system_prompt>review as BASE.
    Speak plainly.
    - `plan`
    - `challenge`
    - `implementation`</system_prompt>
    <context>
    <file path="src/greet.txt">hello
    </file>
    <artifact name="plan"># Plan

    ### 1.1 Greet
    - Files: src/greet.txt
    </artifact>
    <artifact name="challenge"><![CDATA[## Assessment

    Well.

    <review>PASS</review>
    ]]></artifact>
    <artifact name="implementation"><![CDATA[1.1 Done.
    <task_status id="1.1">COMPLETED</task_status>
    1.2 No.
    <task_status id="1.2">FAILED</task_status>
    <<<FILE: src/greet.txt>>>
    hello, world
    <<<FILE: src/new.txt>>>
    new
    ]]></artifact>
    </context>
    <instructions>Review the implementation of this change:

    Greet the world

    Tasks that were reported as FAILED: 1.2.</instructions>
    </prompt>
    "#);
    change.walk("implement", IMPLEMENTATION);
    insta::assert_snapshot!(change.text("iteration-2/implement-prompt.md"), @r#"
    <prompt>
    <system_prompt>implement as BASE.
    Speak plainly.
    - `plan`
    - `challenge`
    - `implementation`
    - `review`</system_prompt>
    <context>
    <file path="src/greet.txt">hello
    </file>
    <artifact name="plan"># Plan

    ### 1.1 Greet
    - Files: src/greet.txt
    </artifact>
    <artifact name="challenge"><![CDATA[## Assessment

    Well.

    <review>PASS</review>
    ]]></artifact>
    <artifact name="implementation"><![CDATA[1.1 Done.
    <task_status id="1.1">COMPLETED</task_status>
    1.2 No.
    <task_status id="1.2">FAILED</task_status>
    <<<FILE: src/greet.txt>>>
    hello, world
    <<<FILE: src/new.txt>>>
    new
    ]]></artifact>
    <artifact name="review"><![CDATA[## Assessment

    Well.

    <review>NEEDS_CHANGES</review>
    ]]></artifact>
    </context>
    <instructions>Implement the approved plan of this change:

    Greet the world

    The last review ended with NEEDS_CHANGES: resolve its findings.

    Tasks that were reported as FAILED: 1.2.</instructions>
    </prompt>
    "#);
    change.walk("review", &verdict("PASS"));
    change.walk("archive", "# Record\n");
    // The record sees what the last implementation saw, but for the verdict since.
    let implement = change.text("iteration-2/implement-prompt.md");
    let archive = change.text("iteration-2/archive-prompt.md");
    let (before, context, after) = around_context(&archive);
    let implemented = around_context(&implement).1.replace("<review>NEEDS_CHANGES", "<review>PASS");
    assert_eq!(context, implemented);
    insta::assert_snapshot!(format!("{before}[context]{after}"), @r"
    <prompt>
    <system_prompt>archive as BASE.
    Speak plainly.
    - `plan`
    - `challenge`
    - `implementation`
    - `review`</system_prompt>
    [context]
    <instructions>Write the closing record of this change:

    Greet the world

    Tasks that were reported as FAILED: 1.2.</instructions>
    </prompt>
    ");
}

/// A prompt before its context, the context, and the rest.
#[track_caller]
fn around_context(prompt: &str) -> (&str, &str, &str) {
    let (before, rest) = prompt.split_once("<context>").unwrap();
    let (context, after) = rest.split_once("</context>").unwrap();
    (before, context, after)
}
