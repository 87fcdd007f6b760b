use super::*;

pub(crate) fn stdio(name: &str, command: &str, args: &[&str]) -> ServerSpec {
    ServerSpec::new(
        name,
        Launch::Stdio {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::new(),
            cwd: PathBuf::from("/work"),
        },
    )
}

#[test]
fn a_full_name_is_unambiguous() {
    for name in ["a", "my-server", "a_b", "A1"] {
        assert!(is_server_name(name), "{name}");
    }
    for name in ["", "a__b", "_a", "a_", "a b", "a.b", "ä", &"a".repeat(33)] {
        assert!(!is_server_name(name), "{name}");
    }
}

#[test]
fn the_user_sees_exactly_what_would_be_started() {
    let mut spec = stdio("files", "npx", &["-y", "@scope/server", "a b"]);
    if let Launch::Stdio { env, .. } = &mut spec.launch {
        env.insert("TOKEN".to_owned(), "${TOKEN}".to_owned());
    }
    assert_eq!(spec.shown_command(), "TOKEN=${TOKEN} npx -y @scope/server 'a b' (in /work)");
}

#[test]
fn the_key_covers_everything_that_determines_what_runs() {
    let spec = stdio("files", "npx", &["-y", "server"]);
    let mut others = vec![
        stdio("files", "npx", &["-y", "server", "x"]),
        stdio("files", "npx", &["-y server"]),
        stdio("files", "npy", &["-y", "server"]),
    ];
    for change in [0, 1] {
        let mut other = spec.clone();
        if let Launch::Stdio { env, cwd, .. } = &mut other.launch {
            match change {
                0 => drop(env.insert("NODE_OPTIONS".to_owned(), "-r evil".to_owned())),
                _ => *cwd = PathBuf::from("/elsewhere"),
            }
        }
        others.push(other);
    }
    for other in &others {
        assert_ne!(other.key(), spec.key(), "{other:?}");
    }
    let renamed = ServerSpec { name: "other".to_owned(), ..spec.clone() };
    assert_eq!(renamed.key(), spec.key());
}

#[test]
fn a_missing_variable_is_named_with_its_server_and_setting() {
    let spec = ServerSpec::new(
        "remote",
        Launch::Http {
            url: "https://tools.example/mcp".to_owned(),
            headers: BTreeMap::from([("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())]),
        },
    );
    let error = spec.expanded(&|_| None).unwrap_err();
    assert_eq!(error.to_string(), "server `remote` needs the variable `TOKEN`, which is not set");
    assert_eq!(error.hint(), "set `TOKEN` in the environment, or change `headers.Authorization`");
    let expanded = spec.expanded(&|_| Some("secret".to_owned())).unwrap();
    let Launch::Http { headers, .. } = expanded.launch else { panic!("it was http") };
    assert_eq!(headers.get("Authorization").map(String::as_str), Some("Bearer secret"));
}

#[test]
fn invalid_settings_are_refused() {
    let check = |spec: ServerSpec, expected: &str| {
        assert_eq!(spec.check().unwrap_err().to_string(), expected);
    };
    check(stdio("a", " ", &[]), "server `a` cannot be used: `command` is empty");
    check(stdio("a", "x", &["\0"]), "server `a` cannot be used: a setting contains a NUL character");
    check(
        stdio("a__b", "x", &[]),
        "server `a__b` cannot be used: its name is not 1 to 32 letters, digits, `-` or single `_` inside",
    );
    let url = Launch::Http { url: "ftp://x".to_owned(), headers: BTreeMap::new() };
    check(
        ServerSpec::new("a", url),
        "server `a` cannot be used: `url` is `ftp://x`, which starts with neither `http://` nor `https://`",
    );
    assert!(stdio("a", "x", &[]).check().is_ok());
}
