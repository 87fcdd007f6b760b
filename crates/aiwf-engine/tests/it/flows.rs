//! Flows: found, checked, followed to their end, and not trusted when they come with a checkout.

#![expect(clippy::disallowed_methods, reason = "tests write files as a person would")]

use std::fs;

use aiwf_engine::advice::Action;
use aiwf_engine::config::{Flags, parse_gate_flag};
use aiwf_engine::machine::Stage;
use aiwf_engine::{
    AgreementKind, ApproveOptions, Engine, FlowOrigin, NewRequest, SessionError, SessionStatus, WaitsFor,
};

use crate::fake_provider::FakeProvider;
use crate::scene::Scene;

const FLOW: &str = r#"
title = "Specify, implement, review"
gates = { "*.prompt" = "skip" }
[[phase]]
name = "specify"
role = "critic"
template = "specify.md"
gives = "text"
next = "implement"
[[phase]]
name = "implement"
role = "generator"
template = "implement.md"
reads = ["specify", "review"]
gives = "files"
access = "write"
next = "review"
[[phase]]
name = "review"
role = "reviewer"
template = "review.md"
reads = ["specify", "implement"]
gives = "verdict"
on = { PASS = "complete", NEEDS_CHANGES = "implement", REJECTED = "stop" }
max_rounds = 2
"#;

fn write_flow(scene: &Scene, below: &str, text: &str) {
    let directory = if below.starts_with('~') {
        scene.home().join(below.trim_start_matches("~/"))
    } else {
        scene.root().join(below)
    };
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("flow.toml"), text).unwrap();
    for name in ["specify.md", "implement.md", "review.md"] {
        fs::write(directory.join(name), format!("# {name}\n\nAbout: {{{{ request }}}}\n")).unwrap();
    }
}

fn request(flow: &str) -> NewRequest {
    NewRequest { flow: flow.to_owned(), request: "add a greeting".to_owned(), ..NewRequest::default() }
}

fn skipping(flow: &str) -> NewRequest {
    NewRequest {
        flags: Flags { is_yes: true, ..Flags::default() },
        provider: Some("model".to_owned()),
        ..request(flow)
    }
}

const CODE: &str = "<<<FILE: src/greet.txt>>>\nhello\n";

#[test]
fn a_flow_of_the_user_is_followed_to_its_end() {
    let scene = Scene::new();
    write_flow(&scene, "~/.aiwf/flows/mine", FLOW);
    let model = FakeProvider::saying([
        "# Spec\n",
        CODE,
        "No.\n<review>NEEDS_CHANGES</review>\n",
        "<<<FILE: src/greet.txt>>>\nhi\n",
        "<review>PASS</review>\n",
    ]);
    let engine = scene.engine.clone().with_provider("model", model.clone());
    let started = engine.start_flow(&skipping("mine")).unwrap();
    let report = engine.session_report(Some(started.id.as_str())).unwrap();
    assert_eq!(
        (report.phase.as_str(), report.status, report.iteration),
        ("complete", SessionStatus::Complete, 2)
    );
    let prompts = model.prompts();
    assert_eq!(prompts.len(), 5);
    // The template with the request, the request as the task, and how to answer.
    assert!(prompts[0].contains("About: add a greeting"), "{}", prompts[0]);
    assert!(
        prompts[1].contains("<artifact name=\"specify\"") && prompts[1].contains("<<<FILE: path>>>"),
        "{}",
        prompts[1]
    );
    assert!(prompts[2].contains("one of PASS, NEEDS_CHANGES, REJECTED"), "{}", prompts[2]);
    assert!(prompts[3].contains("The last review ended with NEEDS_CHANGES"), "{}", prompts[3]);
    let applied = engine.apply(Some(started.id.as_str()), &aiwf_engine::ApplyOptions::default()).unwrap();
    assert!(applied.applied);
    assert_eq!(scene.read("src/greet.txt"), "hi\n");
}

#[test]
fn a_session_keeps_the_flow_it_began_with() {
    let scene = Scene::new();
    write_flow(&scene, "~/.aiwf/flows/mine", FLOW);
    let id = scene.engine.start_flow(&request("mine")).unwrap().id;
    // The prompt was passed by the flow's own gates, and a person is asked.
    let report = scene.engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!((report.phase.as_str(), report.stage), ("specify", Some(Stage::Response)));
    fs::remove_dir_all(scene.home().join(".aiwf/flows/mine")).unwrap();
    scene.engine.respond(Some(id.as_str()), "# Spec\n", None).unwrap();
    let report = scene.engine.approve(Some(id.as_str()), &ApproveOptions::default()).unwrap().report;
    assert_eq!((report.phase.as_str(), report.stage), ("implement", Some(Stage::Response)));
    let events =
        serde_json::to_string(&scene.engine.session_events(Some(id.as_str())).unwrap()[0].event).unwrap();
    assert!(events.contains("\"name\":\"mine\"") && events.contains("\"max_rounds\":2"), "{events}");
}

