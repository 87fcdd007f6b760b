use serde_json::json;

use super::*;
use crate::fixture::Fixture;

fn package() -> Package {
    Package::from_files(Fixture::new().files).unwrap()
}

#[test]
fn one_workflow_needs_no_name_and_several_do() {
    let one = package();
    assert_eq!(one.workflow(None).unwrap().id, "hello-branch");
    assert_eq!(one.workflow(Some(" ")).unwrap().id, "hello-branch");
    assert_eq!(one.workflow(Some("hello-branch")).unwrap().id, "hello-branch");
    assert_eq!(one.workflow(Some("x")).unwrap_err().code(), "WORKFLOW_REF_MISMATCH");
    let record = |id: &str| json!({ "id": id, "workflow": "workflow.md", "graph": "workflow.graph.json" });
    let files = Fixture::new().set("bmad.json", "/workflows", json!([record("a"), record("b")])).files;
    let several = Package::from_files(files).unwrap();
    assert_eq!(several.workflow(None).unwrap_err().code(), "WORKFLOW_REF_REQUIRED");
    assert_eq!(several.workflow(Some("b")).unwrap().id, "b");
    let error = several.workflow(Some("x")).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("WORKFLOW_REF_UNKNOWN", "the package has no workflow `x`: it has `a`, `b`")
    );
}

#[test]
fn a_known_package_equals_the_checked_one_and_a_changed_one_returns_its_hash() {
    let directory = tempfile::tempdir().unwrap();
    let checked = package();
    let path = checked.extract(directory.path()).unwrap();
    let known = Package::load_known(&path, &checked.hash).unwrap().unwrap();
    assert_eq!(Package { warnings: Vec::new(), ..checked.clone() }, known);
    assert_eq!(Package::load_known(&path, "other").unwrap().unwrap_err(), checked.hash);
}

#[test]
fn the_agent_of_a_node_defaults_to_that_of_the_run() {
    let package = package();
    let graph = &package.workflows[0].graph;
    let decide = graph.node("decide-02-project-type").unwrap();
    let end = graph.node("end-99").unwrap();
    assert_eq!(package.effective_agent(decide, "analyst").unwrap().id, "pm");
    // An empty id counts as none.
    assert_eq!(package.effective_agent(end, "analyst").unwrap().id, "analyst");
    assert_eq!(package.effective_agent(end, "ghost").unwrap_err().code(), "AGENT_NOT_FOUND");
    assert_eq!(package.default_agent(&package.workflows[0]).unwrap().id, "analyst");
}

#[test]
fn a_definition_is_read_and_validated() {
    let mut package = package();
    let agent = get_agent_definition(&package, "pm").unwrap();
    assert_eq!(agent.persona.principles(), ["one", "two"]);
    assert_eq!(agent.tools, crate::AgentTools::default());
    assert!(matches!(get_agent_definition(&package, "x"), Err(SelectError::AgentUnknown { .. })));
    package.files.insert("agents.json".to_owned(), b"{\"schemaVersion\":\"1.1\",\"agents\":[]}".to_vec());
    assert!(matches!(get_agent_definition(&package, "pm"), Err(SelectError::AgentInvalid { .. })));
}

#[test]
fn an_invalid_package_reports_its_first_error() {
    let error = Package::from_files(Fixture::new().without("agents.json").files).unwrap_err();
    assert_eq!(
        error.to_string(),
        "package has 1 error: bmad.json#/entry/agents: file `agents.json` is not in the package"
    );
}

#[test]
fn archive_and_directory_are_the_same_package() {
    let package = package();
    let bytes = crate::pack(&package).unwrap();
    let again = Package::from_files(crate::read_archive(&bytes).unwrap()).unwrap();
    assert_eq!(again, package);
}
