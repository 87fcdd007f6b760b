//! `aiwf package`: workflow packages from the command line.

use insta::assert_snapshot;

use crate::{json, project};

/// A package of the repository.
fn example(name: &str) -> String {
    format!("{}/../../examples/packages/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_examples_pass() {
    for name in ["release-notes", "bug-triage"] {
        let checked = json(&project().run(&format!("package check {} --json", example(name))).success());
        assert_eq!((&checked["errors"], &checked["warnings"]), (&0.into(), &0.into()), "{checked:#}");
        assert_eq!(checked["package"], name);
    }
}

#[test]
fn a_new_package_passes_is_packed_and_passes_again() {
    let project = project();
    let made = project.run("package new my-flow").success();
    assert!(made.stdout_text().ends_with("next: aiwf package check my-flow\n"));
    assert_snapshot!(project.run("package check my-flow"), @"
    --- stdout
    ok
    --- exit code 0
    ");
    let packed = json(&project.run("package pack my-flow --json").success());
    assert!(packed["path"].as_str().unwrap().ends_with("/my-flow.bmad"), "{packed}");
    let again = json(&project.run("package pack my-flow -o other.zip --json").success());
    assert_eq!(packed["sha256"], again["sha256"]);
    assert_eq!(packed["bytes"], again["bytes"]);
    for path in ["my-flow", "my-flow.bmad", "other.zip"] {
        let shown = json(&project.run(&format!("package show {path} --json")).success());
        assert_eq!(shown["sha256"], packed["sha256"], "{path}");
    }
    let refused = project.run("package new my-flow");
    assert_eq!(refused.exit_code(), 1);
    assert!(refused.stderr_text().contains("already exists"));
    assert_eq!(project.run("package new ../x").exit_code(), 1);
}

#[test]
fn findings_have_a_place_and_decide_the_exit_code() {
    let project = project();
    drop(project.run("package new flow").success());
    let graph = String::from_utf8(project.read("flow/workflow.graph.json")).unwrap();
    let project = project.file("flow/workflow.graph.json", graph.replace("\"isDefault\": true,", ""));
    assert_snapshot!(project.run("package check flow"), @"
    --- stdout
    warning: workflow.graph.json#/nodes/1: decision `choose` has no default edge
      hint: set `isDefault` on one of `document`, `notes-only`
    ok, 1 warning
    --- exit code 0
    ");
    let project = project.file(
        "flow/workflow.graph.json",
        graph
            .replacen("\"agentId\": \"writer\"", "\"agentId\": \"ghost\"", 1)
            .replace("steps/write.md", "steps/wrote.md"),
    );
    assert_snapshot!(project.run("package check flow"), @"
    --- stdout
    error: workflow.graph.json#/nodes/0/agentId: the package has no agent `ghost`
      hint: use one of `writer`
    error: workflow.graph.json#/nodes/2/file: file `steps/wrote.md` is not in the package
      hint: add the file, or correct the path: paths are relative to the package
    2 errors
    --- exit code 1
    ");
    let checked = json(&project.run("package check flow --json"));
    assert_eq!(checked["exit_code"], 1);
    assert_snapshot!(checked["findings"][0].to_string(), @r#"{"severity":"error","code":"unknown-agent","file":"workflow.graph.json","pointer":"/nodes/0/agentId","message":"the package has no agent `ghost`","hint":"use one of `writer`","key":"agentId"}"#);
    for command in ["package pack flow", "package show flow", "package graph flow"] {
        let outcome = project.run(command);
        assert_eq!(outcome.exit_code(), 1, "{command}");
        assert!(outcome.stderr_text().contains("package has 2 errors"), "{outcome}");
    }
}

#[test]
fn a_path_that_is_not_a_package_is_reported() {
    let project = project().file("x.bmad", "not an archive");
    assert_snapshot!(project.run("package check x.bmad"), @"
    --- stdout
    error: x.bmad: it is not a zip archive
      hint: nothing was unpacked; pack the package again with `aiwf package pack DIR`
    1 error
    --- exit code 1
    ");
    let outcome = project.run("package check none");
    assert_eq!(outcome.exit_code(), 1);
    assert!(outcome.stderr_text().contains("hint: pass the directory of a package"), "{outcome}");
    assert_eq!(project.run("package pack x.bmad").exit_code(), 1);
}

#[test]
fn graphs_are_drawn_in_three_ways() {
    let project = project();
    let path = example("bug-triage");
    let mermaid = project.run(&format!("package graph {path}")).success().stdout_text();
    assert!(mermaid.starts_with("flowchart TD\n"));
    let dot = project.run(&format!("package graph {path} --format dot")).success().stdout_text();
    assert!(dot.starts_with("digraph \"bug-triage\""));
    drop(project.run(&format!("package graph {path} --format svg -o g.svg")).success());
    assert!(project.read("g.svg").starts_with(b"<svg "));
    let unknown = project.run(&format!("package graph {path} --workflow none"));
    assert_eq!(unknown.exit_code(), 1);
    assert_eq!(project.run(&format!("package graph {path} --format png")).exit_code(), 2);
}

#[test]
fn a_package_shows_its_nodes_ways_and_agents() {
    let text = project().run(&format!("package show {}", example("release-notes"))).success().stdout_text();
    let (_, rest) = text.split_once("\n\n").unwrap();
    assert_snapshot!(rest, @"
    workflow release-notes
     > collect    step      archivist  → sort (next)
       sort       step      archivist  → write (next)
       write      step      editor  → hand-over (next)
       hand-over  end       editor

    agents
      archivist  🗂 Ada, Archivist
      editor     📝 Ed, Editor
    ");
}

#[test]
fn the_problems_of_all_files_are_reported_together() {
    let project = project();
    drop(project.run("package new flow").success());
    let project = project
        .file("flow/bmad.json", r#"{ "schemaVersion": "1.1" }"#)
        .file("flow/agents.json", "{")
        .file("flow/workflow.graph.json", r#"{ "nodes": 7 }"#)
        .file("flow/workflow.md", "no front matter\n")
        .file("flow/steps/extra.md", "---\nschemaVersion: [\n---\n");
    let checked = json(&project.run("package check flow --json"));
    assert_eq!(checked["exit_code"], 1);
    let findings = checked["findings"].as_array().unwrap();
    for file in ["bmad.json", "agents.json", "workflow.graph.json", "workflow.md", "steps/extra.md"] {
        assert!(findings.iter().any(|finding| finding["file"] == file), "{file}: {checked:#}");
    }
}

#[test]
fn a_picture_carries_the_id_and_the_whole_title_of_every_node() {
    let project = project();
    drop(project.run("package new flow").success());
    let graph = String::from_utf8(project.read("flow/workflow.graph.json")).unwrap();
    let mut graph: serde_json::Value = serde_json::from_str(&graph).unwrap();
    let title = "A title that is longer than any box of the picture can show";
    graph["nodes"][0]["title"] = title.into();
    let project = project.file("flow/workflow.graph.json", graph.to_string());
    let svg = project.run("package graph flow --format svg").success().stdout_text();
    for node in graph["nodes"].as_array().unwrap() {
        let id = node["id"].as_str().unwrap();
        assert!(svg.contains(&format!("<g id=\"node-{id}\"><title>{id}")), "{svg}");
    }
    assert!(svg.contains(&format!(": {title}</title>")), "{svg}");
}
