//! `aiwf comment`, `revise`, `diff` of versions and `approve --note`: flags, printing, exit codes.

use crate::json;
use crate::scene::Scene;

const PLAN: &str = "# Plan\n\n1. Store in Postgres\n2. Print JSON\n";

/// A session whose plan is at its gate.
fn scene() -> Scene {
    let scene = Scene { project: crate::project() };
    scene.exits("do 'Add a flag' --agent manual", 3);
    assert_eq!(scene.command("respond").stdin(PLAN).run().exit_code(), 0);
    scene
}

#[test]
fn a_comment_is_added_listed_resolved_and_removed() {
    let scene = scene();
    let added = scene.command("comment plan:3 'We have no database'").run();
    insta::assert_snapshot!(added.stdout_text(), @r"
    comment 1 on plan@1, line 3
       > 1. Store in Postgres
    ");
    let added = scene.command("comment latest plan --json").stdin("Too long\n").run();
    assert_eq!(json(&added)["comment"]["number"], 2);
    let listed = json(&scene.exits("comment list --json", 0));
    assert_eq!(listed["comments"][0]["now"]["fate"], "unchanged");
    assert_eq!(listed["comments"][0]["lines"]["first"], 3);
    assert_eq!(listed["comments"][1]["text"], "Too long");
    scene.exits("comment resolve latest 1 --dismiss", 0);
    assert_eq!(json(&scene.exits("comment list --open --json", 0))["comments"].as_array().unwrap().len(), 1);
    scene.exits("comment rm 2", 0);
    assert_eq!(scene.exits("comment list --open", 0).stdout_text(), "no open comments\n");
    // Without comments and without feedback there is nothing to say.
    let refused = scene.exits("reject", 1);
    assert!(refused.stderr_text().contains("error: a rejection needs feedback"), "{refused}");
}

#[test]
fn mistakes_are_told_with_one_thing_to_do() {
    let scene = scene();
    for (command, exit, expected) in [
        ("comment", 2, "error: missing `<PLACE>`"),
        ("comment plan:99 x", 1, "error: `plan` has no line 99: it has 4"),
        ("comment plan:4-2 x", 1, "error: `4-2` is not a line or a range of lines"),
        ("comment plan@7 x", 1, "has no version 7 of `plan`\n\nhint: versions: plan@1"),
        ("comment pln:1 x", 1, "has no `pln` yet"),
        ("comment plan:4-2 x", 1, "hint: the end is before the start"),
        ("comment plan:99 x", 1, "plan@1` prints it; lines start at 1"),
        ("comment latest plan:1 a b", 2, "error: unknown argument `b`"),
        ("comment resolve", 2, "error: missing `<N>`"),
        ("comment lst", 2, "hint: did you mean `aiwf comment list`?"),
        ("comment lsit", 2, "hint: did you mean `aiwf comment list`?"),
        ("revise latest code --reason x", 1, "cannot be reopened"),
        ("comment plan:1 ' '", 1, "error: the text is empty"),
        ("comment resolve 9", 1, "error: there is no comment 9"),
        ("comment resolve nine", 2, "`nine` is not valid for `<N>`"),
        (
            "revise plan --reason x",
            1,
            "error: `plan` is not approved: the plan reply is waiting for approval",
        ),
        ("revise --reason x", 2, "error: missing `<ARTIFACT>`"),
        ("diff plan@1..9", 1, "has no version 9 of `plan`"),
    ] {
        let outcome = scene.exits(command, exit);
        assert!(outcome.stderr_text().contains(expected), "{command}: {outcome}");
        assert!(outcome.stderr_text().contains("hint: "), "{command}: {outcome}");
    }
}

#[test]
fn versions_are_shown_compared_and_reopened() {
    let scene = scene();
    assert!(!scene.exits("status latest", 0).stdout_text().contains("versions"));
    scene.exits("comment plan:3 'No database'", 0);
    let status = scene.exits("status latest", 0).stdout_text();
    assert!(
        status.contains("comments  1 open; aiwf reject ") && status.contains(" sends them\n"),
        "{status}"
    );
    let rejected = scene.exits("reject", 0).stdout_text();
    assert!(rejected.contains("comments  1 open\nversions  plan@1 rejected\n"), "{rejected}");
    assert_eq!(scene.command("respond").stdin("# Plan\n\n1. Print JSON\n").run().exit_code(), 0);
    assert_eq!(scene.exits("show plan@1", 0).stdout_text(), PLAN);
    let diff = scene.exits("diff plan@2", 0).stdout_text();
    assert_eq!(diff, scene.exits("diff latest plan@1..2", 0).stdout_text());
    assert_eq!(diff, scene.exits("diff plan", 0).stdout_text());
    assert!(diff.contains("-1. Store in Postgres"), "{diff}");
    let approved = scene.exits("approve --note 'Keep the output' --json", 0);
    let versions = json(&approved)["versions"].clone();
    assert_eq!(
        (&versions[1]["name"], &versions[1]["note"]["text"]),
        (&"plan@2".into(), &"Keep the output".into())
    );
    let revised = scene.exits("revise plan --reason 'No JSON'", 0);
    let revised = revised.stdout_text();
    assert!(revised.contains("versions  plan@1 rejected, plan@2 reopened"), "{revised}");
    assert!(revised.contains("reopened  plan@2 by ") && revised.contains(": No JSON\n"), "{revised}");
    let shown = scene.exits("show plan", 0);
    assert!(shown.stderr_text().contains("warning: reopened: plan@2 by "), "{shown}");
    assert!(!scene.exits("show plan@1", 0).stderr_text().contains("reopened"));
    let events = scene.exits("events latest", 0).stdout_text();
    let rows: Vec<&str> =
        events.lines().filter_map(|line| line.get(32..)).filter(|row| !row.starts_with("prompt-")).collect();
    insta::assert_snapshot!(rows.join("\n"));
}
