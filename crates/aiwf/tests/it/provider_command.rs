//! Sessions whose provider is a program from the configuration: how its reply is found, what is kept, and what
//! happens when it fails, hangs, floods or touches what it should not.

use crate::scene::{Scene, eventually, is_there, replies};
use crate::session::{CODE, PLAN, at};

/// A project whose every role is a script; it is run by `sh` with these arguments after its name.
fn scene(script: &str, arguments: &str, table: &str) -> Scene {
    let scene = Scene::new(&format!(
        "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"{arguments}]\n{table}"
    ));
    scene.project.write("agent.sh", script);
    scene
}

/// A script that answers each prompt with the next file of `replies/`.
fn with_replies(scene: Scene) -> Scene {
    for (number, reply) in replies().iter().enumerate() {
        scene.project.write(&format!("replies/{}", number + 1), reply);
    }
    scene
}

/// Counts the calls in the home, which is no part of the project.
const NEXT: &str = "n=$(cat \"$HOME/n\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$HOME/n\"\n";

#[test]
fn a_program_that_prints_its_replies_walks_a_session() {
    let script = format!("{NEXT}cat > \"$HOME/prompt-$n\"; cat replies/$n");
    let scene = with_replies(scene(&script, "", "fs_ability = \"none\"\n"));
    let end = scene.init("--yes");
    assert_eq!(at(&end), ("complete", "-", 2));
    // What it read is what was written for it, to the byte.
    assert!(scene.project.read("~/prompt-2") == scene.text("iteration-1/generation-prompt.md").into_bytes());
    assert!(scene.project.read("~/prompt-4") == scene.text("iteration-2/revision-prompt.md").into_bytes());
    assert_eq!(scene.text("iteration-1/generation-response.md"), CODE);
}

#[test]
fn prompt_system_prompt_reply_and_model_are_handed_over_as_files_and_words() {
    let script = "cp \"$1\" \"$HOME/prompt\"; cp \"$2\" \"$HOME/system\"; echo \"$3\" > \"$HOME/words\"; echo \"$4\" >> \"$HOME/words\"\ncat > \"$HOME/stdin\"; printf '# Plan\\n' > \"$3\"; echo done";
    let scene = scene(
        script,
        ", \"{prompt_file}\", \"{system_prompt_file}\", \"{response_path}\", \"--model={model}\"",
        "reply = \"file\"\nmodel = \"some-model\"\nsupports_system_prompt = true\n",
    );
    scene.init("");
    let preview = scene.done("preview");
    scene.done("approve");
    let text = |path: &str| String::from_utf8(scene.project.read(path)).unwrap();
    assert!(text("~/prompt") == preview["prompt"]);
    assert_eq!(text("~/system"), preview["system_prompt"]);
    assert_eq!(text("~/stdin"), "");
    let response = scene.project.path(scene.session_dir()).join("iteration-1/planning-response.md");
    assert_eq!(text("~/words"), format!("{}\n--model=some-model\n", response.display()));
    assert_eq!(scene.text("iteration-1/planning-response.md"), "# Plan\n");
}

#[test]
fn a_reply_is_found_in_json() {
    let script = "cat > /dev/null; printf '{\"result\": {\"text\": \"# Plan\\\\n\"}, \"n\": 1}'";
    let scene = scene(script, "", "reply = \"json:/result/text\"\nfs_ability = \"none\"\n");
    scene.init("");
    scene.done("approve");
    assert_eq!(scene.text("iteration-1/planning-response.md"), "# Plan\n");
    // What it printed is kept beside the reply, and the journal knows it.
    let kept = &scene.event("reply-received")["call"]["kept"];
    assert_eq!(kept[0]["path"], "iteration-1/planning-response.output-1.jsonl");
}

