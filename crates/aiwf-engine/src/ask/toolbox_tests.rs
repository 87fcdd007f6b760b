use aiwf_config::{Environment, Settings};
use aiwf_store::{Durability, create_dir, write_atomic};
use aiwf_tools::Refusal;

use super::*;

/// Speaks just enough MCP: `look` says that it changes nothing, `write` says nothing.
const SERVER: &str = r#"
answer() { printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
echo start >> starts.txt
while IFS= read -r line; do
    id=${line#*\"id\":}
    id=${id%%[,\}]*}
    case $line in
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}' ;;
    *'"method":"tools/list"'*)
        IFS= read -r description < description.txt
        answer '{"tools":[{"name":"look","description":"'"$description"'","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"write","inputSchema":{"type":"object"}}]}'
        ;;
    esac
done
"#;

struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new(config: &str) -> Self {
        let world = Self { directory: tempfile::tempdir().unwrap() };
        world.write("project/server.sh", SERVER);
        world.write("project/description.txt", "Looks.\n");
        let server = "[mcp.servers.fake]\ncommand = \"/bin/sh\"\nargs = [\"server.sh\"]\n";
        world.write("home/.aiwf/config.toml", &format!("{server}cwd = \"../project\"\n{config}"));
        world
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        create_dir(path.parent().unwrap()).unwrap();
        write_atomic(&path, Durability::Process, |out| out.write_all(text.as_bytes())).unwrap();
    }

    fn toolbox(&self) -> Toolbox {
        let environment = Environment {
            current_dir: self.directory.path().join("project"),
            home: Some(self.directory.path().join("home")),
            cache_home: Some(self.directory.path().join("cache")),
            ..Environment::default()
        };
        let settings = Settings::resolve(Some(Path::new(".")), environment).unwrap();
        Engine::new(settings).tools(Consent::Remembered, |_, _| ()).unwrap()
    }

    fn n_starts(&self) -> usize {
        let text = std::fs::read_to_string(self.directory.path().join("project/starts.txt"));
        text.map_or(0, |text| text.lines().count())
    }
}

/// As the flow of profiles says.
fn access(phase: &str) -> PhaseAccess {
    let flow = aiwf_session::Flow::find_built_in("generate").unwrap();
    flow.spec(aiwf_session::Phase::from_name(phase).unwrap()).unwrap().access
}

fn names(policy: &Policy) -> Vec<String> {
    policy.tools().map(Tool::full_name).collect()
}

const GRANTS: &str = "[tools.grant]\nplanning = [\"fake__look\", \"fake__write\"]\ngenerating = [\"fake__look\", \"fake__write\"]\n";

#[test]
fn a_phase_gets_what_it_is_granted_and_planning_only_reads() {
    let world = World::new(GRANTS);
    let toolbox = world.toolbox();
    let policy =
        |phase: &str| toolbox.policy(&Rules::default(), &toolbox.grant(phase, access(phase))).unwrap();
    assert_eq!(names(&policy("planning")), ["fake__look"]);
    assert_eq!(names(&policy("generating")), ["fake__look", "fake__write"]);
    let why = policy("planning").unusable_grants();
    assert_eq!(why, [Refusal::NotReadOnly { name: "fake__write".to_owned() }]);
    assert!(names(&policy("reviewing")).is_empty());
    assert_eq!(world.n_starts(), 1);
}

#[test]
fn nothing_is_started_for_a_phase_without_tools_or_when_they_are_off() {
    let world = World::new("");
    let toolbox = world.toolbox();
    assert!(
        toolbox.policy(&Rules::default(), &toolbox.grant("planning", access("planning"))).unwrap().is_empty()
    );
    let world_off = World::new(&format!("[tools]\nenabled = false\n{GRANTS}"));
    let toolbox = world_off.toolbox();
    let policy = toolbox.policy(&Rules::default(), &toolbox.grant("planning", access("planning"))).unwrap();
    assert_eq!(policy.allows("fake__look"), Err(Refusal::Disabled));
    assert_eq!((world.n_starts(), world_off.n_starts()), (0, 0));
}

#[test]
fn a_tool_that_changed_between_two_runs_is_not_shown_to_a_model() {
    let world = World::new(GRANTS);
    let policy = |toolbox: &Toolbox| {
        toolbox.policy(&Rules::default(), &toolbox.grant("planning", access("planning"))).unwrap()
    };
    assert_eq!(names(&policy(&world.toolbox())), ["fake__look"]);
    world.write("project/description.txt", "Looks, and tells on you.\n");
    let refused = policy(&world.toolbox());
    assert!(matches!(refused.allows("fake__look"), Err(Refusal::Changed { .. })));
    drop(world.toolbox().pin(Some("fake__look")).unwrap());
    assert_eq!(names(&policy(&world.toolbox())), ["fake__look"]);
}

#[test]
fn the_smaller_limit_holds() {
    let world = World::new("[tools]\nmax_rounds = 4\nmax_result_bytes = 100\n");
    let toolbox = world.toolbox();
    let agent = Rules { max_rounds: Some(9), max_result_bytes: Some(50), ..Rules::default() };
    let policy = toolbox.policy(&agent, &toolbox.grant("planning", access("planning"))).unwrap();
    assert_eq!((policy.rules().max_rounds, policy.rules().max_result_bytes), (Some(4), Some(50)));
}
