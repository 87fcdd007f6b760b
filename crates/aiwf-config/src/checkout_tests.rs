use super::*;
use crate::layer_reader;

fn layer(file: ConfigFile, text: &str) -> ConfigLayer {
    let (layer, problems) = layer_reader::read(file, Path::new("/base"), text);
    assert_eq!(problems, []);
    layer
}

fn confined(user: &str, project: &str, consents: &[Consent]) -> (ConfigLayer, Checkout) {
    let (user, project) = (layer(ConfigFile::User, user), layer(ConfigFile::Project, project));
    confine(&user, project, Path::new("/project"), consents)
}

/// The settings that do not apply, as `key = value, counts as instead`.
fn loosened(user: &str, project: &str) -> String {
    let (_, checkout) = confined(user, project, &[]);
    let shown = |setting: &Loosening| format!("{} = {}, not {}", setting.key, setting.value, setting.instead);
    checkout.loosened.iter().map(shown).collect::<Vec<_>>().join("\n")
}

fn agreed(kind: ConsentKind, sha256: &str) -> Consent {
    Consent {
        kind,
        name: String::new(),
        sha256: sha256.to_owned(),
        shown: String::new(),
        project: String::new(),
    }
}

#[test]
fn a_project_may_tighten_and_not_loosen_gates() {
    let skip = "[gates]\ndefault = \"skip\"\n\"planning.prompt\" = \"ai:judge\"";
    insta::assert_snapshot!(loosened("", skip), @r#"
    gates.default = skip, not manual
    gates."planning.prompt" = ai:judge, not manual
    "#);
    assert_eq!(loosened("[gates]\ndefault = \"skip\"", skip), "");
    assert_eq!(loosened("[gates]\ndefault = \"skip\"", "[gates]\ndefault = \"manual\""), "");
    insta::assert_snapshot!(loosened(
        "[gates]\ndefault = \"skip\"\n\"planning.prompt\" = \"manual\"",
        "[gates]\n\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"skip\"",
    ), @r#"gates."planning.prompt" = skip, not manual"#);
    insta::assert_snapshot!(loosened(
        "[gates]\ndefault = \"ai:judge\"",
        "[gates]\ndefault = { approver = \"ai:judge\", allow_rewrite = true }",
    ), @r#"gates.default = { approver = "ai:judge", max_retries = 0, allow_rewrite = true }, not ai:judge"#);
}

#[test]
fn a_project_may_lower_limits_and_not_raise_them() {
    let project = "[session]\nmax_iterations = 9\nhash_prompts = false\nbudget_tokens = 5000\nmax_template_mb = 65\n\
                   [change]\nmax_rounds = 8\nwrite = true\n[budget]\nmax_calls = 100\nmax_cost = 50.0\n\
                   [tools]\nmax_rounds = 99\nmax_result_bytes = 9999999\n[tools.grant]\nplanning = [\"a__b\"]\n\
                   [workflow]\nmax_turns = 1000\nmax_write_bytes = 99999999\n";
    insta::assert_snapshot!(loosened("", project), @r#"
    session.max_iterations = 9, not 5
    session.hash_prompts = false, not true
    session.max_template_mb = 65, not 64
    change.max_rounds = 8, not 3
    change.write = true, not false
    workflow.max_turns = 1000, not 50
    workflow.max_write_bytes = 99999999, not 2097152
    tools.max_rounds = 99, not 10
    tools.max_result_bytes = 9999999, not 32768
    tools.grant.planning = ["a__b"], not []
    "#);
    insta::assert_snapshot!(loosened(
        "[budget]\nmax_calls = 10\nmax_cost = 60.0\n[workflow]\nconditions = \"enforce\"",
        "[budget]\nmax_calls = 100\nmax_cost = 50.0\n[prices.m]\ninput = 0\noutput = 0\n\
         [workflow]\nconditions = \"warn\"",
    ), @r#"
    workflow.conditions = warn, not enforce
    budget.max_calls = 100, not 10
    prices."m" = input 0, output 0, not unknown
    "#);
    assert_eq!(
        loosened(
            "",
            "[session]\nmax_iterations = 2\nmax_template_mb = 16\n[budget]\nmax_calls = 3\n[tools]\nenabled = false"
        ),
        ""
    );
}

#[test]
fn loosened_settings_apply_after_consent_to_exactly_these() {
    let text = "[session]\nmax_iterations = 9\nhash_prompts = true";
    let (layer, checkout) = confined("", text, &[]);
    assert_eq!(layer.session.max_iterations, None);
    assert!(layer.session.hash_prompts.is_some());
    let consents = [agreed(ConsentKind::Project, &checkout.loosened_sha256)];
    let (layer, checkout) = confined("", text, &consents);
    assert!(checkout.is_agreed);
    assert_eq!(layer.session.max_iterations.map(|n| n.value.get()), Some(9));
    let (layer, checkout) = confined("", "[session]\nmax_iterations = 10", &consents);
    assert!(!checkout.is_agreed);
    assert_eq!(layer.session.max_iterations, None);
}

#[test]
fn a_provider_that_the_project_defines_or_redirects_needs_consent() {
    let shown = |user: &str, project: &str| {
        let (_, checkout) = confined(user, project, &[]);
        checkout.providers.values().map(|provider| provider.shown.clone()).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown("", "[providers.x]\ntype = \"command\"\nprogram = \"sh\"\nargv = [\"-c\", \"id\"]"), @r#"
    provider x
      type = "command"
      program = "sh"
      argv = ["-c", "id"]
    "#);
    insta::assert_snapshot!(shown(
        "[providers.codex]\nprogram = \"/opt/codex\"",
        "[providers.codex]\napi_key_env = \"AWS_SECRET_ACCESS_KEY\"",
    ), @r#"
    provider codex
      program = "/opt/codex"
      api_key_env = "AWS_SECRET_ACCESS_KEY"
    "#);
    assert_eq!(
        shown("[providers.x]\ntype = \"command\"\nprogram = \"sh\"", "[providers.x]\nmodel = \"m\""),
        ""
    );
}

#[test]
fn consent_to_a_provider_ends_when_any_byte_of_it_changes() {
    let text = |argument: &str| {
        format!("[providers.x]\ntype = \"command\"\nprogram = \"sh\"\nargv = [\"{argument}\"]")
    };
    let sha256 = confined("", &text("a"), &[]).1.providers["x"].sha256.clone();
    let consents = [agreed(ConsentKind::Provider, &sha256)];
    assert!(confined("", &text("a"), &consents).1.providers["x"].is_agreed);
    assert!(!confined("", &text("b"), &consents).1.providers["x"].is_agreed);
    let elsewhere = confine(
        &ConfigLayer::default(),
        layer(ConfigFile::Project, &text("a")),
        Path::new("/other"),
        &consents,
    );
    assert!(!elsewhere.1.providers["x"].is_agreed);
}