#[test]
fn json_without_the_reply_is_a_failure_and_what_came_is_kept() {
    let script = "cat > /dev/null; printf '{\"error\": \"no\"}'";
    let scene = scene(script, "", "reply = \"json:/result/text\"\n");
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: the reply from `agent` cannot be read: there is nothing at `/result/text`
      session `[id]`, phase `planning`

    hint: check that `type`, `base_url` and `reply` of the provider fit together
    --- exit code 4
    ");
    let kept = scene.event("ask-failed")["call"]["kept"][0]["path"].as_str().unwrap().to_owned();
    assert_eq!(scene.text(&kept), "{\"error\": \"no\"}");
}

#[test]
fn stdout_is_the_reply_if_no_file_was_written() {
    let scene = scene("cat > /dev/null; cat replies/1", "", "fs_ability = \"local-write\"\n");
    let scene = with_replies(scene);
    scene.init("");
    assert!(scene.text("iteration-1/planning-prompt.md").contains("Save your complete response to"));
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 0)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for your approval
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    agent wrote no file; using its stdout
    next      aiwf approve [id]
    --- stderr
    reply saved to iteration-1/planning-response.md; agent wrote no file; using its stdout
    --- exit code 0
    ");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    assert_eq!(scene.event("reply-received")["call"]["notes"][0], "agent wrote no file; using its stdout");
}

#[test]
fn the_file_an_agent_wrote_wins_and_its_words_are_kept() {
    let script = "cat > /dev/null; cat replies/1 > \"$1\"; echo 'I saved it.'";
    let scene = with_replies(scene(script, ", \"{response_path}\"", "fs_ability = \"local-write\"\n"));
    scene.init("");
    scene.done("approve");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    let call = scene.event("reply-received")["call"].clone();
    assert_eq!(call["notes"], serde_json::Value::Null);
    assert_eq!(call["kept"][0]["path"], "iteration-1/planning-response.partial-1.md");
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "I saved it.\n");
    assert_eq!(scene.done("status latest")["unknown"], serde_json::Value::Null);
}

#[test]
fn files_that_changed_elsewhere_are_a_problem_and_no_open_gate_lets_it_pass() {
    let script = "cat > /dev/null; cat replies/1; echo x >> schema.sql; echo new > new.txt; rm -f old.txt";
    let scene = with_replies(scene(script, ", \"{response_path}\"", "fs_ability = \"none\"\n"));
    scene.project.write("old.txt", "old");
    scene.init("--yes");
    let status = scene.run("status latest");
    insta::assert_snapshot!(scene.shown(&status), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for your approval
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    problem   the agent changed `new.txt`, which it was not allowed to touch
    problem   the agent changed `old.txt`, which it was not allowed to touch
    problem   the agent changed `schema.sql`, which it was not allowed to touch
    next      edit the reply and aiwf approve [id], or aiwf reject [id] --feedback TEXT
    --- exit code 0
    ");
    let touched = scene.event("reply-received")["call"]["touched"].clone();
    let paths: Vec<&str> =
        touched.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["new.txt", "old.txt", "schema.sql"]);
    assert!(touched[0]["after"].is_string() && touched[1]["after"].is_null());
    assert_eq!(scene.exits("run", 3).exit_code(), 3);
    // A person may take it all the same; the next call does it again, to files that are there already.
    assert_eq!(scene.done("approve")["phase"], "generating");
}

#[test]
fn what_an_agent_writes_into_its_session_is_listed_too() {
    let script = "cat > /dev/null; cat replies/1; echo y > \"$(dirname \"$1\")/../note.md\"";
    let scene = with_replies(scene(script, ", \"{response_path}\"", "fs_ability = \"none\"\n"));
    scene.init("--yes");
    let touched = scene.event("reply-received")["call"]["touched"].clone();
    assert_eq!(touched[0]["path"], format!("{}/note.md", scene.session_dir()));
    assert_eq!(touched.as_array().unwrap().len(), 1);
}

