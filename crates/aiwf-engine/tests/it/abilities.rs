//! What providers can do with files when nobody says, and which of two profiles of one name is used.

use aiwf_engine::profile::scaffold;

use crate::scene::Scene;

#[test]
fn a_command_is_asked_for_text_unless_its_reply_is_a_file() {
    let table = |reply: &str| {
        format!(
            "[roles]\ndefault = \"mine\"\n[providers.mine]\ntype = \"command\"\nargv = [\"true\"]\n{reply}"
        )
    };
    let ability = |reply: &str| {
        let scene = Scene::new().file(".aiwf/config.toml", table(reply));
        let listed = scene.engine.providers(None).unwrap();
        listed.iter().find(|provider| provider.name == "mine").unwrap().fs_ability
    };
    assert_eq!(ability(""), "none");
    assert_eq!(ability("reply = \"stdout\"\n"), "none");
    assert_eq!(ability("reply = \"json:/text\"\n"), "none");
    assert_eq!(ability("reply = \"file\"\n"), "local-write");
    assert_eq!(ability("fs_ability = \"write-only\"\n"), "write-only");
}

#[test]
fn the_ability_in_force_is_known_where_a_prompt_waits() {
    let scene = Scene::new();
    scene.create().unwrap();
    let ability = scene.engine.ability_in_force(None::<&str>).unwrap().unwrap();
    assert_eq!((ability.provider.as_str(), ability.fs_ability), ("manual", "local-write"));
    let scene = Scene::new().file(".aiwf/config.toml", "[providers.manual]\nfs_ability = \"none\"\n");
    scene.create().unwrap();
    assert_eq!(scene.engine.ability_in_force(None::<&str>).unwrap().unwrap().fs_ability, "none");
}

#[test]
fn a_profile_that_hides_another_says_so_whenever_it_is_used() {
    let scene = Scene::new();
    for (path, text) in scaffold("react-component") {
        scene.write(&format!(".aiwf/profiles/react-component/{path}"), &text);
    }
    let expected =
        ["there are two profiles `react-component`: the built-in one is used and the project one is not"];
    assert_eq!(scene.engine.profile_warnings("react-component"), expected);
    scene.create().unwrap();
    assert_eq!(scene.engine.session_report(None::<&str>).unwrap().warnings, expected);
    assert_eq!(scene.approve().report.warnings, expected);
    assert_eq!(Scene::new().engine.profile_warnings("react-component"), Vec::<String>::new());
}