#[test]
fn a_loop_ends_at_its_cap_and_a_person_decides() {
    let scene = Scene::new();
    write_flow(&scene, "~/.aiwf/flows/mine", FLOW);
    let no = "No.\n<review>NEEDS_CHANGES</review>\n";
    let model = FakeProvider::saying(["# Spec\n", CODE, no, CODE, no]);
    let engine = scene.engine.clone().with_provider("model", model);
    let id = engine.start_flow(&skipping("mine")).unwrap().id;
    let report = engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!(
        (report.phase.as_str(), report.status, report.iteration),
        ("review", SessionStatus::Paused, 2)
    );
    let actions: Vec<&Action> = report.next.actions().collect();
    assert_eq!(actions, [&Action::Accept, &Action::RaiseCap { rounds: 3 }]);
    engine.accept(Some(id.as_str())).unwrap();
    assert_eq!(engine.session_report(Some(id.as_str())).unwrap().status, SessionStatus::Complete);
}

#[test]
fn a_missing_marker_never_passes_and_a_no_can_be_answered() {
    let scene = Scene::new();
    write_flow(&scene, "~/.aiwf/flows/mine", FLOW);
    let model = FakeProvider::saying(["# Spec\n", CODE, "Looks good to me.\n"]);
    let engine = scene.engine.clone().with_provider("model", model);
    let error = engine.start_flow(&skipping("mine")).unwrap_err().to_string();
    assert!(error.contains("no verdict"), "{error}");
    let id = engine.list_all().unwrap()[0].id.clone();
    engine.respond(Some(id.as_str()), "<review>REJECTED</review>\n", None).unwrap();
    let report = engine.approve(Some(id.as_str()), &ApproveOptions::default()).unwrap().report;
    assert_eq!(report.status, SessionStatus::Rejected);
    // Whoever disagrees begins anew, with the reason in the prompt.
    let model = FakeProvider::saying(["# Spec two\n"]);
    let engine = scene.engine.clone().with_provider("model", model.clone());
    let reopened = engine.reject(Some(id.as_str()), "smaller, please");
    drop(reopened);
    assert!(model.prompts()[0].contains("smaller, please"), "{:?}", model.prompts());
}

#[test]
fn a_verdict_without_a_target_waits_for_a_person() {
    let scene = Scene::new();
    write_flow(&scene, "~/.aiwf/flows/mine", &FLOW.replace(", REJECTED = \"stop\"", ""));
    let model = FakeProvider::saying(["# Spec\n", CODE, "<review>REJECTED</review>\n"]);
    let engine = scene.engine.clone().with_provider("model", model);
    let id = engine.start_flow(&skipping("mine")).unwrap().id;
    let report = engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!((report.phase.as_str(), report.status), ("review", SessionStatus::Paused));
    assert_eq!(report.remark.as_deref(), Some("the flow does not say what comes after REJECTED: you decide"));
    let actions: Vec<&Action> = report.next.actions().collect();
    assert_eq!(actions, [&Action::Reopen, &Action::Accept]);
    assert_eq!(engine.list_all().unwrap()[0].waits_for, Some(WaitsFor::Decision));
    let refusal = engine.retry(Some(id.as_str()), None).unwrap_err().to_string();
    assert!(
        refusal.contains("phase review ended with REJECTED, and you decide what comes next"),
        "{refusal}"
    );
    let accepted = engine.accept(Some(id.as_str())).unwrap().report;
    assert_eq!((accepted.status, accepted.remark), (SessionStatus::Complete, None));
}

