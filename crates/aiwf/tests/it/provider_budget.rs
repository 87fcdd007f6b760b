//! What a session may cost: looked at before a call, so that nothing reaches a server that is not allowed.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;

use crate::scene::{Scene, replies};
use crate::session::{INIT, at};

const PRICE: &str = "[prices.\"scripted-model\"]\ninput = 3.0\noutput = 15.0\n";

fn scene(more: &str) -> (ModelServer, Scene) {
    let server = ModelServer::script(replies().into_iter().map(Turn::Text));
    let scene = Scene::of_api("openai", &server, more);
    (server, scene)
}

/// Changes the configuration as a person would.
fn set(scene: &Scene, from: &str, to: &str) {
    let config = String::from_utf8(scene.project.read("~/.aiwf/config.toml")).unwrap();
    assert!(config.contains(from));
    scene.project.write("~/.aiwf/config.toml", config.replace(from, to));
}

#[test]
fn calls_are_counted_and_the_next_is_not_made() {
    let (server, scene) = scene("[budget]\nmax_calls = 2\n");
    let outcome = scene.exits(&format!("{INIT} --yes"), 3);
    insta::assert_snapshot!(scene.shown(&outcome), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     reviewing, response (iteration 1)
    status    paused: the budget is used up
    prompt    .aiwf/sessions/[id]/iteration-1/review-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/review-response.md
    remark    2 of 2 calls are used
    next      raise `[budget]` in .aiwf/config.toml, then aiwf run [id]
    --- stderr
    planning: wrote the prompt iteration-1/planning-prompt.md
    planning: prompt gate skipped
    reply saved to iteration-1/planning-response.md
    planning: response gate skipped
    generating: wrote the prompt iteration-1/generation-prompt.md
    generating: prompt gate skipped
    reply saved to iteration-1/generation-response.md
    generating: response gate skipped
    reviewing: wrote the prompt iteration-1/review-prompt.md
    reviewing: prompt gate skipped
    not sent: 2 of 2 calls are used
    file ability: none (model); change it with --fs-ability
    --- exit code 3
    ");
    assert_eq!(server.asks().len(), 2);
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     reviewing, response (iteration 1)
    status    paused: the budget is used up
    prompt    .aiwf/sessions/[id]/iteration-1/review-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/review-response.md
    remark    2 of 2 calls are used
    next      raise `[budget]` in .aiwf/config.toml, then aiwf run [id]
    --- exit code 3
    ");
    assert_eq!(server.asks().len(), 2);
    assert_eq!(scene.event_names().last().unwrap(), "budget-reached");
    set(&scene, "max_calls = 2", "max_calls = 5");
    assert_eq!(at(&scene.done("run")), ("complete", "-", 2));
    assert_eq!(server.asks().len(), 5);
    assert!(scene.event_names().contains(&"budget-raised".to_owned()));
}

#[test]
fn money_of_the_worst_case_counts() {
    let (server, scene) = scene(&format!("max_output_tokens = 1_000\n[budget]\nmax_cost = 0.02\n{PRICE}"));
    let outcome = scene.exits(&format!("{INIT} --yes"), 3);
    insta::assert_snapshot!(scene.shown(&outcome), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    paused: the budget is used up
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    $0.0000 is spent, the next call may cost $0.0226, and $0.02 is the limit
    next      raise `[budget]` in .aiwf/config.toml, then aiwf run [id]
    --- stderr
    planning: wrote the prompt iteration-1/planning-prompt.md
    planning: prompt gate skipped
    not sent: $0.0000 is spent, the next call may cost $0.0226, and $0.02 is the limit
    file ability: none (model); change it with --fs-ability
    --- exit code 3
    ");
    assert_eq!(server.asks().len(), 0);
    set(&scene, "max_cost = 0.02", "max_cost = 5.00");
    assert_eq!(at(&scene.done("run")), ("complete", "-", 2));
    // The sent limit is the one that was reckoned with.
    assert_eq!(server.asks()[0].body["max_tokens"], 1_000);
}

#[test]
fn a_limit_in_money_needs_a_price() {
    let (server, scene) = scene("[budget]\nmax_cost = 5.00\n");
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 1)), @r#"
    --- stderr
    error: `max_cost` is set, but model `scripted-model` of provider `model` has no known price
      session `[id]`, phase `planning`

    hint: set `input` and `output` in `[prices."scripted-model"]`, in dollars per million tokens
    --- exit code 1
    "#);
    assert_eq!(server.asks().len(), 0);
    set(&scene, "[budget]", &format!("{PRICE}[budget]"));
    assert_eq!(at(&scene.done("approve")), ("planning", "response", 1));
}

#[test]
fn a_limit_that_can_only_be_looked_at_between_calls_is_called_soft() {
    let scene = Scene::new(
        "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"cat > /dev/null; echo '# Plan'\"]\nfs_ability = \"none\"\n[budget]\nmax_calls = 2\nmax_tokens = 100_000\n",
    );
    scene.init("");
    scene.done("approve");
    insta::assert_snapshot!(scene.shown(&scene.exits("status --usage", 0)), @"
    --- stdout
    session   [id]
    call      planning-1: agent (model unknown), unknown in, unknown out, cost unknown
    phase     planning: 1 call, unknown tokens in, unknown out, unknown cached, cost unknown
    total     1 call, unknown tokens in, unknown out, unknown cached, cost unknown
    budget    2 calls, 100000 tokens
    soft      aiwf cannot limit the length of replies from agent; limits are checked between calls
    --- exit code 0
    ");
    let budget = scene.done("status --usage")["usage"]["budget"].clone();
    assert_eq!(budget, serde_json::json!({"max_calls": 2, "max_tokens": 100_000, "soft_for": ["agent"]}));
}

#[test]
fn a_prompt_that_is_sent_by_hand_is_held_to_the_budget() {
    let (server, scene) = scene("[budget]\nmax_tokens = 100\n");
    let outcome = scene.run("prompt send change --provider model --phase plan --instructions x");
    insta::assert_snapshot!(outcome.to_string(), @"
    --- stderr
    error: the call was not made: 0 tokens are used, the next call may need 32930, and 100 is the limit

    hint: raise the limit in `[budget]` of `.aiwf/config.toml`
    --- exit code 1
    ");
    assert_eq!(server.asks().len(), 0);
}
