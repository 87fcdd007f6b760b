//! Keys: where they come from, where they go, and that they are seen nowhere else.

use std::net::TcpListener;

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;

use crate::scene::{KEY, Scene};
use crate::session::PLAN;

/// A host that does not exist: the top-level domain is reserved for that.
const ELSEWHERE: &str = "http://model.invalid/v1";

fn of_url(url: &str) -> String {
    format!(
        "[providers.model]\ntype = \"openai\"\nbase_url = \"{url}\"\nmodel = \"m\"\napi_key_env = \"MODEL_KEY\"\n"
    )
}

const SEND: &str = "prompt send change --provider model --phase plan --instructions x";

#[test]
fn a_key_goes_nowhere_that_only_a_project_names() {
    let scene = Scene::checkout(&of_url(ELSEWHERE));
    insta::assert_snapshot!(scene.exits(SEND, 1).to_string(), @r#"
    --- stderr
    error: provider `model` is defined by this project, and you have not agreed to it
      type = "openai"
      base_url = "http://model.invalid/v1"
      api_key_env = "MODEL_KEY"

    hint: `aiwf trust add provider model` agrees to exactly this
    --- exit code 1
    "#);
    // A session with such a provider does not even begin.
    let scene = Scene::checkout(&format!("[roles]\ndefault = \"model\"\n{}", of_url(ELSEWHERE)));
    let refused = scene.exits("jpa-mt init --schema-file schema.sql --entity Customer --table customers --bounded-context catalog --scope domain", 1);
    assert!(refused.stderr_text().contains("you have not agreed to it"), "{refused}");
    assert!(!scene.project.path(".aiwf/sessions").exists());
}

#[test]
fn a_key_goes_where_the_user_agreed_to_and_no_other_byte_counts() {
    let scene = Scene::checkout(&of_url(ELSEWHERE));
    // The user's own file naming the address is not consent to the rest of the table.
    scene.project.write("~/.aiwf/config.toml", of_url(ELSEWHERE));
    assert_eq!(scene.exits(SEND, 1).exit_code(), 1);
    scene.exits("trust add provider model --yes", 0);
    let outcome = scene.exits(SEND, 4);
    let said = outcome.stderr_text();
    assert!(
        said.starts_with("error: `model` failed: could not connect to `http://model.invalid/v1`:"),
        "{said}"
    );
    assert!(!said.contains(KEY));
    // Another path of the same host is another address.
    scene.project.write(".aiwf/config.toml", of_url("http://model.invalid/v2"));
    assert_eq!(scene.exits(SEND, 1).exit_code(), 1);
    scene.project.write(".aiwf/config.toml", of_url(ELSEWHERE));
    scene.exits("trust remove provider model", 0);
    assert_eq!(scene.exits(SEND, 1).exit_code(), 1);
}

#[test]
fn a_missing_key_is_reported_before_any_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let scene = Scene::new(&of_url(&url).replace("MODEL_KEY", "ANOTHER_KEY"));
    insta::assert_snapshot!(scene.exits(SEND, 4).to_string(), @"
    --- stderr
    error: there is no key for provider `model`: the variable `ANOTHER_KEY` is not set

    hint: set `ANOTHER_KEY`, or name another variable as `api_key_env` in `[providers.model]`
    --- exit code 4
    ");
    assert!(listener.accept().is_err(), "nobody has connected");
}

#[test]
fn keys_do_not_stand_in_files() {
    let scene = Scene::checkout(&format!("{}api_key = \"{KEY}\"\n", of_url(ELSEWHERE)));
    let outcome = scene.exits(SEND, 1);
    insta::assert_snapshot!(outcome.to_string(), @"
    --- stderr
    error: `providers.model.api_key`: API keys do not belong in files
     --> .aiwf/config.toml:6:1

    hint: set `api_key_env` to the name of the variable that holds it
    --- exit code 1
    ");
}

#[test]
fn a_key_command_counts_in_the_users_file_only() {
    let server = ModelServer::script([Turn::text(PLAN)]);
    let table = format!(
        "[providers.model]\ntype = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\napi_key_command = [\"printf\", \"key-of-the-command\"]\n",
        server.openai_url()
    );
    let scene = Scene::checkout(&table);
    let refused = scene.exits(SEND, 1);
    insta::assert_snapshot!(refused.to_string(), @"
    --- stderr
    error: `providers.model.api_key_command` can only be set in your own configuration
     --> .aiwf/config.toml:5:1

    hint: move the line to `~/.aiwf/config.toml`
    --- exit code 1
    ");
    assert_eq!(server.requests().len(), 0);
    scene.project.write(".aiwf/config.toml", "");
    scene.project.write("~/.aiwf/config.toml", table);
    assert_eq!(scene.exits(SEND, 0).stdout_text(), PLAN);
    assert_eq!(server.asks()[0].header("authorization"), Some("Bearer key-of-the-command"));
}

#[test]
fn a_key_command_that_fails_says_why() {
    let server = ModelServer::script([]);
    let scene = Scene::new("");
    scene.project.write(
        "~/.aiwf/config.toml",
        format!(
            "[providers.model]\ntype = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\napi_key_command = [\"sh\", \"-c\", \"echo 'the store is locked' >&2; exit 3\"]\n",
            server.openai_url()
        ),
    );
    insta::assert_snapshot!(scene.exits(SEND, 4).to_string(), @"
    --- stderr
    error: there is no key for provider `model`: `sh` ended with exit code 3: the store is locked

    hint: run the `api_key_command` of `[providers.model]` yourself: it prints the key and ends
    --- exit code 4
    ");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_vendors_key_is_not_taken_to_another_server_by_itself() {
    let server = ModelServer::script([Turn::text(PLAN)]);
    let scene = Scene::new(&format!(
        "[providers.model]\ntype = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\n",
        server.openai_url()
    ));
    let sent = scene.command(SEND).env("OPENAI_API_KEY", KEY).run().success();
    assert_eq!(sent.stdout_text(), PLAN);
    assert_eq!(server.asks()[0].header("authorization"), None);
}