#[test]
fn a_failed_program_keeps_its_partial_reply_and_can_be_retried() {
    let script = format!(
        "{NEXT}cat > /dev/null\nif [ $n = 1 ]; then echo 'half a pl'; echo 'no credit left' >&2; exit 7; fi; cat replies/1"
    );
    let scene = with_replies(scene(&script, "", "fs_ability = \"none\"\n"));
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: `agent` failed: it ended with exit code 7: no credit left
      session `[id]`, phase `planning`

    hint: run `sh` yourself to see what is wrong, then `aiwf retry [id]`
    --- exit code 4
    ");
    insta::assert_snapshot!(scene.shown(&scene.exits("status latest", 0)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for you to retry the call
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    problem   `agent` failed: it ended with exit code 7: no credit left
    remark    the partial reply is in: iteration-1/planning-response.partial-1.md, iteration-1/planning-response.output-1.jsonl
    next      aiwf retry [id]
    --- exit code 0
    ");
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "half a pl\n");
    assert_eq!(scene.exits("run", 3).exit_code(), 3);
    let asked = scene.done("retry");
    assert_eq!(at(&asked), ("planning", "response", 1));
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    assert_eq!(scene.event("prompt-sent")["n_earlier"], 1);
    assert_eq!(scene.done("status --usage")["usage"]["total"]["calls"], 2);
}

#[test]
fn half_a_reply_in_the_reply_s_place_is_not_taken_for_one() {
    let script = format!(
        "{NEXT}cat > /dev/null\nif [ $n = 1 ]; then printf 'half a pl' > \"$1\"; exit 7; fi; cat replies/1 > \"$1\""
    );
    let scene = with_replies(scene(&script, ", \"{response_path}\"", "reply = \"file\"\n"));
    scene.init("");
    scene.exits("approve", 4);
    assert!(!scene.names("iteration-1").contains(&"planning-response.md".to_owned()));
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "half a pl");
    assert_eq!(at(&scene.done("approve")), ("planning", "response", 1));
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
}

/// Writes its id and that of a child of its own, then hangs.
const HANGS: &str = "printf 'half'; sleep 6000 & echo $! > \"$HOME/child\"; echo $$ > \"$HOME/self\"; wait";

#[track_caller]
fn assert_gone(scene: &Scene) {
    for name in ["~/self", "~/child"] {
        let id = String::from_utf8(scene.project.read(name)).unwrap();
        eventually("the end of the agent's processes", || !is_there(id.trim()));
    }
}

#[test]
fn a_program_that_hangs_is_ended_with_all_it_started() {
    let scene = with_replies(scene(HANGS, "", "fs_ability = \"none\"\ntimeout = \"5s\"\n"));
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: no complete reply from `agent` within 5 s
      session `[id]`, phase `planning`

    hint: `aiwf retry [id]` asks again; `timeout` of the provider sets how long to wait
    --- exit code 4
    ");
    assert_gone(&scene);
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "half");
    scene.project.write("agent.sh", "cat > /dev/null; cat replies/1");
    assert_eq!(at(&scene.done("retry")), ("planning", "response", 1));
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
}

#[test]
fn ctrl_c_ends_the_program_and_leaves_the_session_where_it_was() {
    let scene = with_replies(scene(HANGS, "", "fs_ability = \"none\"\n"));
    scene.init("");
    let partial =
        scene.project.root().join(scene.session_dir()).join("iteration-1/planning-response.partial-1.md");
    let running = scene.command("approve").spawn();
    eventually("the start of the agent", || scene.project.home().join("self").exists());
    eventually("what it says", || std::fs::read(&partial).is_ok_and(|text| text == b"half"));
    running.signal("INT");
    let outcome = running.wait();
    insta::assert_snapshot!(scene.shown(&outcome), @"
    --- stderr
    error: the call to `agent` was interrupted
      session `[id]`, phase `planning`

    hint: `aiwf retry [id]` asks again
    --- exit code 130
    ");
    assert_gone(&scene);
    assert_eq!(at(&scene.done("status latest")), ("planning", "response", 1));
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "half");
    scene.project.write("agent.sh", "cat > /dev/null; cat replies/1");
    scene.done("retry");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
}

