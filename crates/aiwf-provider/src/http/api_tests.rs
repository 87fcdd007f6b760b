use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn the_path_of_a_base_stays_and_its_slash_is_not_doubled() {
    let join = |text: &str| join(&url(text), &["models"]).to_string();
    assert_eq!(join("http://x/v1"), "http://x/v1/models");
    assert_eq!(join("http://x/v1/"), "http://x/v1/models");
    assert_eq!(join("http://x"), "http://x/models");
    assert_eq!(join("http://x/v1?api-version=2"), "http://x/v1/models?api-version=2");
}

#[test]
fn a_model_s_name_cannot_leave_its_place() {
    let gemini = |model: &str| gemini_url(&url("http://x"), model).to_string();
    assert_eq!(gemini("g-1"), "http://x/v1beta/models/g-1:streamGenerateContent?alt=sse");
    assert_eq!(gemini("tunedModels/t"), "http://x/v1beta/tunedModels/t:streamGenerateContent?alt=sse");
    assert_eq!(gemini("a/../../x"), "http://x/v1beta/a/..%2F..%2Fx:streamGenerateContent?alt=sse");
}
