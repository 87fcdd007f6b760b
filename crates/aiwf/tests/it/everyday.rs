//! An everyday profile as a person meets it: long requests from files, patterns of files, pasted replies, mistakes.

use crate::{json, project};

const CART: &str = "def total(items):\n    raise NotImplementedError\n";
const EDIT: &str = "Sums the prices.\n\n<<<EDIT: src/cart.py>>>\n<<<<<<< SEARCH\n    raise NotImplementedError\n=======\n    return sum(item.price for item in items)\n>>>>>>> REPLACE\n";
const PASS: &str = "No issues.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

#[test]
fn a_request_in_a_file_changes_the_files_of_a_pattern_by_pasted_replies() {
    let project =
        project().file("src/cart.py", CART).file("docs/notes.md", "Sum the prices.\n\nIn cents.\n\n");
    let words = ["python-module", "init", "--request", "@docs/notes.md", "--file", "src/*.py", "--json"];
    let begun = json(&project.run_args(words));
    assert_eq!(begun["context"]["request"], "Sum the prices.\n\nIn cents.");
    assert_eq!(begun["context"]["file"], serde_json::json!(["src/cart.py"]));
    let listed = json(&project.run("list --json"));
    assert_eq!(listed["sessions"][0]["title"], "python-module: Sum the prices. In cents.", "{listed:#}");
    for reply in ["# Plan\n\nSum the prices.\n", EDIT, PASS] {
        project.run("approve");
        let responded = project.run_with_input("respond", reply);
        assert_eq!(responded.exit_code(), 0, "{responded}");
        project.run("approve");
    }
    let applied = project.run("apply");
    assert_eq!(applied.exit_code(), 0, "{applied}");
    assert_eq!(
        project.read("src/cart.py"),
        CART.replace("raise NotImplementedError", "return sum(item.price for item in items)").as_bytes()
    );
}

#[test]
fn two_at_signs_are_one_and_a_missing_file_is_told_with_what_to_do() {
    let project = project();
    let begun = project.run_args(["python-module", "init", "--request", "@@property is slow", "--json"]);
    assert_eq!(json(&begun)["context"]["request"], "@property is slow");
    for words in [
        ["python-module", "init", "--request", "@none.md"].as_slice(),
        &["do", "@none.md"],
        &["change", "new", "login", "@none.md"],
        &["flow", "start", "do", "@none.md"],
    ] {
        let refused = project.run_args(words.iter().copied());
        assert_eq!(refused.exit_code(), 2, "{refused}");
        let stderr = refused.stderr_text();
        assert!(stderr.contains("error: cannot read the text from `none.md`: "), "{stderr}");
        assert!(
            stderr.contains("hint: fix the path, or write `@@none.md` if the text itself begins with `@`"),
            "{stderr}"
        );
    }
}

#[test]
fn every_mistake_in_the_parameters_is_told_at_once() {
    let project = project().file("src/cart.py", CART);
    let refused = project.run("python-module init --file src/*.pyy --file ../other.py --test-runner pytets");
    insta::assert_snapshot!(refused.stderr_text(), @r"
    error: profile `python-module` cannot start a session
      `--request` is missing
      `--test-runner` is `pytets`, not one of `pytest`, `unittest`
      `--file` names `src/*.pyy`, which matches no file

    hint: `aiwf python-module init --help` shows every flag
    ");
    let model = project.run("profile new ours --project --from pyton-module");
    insta::assert_snapshot!(model.stderr_text(), @r"
    error: a profile cannot be made from `pyton-module`

    hint: did you mean `python-module`? `aiwf profiles` lists the profiles
    ");
}

/// An agent that edits the files it is to change, and reports how it was told to answer.
const AGENT: &str = r#"prompt=$(cat)
case $prompt in
*"Task: carry out"*)
    case $prompt in *"<<<EDIT"*|*"Save your complete response"*) echo "told to reply" >> "$HOME/told";; esac
    printf 'pub fn total() -> u64 {\n    0\n}\n' > src/lib.rs; echo 'Done.';;
*"Task: review"*)
    printf 'No issues.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n';;
*) printf '# Plan\n\nReturn nothing.\n';;
esac
"#;

#[test]
fn an_agent_edits_a_worktree_and_is_not_told_to_reply_with_edits() {
    let before = "pub fn total() -> u64 {\n    todo!()\n}\n";
    let project = project().file("src/lib.rs", before);
    let agent = project.home().join("agent.sh").display().to_string();
    project.write("~/agent.sh", AGENT);
    let config = format!(
        "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"{agent}\"]\nwrite = true\n"
    );
    project.write("~/.aiwf/config.toml", config);
    let done =
        json(&project.run_args(["rust-crate", "init", "--request", "x", "--file", "src", "--yes", "--json"]));
    assert_eq!((&done["exit_code"], &done["status"]), (&0.into(), &"complete".into()), "{done}");
    assert_eq!(project.read("src/lib.rs"), before.as_bytes(), "nothing is written before `apply`");
    assert!(!project.home().join("told").exists());
    assert_eq!(project.run("apply").exit_code(), 0);
    assert_eq!(project.read("src/lib.rs"), before.replace("todo!()", "0").as_bytes());
}