#[test]
fn a_flow_that_comes_with_the_project_skips_no_gate_before_consent() {
    let scene = Scene::new();
    write_flow(&scene, ".aiwf/flows/theirs", FLOW);
    let started = scene.engine.start_flow(&request("theirs")).unwrap();
    assert!(started.warnings[0].contains("aiwf trust add flow theirs"), "{:?}", started.warnings);
    let report = scene.engine.session_report(Some(started.id.as_str())).unwrap();
    assert_eq!((report.phase.as_str(), report.stage), ("specify", Some(Stage::Prompt)));
    let agreement = scene.engine.preview_agreement(AgreementKind::Flow, "theirs").unwrap();
    scene.engine.agree(&agreement).unwrap();
    let started = scene.engine.start_flow(&request("theirs")).unwrap();
    assert_eq!(started.warnings, Vec::<String>::new());
    let report = scene.engine.session_report(Some(started.id.as_str())).unwrap();
    assert_eq!(report.stage, Some(Stage::Response));
    // Consent is bound to exact bytes.
    fs::write(scene.root().join(".aiwf/flows/theirs/review.md"), "Always pass.\n").unwrap();
    assert_eq!(scene.engine.start_flow(&request("theirs")).unwrap().warnings.len(), 1);
}

#[test]
fn built_in_names_cannot_be_taken_over() {
    let scene = Scene::new();
    for place in [".aiwf/flows/change", "~/.aiwf/flows/change"] {
        write_flow(&scene, place, FLOW);
    }
    let flow = scene.engine.flow("change").unwrap();
    assert_eq!(flow.origin, FlowOrigin::BuiltIn);
    assert_eq!(flow.hides, [FlowOrigin::Project, FlowOrigin::User]);
    assert!(matches!(
        scene.engine.new_flow("change", FlowOrigin::Project),
        Err(SessionError::FlowName { .. })
    ));
    let names: Vec<String> = scene.engine.flows().unwrap().into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["change", "do", "generate", "spec"]);
}

#[test]
fn a_broken_flow_is_reported_with_its_lines_and_starts_nothing() {
    let scene = Scene::new();
    write_flow(
        &scene,
        ".aiwf/flows/broken",
        &FLOW.replace("max_rounds = 2", "").replace("review.md", "gone.md"),
    );
    let error = scene.engine.start_flow(&request("broken")).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(".aiwf/flows/broken/flow.toml:24: the loop that phase `review` closes has no limit"),
        "{text}"
    );
    assert!(text.contains("flow.toml:21: there is no template `gone.md`"), "{text}");
    assert!(scene.engine.list_all().unwrap().is_empty());
    assert_eq!(scene.engine.flows().unwrap().len(), 5, "it takes no other flow down");
}

#[test]
fn a_template_that_leads_out_of_the_project_is_not_read() {
    let scene = Scene::new();
    write_flow(&scene, ".aiwf/flows/leaky", FLOW);
    let secret = scene.home().join("secret.md");
    fs::write(&secret, "hunter2").unwrap();
    let link = scene.root().join(".aiwf/flows/leaky/specify.md");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let error = scene.engine.start_flow(&request("leaky")).map(drop).unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"), "{error}");
}

#[test]
fn what_cannot_be_started_says_why() {
    let scene = Scene::new();
    let refused = |new: NewRequest| scene.engine.start_flow(&new).map(drop).unwrap_err();
    assert!(matches!(refused(request("generate")), SessionError::FlowNeedsProfile { .. }));
    assert!(matches!(refused(request("chnage")), SessionError::UnknownFlow { .. }));
    assert!(matches!(
        refused(NewRequest { request: " ".to_owned(), ..request("do") }),
        SessionError::NoRequest
    ));
    let gates = [parse_gate_flag("planning.prompt=skip").unwrap()].into();
    let wrong_gate = NewRequest { flags: Flags { gates, ..Flags::default() }, ..request("do") };
    assert!(matches!(refused(wrong_gate), SessionError::NoSuchGate { .. }));
    assert!(scene.engine.list_all().unwrap().is_empty());
}

#[test]
fn gates_of_flags_win_over_the_flow_and_the_narrower_pattern_over_the_wider() {
    let scene = Scene::new();
    let gates = ["*=skip", "implement.*=manual"].map(|gate| parse_gate_flag(gate).unwrap()).into();
    let model = FakeProvider::saying(["# Plan\n"]);
    let engine = scene.engine.clone().with_provider("model", model);
    let new = NewRequest {
        flags: Flags { gates, ..Flags::default() },
        provider: Some("model".to_owned()),
        ..request("do")
    };
    let id = engine.start_flow(&new).unwrap().id;
    let report = engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!((report.phase.as_str(), report.stage), ("implement", Some(Stage::Prompt)));
}