#[test]
fn a_flood_is_stopped() {
    let script = "while :; do echo 'more and more and more and more and more'; done";
    let scene = scene(script, "", "fs_ability = \"none\"\nmax_reply_bytes = 100_000\n");
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: the reply from `agent` is larger than 100000 bytes
      session `[id]`, phase `planning`

    hint: raise `max_reply_bytes` of the provider
    --- exit code 4
    ");
    let kept = scene.text("iteration-1/planning-response.partial-1.md");
    assert!(kept.starts_with("more and more") && kept.len() <= 100_000, "{} bytes", kept.len());
}

#[test]
fn an_empty_reply_is_a_failure() {
    let scene = scene("cat > /dev/null", "", "fs_ability = \"none\"\n");
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: `agent` sent an empty reply
      session `[id]`, phase `planning`

    hint: `aiwf retry [id]` asks again
    --- exit code 4
    ");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let config =
        "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"no-such-agent\"]\n";
    let scene = Scene::new(config);
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: `no-such-agent` cannot be started: there is no such program
      session `[id]`, phase `planning`

    hint: install it, or change `argv` in `[providers.agent]`
    --- exit code 4
    ");
}

#[test]
fn a_killed_aiwf_leaves_an_interrupted_call() {
    let script = format!("{NEXT}if [ $n = 1 ]; then {HANGS}; fi; cat > /dev/null; cat replies/1");
    let scene = with_replies(scene(&script, "", "fs_ability = \"none\"\n"));
    scene.init("");
    let running = scene.command("approve").spawn();
    eventually("the start of the agent", || scene.project.home().join("self").exists());
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    assert_gone(&scene);
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for you to retry the call
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    problem   the call was interrupted: no complete reply arrived
    next      aiwf retry [id]
    --- exit code 3
    ");
    scene.done("approve");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    assert!(scene.event_names().contains(&"retried".to_owned()));
}

#[test]
fn a_killed_aiwf_leaves_no_agent_behind_that_ignores_signals() {
    let script = format!("trap '' TERM INT HUP QUIT; {HANGS}");
    let scene = scene(&script, "", "fs_ability = \"none\"\n");
    scene.init("");
    let running = scene.command("approve").spawn();
    eventually("the start of the agent", || scene.project.home().join("self").exists());
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    assert_gone(&scene);
}

#[test]
fn the_exact_exit_of_a_program_is_reported() {
    for (script, told) in [
        ("exit 7", "exit code 7"),
        ("kill -KILL $$", "killed by signal 9"),
        ("kill -TERM $$", "killed by signal 15"),
        ("kill -SEGV $$", "killed by signal 11"),
        ("kill -PIPE $$", "killed by signal 13"),
    ] {
        let scene = scene(&format!("cat > /dev/null; {script}"), "", "fs_ability = \"none\"\n");
        scene.init("");
        let failed = scene.exits("approve", 4).to_string();
        assert!(failed.contains(told), "{script}: {failed}");
    }
}

/// Otherwise nobody would see that the agent closed its output, or no longer reads.
#[test]
fn a_supervisor_lets_go_of_the_pipes_of_its_agent() {
    let script = "cat > /dev/null\nfor end in 0 1 2; do\n\
        until [ \"$(readlink /proc/$PPID/fd/$end)\" = /dev/null ]; do sleep 0.01; done\ndone; cat replies/1";
    let scene = with_replies(scene(script, "", "fs_ability = \"none\"\n"));
    scene.init("");
    scene.done("approve");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
}

/// A zombie waits for somebody to reap it, which in many containers nobody does.
#[test]
fn an_agent_that_ended_leaves_no_zombie() {
    let scene = with_replies(scene("echo $$ > \"$HOME/self\"; cat replies/1", "", "fs_ability = \"none\"\n"));
    scene.init("");
    scene.done("approve");
    let id = String::from_utf8(scene.project.read("~/self")).unwrap();
    assert!(!std::path::Path::new("/proc").join(id.trim()).exists(), "process {id}is still listed");
}