#[test]
fn every_shipped_flow_with_a_request_walks_to_its_end() {
    let tasks = "Done.\n<task_status id=\"1\">COMPLETED</task_status>\n<<<FILE: src/greet.txt>>>\nhello\n";
    let pass = "<review>PASS</review>\n";
    let walks: [(&str, &[&str]); 3] = [
        ("do", &["# Plan\n", CODE, pass]),
        ("spec", &["# Spec\n", "# Plan\n", "1. Greet\n", tasks, pass]),
        ("change", &["# Plan\n", pass, tasks, pass, "# Record\n"]),
    ];
    for (flow, replies) in walks {
        let scene = Scene::new();
        let model = FakeProvider::saying(replies.iter().copied());
        let engine = scene.engine.clone().with_provider("model", model.clone());
        let id = engine.start_flow(&skipping(flow)).unwrap().id;
        let report = engine.session_report(Some(id.as_str())).unwrap();
        assert_eq!(report.status, SessionStatus::Complete, "{flow}");
        assert_eq!(model.prompts().len(), replies.len(), "{flow}");
        let entry = engine.list_all().unwrap().remove(0);
        assert_eq!((entry.flow.as_str(), entry.title.as_str()), (flow, "add a greeting"));
    }
}

#[test]
fn phases_that_are_open_can_be_handed_to_another_provider() {
    let scene = Scene::new();
    let engine: &Engine = &scene.engine;
    let id = engine.start_flow(&request("do")).unwrap().id;
    let model = FakeProvider::saying([CODE, "<review>PASS</review>\n"]);
    let engine = engine.clone().with_provider("model", model.clone());
    engine.respond(Some(id.as_str()), "# Plan\n", None).unwrap();
    let decided =
        engine.clone().skipping_gates(true).run_session_with(Some(id.as_str()), Some("model")).unwrap();
    assert_eq!(decided.report.status, SessionStatus::Complete);
    assert_eq!(model.prompts().len(), 2);
}

#[test]
fn a_profile_can_bring_a_flow_of_its_own() {
    let scene = Scene::new();
    scene.engine.new_profile("quick", "generate", true).unwrap();
    let flow = r#"
title = "Plan and generate"
[[phase]]
name = "planning"
role = "planner"
recipe = "session"
artifact = "plan"
gives = "text"
next = "second-look"
[[phase]]
name = "second-look"
role = "reviewer"
template = "look.md"
reads = ["planning"]
gives = "verdict"
on = { PASS = "complete" }
"#;
    let directory = scene.root().join(".aiwf/profiles/quick");
    fs::write(directory.join("flow.toml"), flow).unwrap();
    fs::write(directory.join("look.md"), "Look again: {{ request }}\n").unwrap();
    let flags = Flags { is_yes: true, ..Flags::default() };
    let model = FakeProvider::saying(["# Plan\n", "<review>PASS</review>\n"]);
    let engine = scene.engine.clone().with_provider("model", model.clone());
    let given = serde_json::json!({ "request": "Things" });
    let serde_json::Value::Object(given) = given else { unreachable!() };
    let mut new = engine.new_session("quick", given, &flags).unwrap();
    for provider in new.roles.values_mut() {
        "model".clone_into(provider);
    }
    let id = engine.create_session(new).unwrap().id;
    let report = engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!((report.status, report.flow.as_str()), (SessionStatus::Complete, "quick"));
    assert!(model.prompts()[1].contains("Look again: quick:"), "{}", model.prompts()[1]);

    fs::write(directory.join("flow.toml"), format!("gates = {{ \"*\" = \"skip\" }}\n{flow}")).unwrap();
    let error =
        engine.new_session("quick", serde_json::Map::new(), &flags).map(drop).unwrap_err().to_string();
    assert!(error.contains("a profile cannot set gates"), "{error}");
    assert!(engine.validate_flows().iter().any(|result| result.name == "quick" && !result.passed));
}

#[test]
fn words_of_the_configuration_that_no_flow_knows_are_found_by_validate() {
    let scene = Scene::new();
    fs::create_dir_all(scene.home().join(".aiwf")).unwrap();
    let config = "[gates]\n\"planing.prompt\" = \"skip\"\n\"plan.*\" = \"skip\"\n[roles]\ntranslator = \"manual\"\n\
         [[checks]]\nname = \"a\"\nrun = \"x\"\nafter = \"implement\"\n\
         [[checks]]\nname = \"b\"\nrun = \"x\"\nafter = \"review\"\n";
    fs::write(scene.home().join(".aiwf/config.toml"), config).unwrap();
    let findings: Vec<String> = scene
        .engine
        .validate_config()
        .into_iter()
        .flat_map(|result| result.findings)
        .map(|finding| finding.message)
        .collect();
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert!(findings[0].contains("no flow has a phase `planing`"), "{findings:?}");
    assert!(findings[1].contains("no flow has a role `translator`"), "{findings:?}");
    assert!(findings[2].contains("no flow has a phase `review` that writes"), "{findings:?}");
}

#[test]
fn a_new_flow_is_not_written_through_a_link_or_over_a_file() {
    let scene = Scene::new();
    let elsewhere = scene.home().join("mine");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("review.md"), "mine\n").unwrap();
    fs::create_dir_all(scene.root().join(".aiwf/flows/taken")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scene.root().join(".aiwf/flows/evil")).unwrap();
    assert!(matches!(
        scene.engine.new_flow("evil", FlowOrigin::Project),
        Err(SessionError::UnsafeFile { .. })
    ));
    assert!(matches!(
        scene.engine.new_flow("taken", FlowOrigin::Project),
        Err(SessionError::FlowExists { .. })
    ));
    assert_eq!(fs::read_to_string(elsewhere.join("review.md")).unwrap(), "mine\n");
}

#[test]
fn a_flow_that_cannot_be_read_takes_no_other_down() {
    let scene = Scene::new();
    write_flow(&scene, ".aiwf/flows/good", FLOW);
    write_flow(&scene, ".aiwf/flows/bad", FLOW);
    fs::write(scene.root().join(".aiwf/flows/bad/flow.toml"), b"\xff\xfe").unwrap();
    let flows = scene.engine.flows().unwrap();
    let found = |name: &str| flows.iter().find(|flow| flow.name == name).unwrap().flow.is_ok();
    assert!(found("good") && !found("bad"));
}

#[test]
fn a_template_that_cannot_be_rendered_begins_no_session() {
    let scene = Scene::new();
    write_flow(&scene, "~/.aiwf/flows/mine", FLOW);
    fs::write(scene.home().join(".aiwf/flows/mine/specify.md"), "{{ nope }}").unwrap();
    let new = NewRequest { name: Some("s2".to_owned()), ..request("mine") };
    let error = scene.engine.start_flow(&new).map(drop).unwrap_err().to_string();
    assert!(error.contains("nope"), "{error}");
    assert!(scene.engine.list_all().unwrap().is_empty());
}

#[test]
fn a_cap_is_raised_for_the_loop_that_is_over_and_no_other() {
    let scene = Scene::new();
    let flow = FLOW.replace("next = \"implement\"", "next = \"look\"").replace(
        "[[phase]]\nname = \"implement\"",
        "[[phase]]\nname = \"look\"\nrole = \"reviewer\"\ntemplate = \"review.md\"\nreads = [\"specify\"]\ngives = \"verdict\"\non = { PASS = \"implement\", NEEDS_REVISION = \"specify\" }\nmax_rounds = 1\n[[phase]]\nname = \"implement\"",
    );
    write_flow(&scene, "~/.aiwf/flows/mine", &flow.replace("max_rounds = 2", "max_rounds = 5"));
    let model = FakeProvider::saying([
        "# Spec\n",
        "<review>NEEDS_REVISION</review>\n",
        "# Spec\n",
        "<review>PASS</review>\n",
    ]);
    let engine = scene.engine.clone().with_provider("model", model);
    let id = engine.start_flow(&skipping("mine")).unwrap().id;
    let report = engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!((report.status, report.change.unwrap().max_rounds), (SessionStatus::Paused, 1));
    assert!(engine.raise_cap(Some(id.as_str()), 4_000_000_000).is_err());
    // The model has nothing more to say once the implementation is reached.
    drop(engine.raise_cap(Some(id.as_str()), 2));
    let report = engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!((report.phase.as_str(), report.change.unwrap().max_rounds), ("implement", 5));
}

#[test]
fn a_flow_of_the_project_has_few_rounds_before_consent() {
    let scene = Scene::new();
    write_flow(&scene, ".aiwf/flows/theirs", &FLOW.replace("max_rounds = 2", "max_rounds = 900"));
    let id = scene.engine.start_flow(&request("theirs")).unwrap().id;
    let report = scene.engine.session_report(Some(id.as_str())).unwrap();
    assert_eq!(report.change.unwrap().max_rounds, 3);
}
