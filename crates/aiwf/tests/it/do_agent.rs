//! Where an agent that edits files works during `aiwf do`, alone and beside others.

#![expect(clippy::disallowed_methods, reason = "these tests ask git as a user would")]

use std::collections::BTreeSet;
use std::process::Command;

use aiwf_testkit::TestProject;
use serde_json::Value;

use crate::json;
use crate::scene::Scene;

/// An agent that writes in every phase, whether the phase allows it or not, and reports what it found.
const AGENT: &str = r#"prompt=$(cat)
printf '%s:%s\n' "$PWD" "$(cat list.py)" >> "$HOME/seen"
case $prompt in
*"You implement"*) printf 'print("json")\n' > list.py; echo 'Done.';;
*"<review>"*) printf 'spoiled\n' > list.py; printf '<review>PASS</review>\n';;
*) printf 'spoiled\n' > list.py; printf '# Plan\n\nChange list.py.\n';;
esac
"#;

#[test]
fn an_agent_that_cannot_be_confined_never_writes_in_the_project_and_reviews_the_result() {
    let scene = Scene { project: crate::project().file("list.py", "print(\"text\")\n") };
    let agent = scene.project.home().join("agent.sh").display().to_string();
    scene.project.write("~/agent.sh", AGENT);
    let config =
        format!("[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"{agent}\"]\nwrite = true\n");
    scene.project.write("~/.aiwf/config.toml", config);
    let done: Value = json(&scene.project.run("do 'Print JSON' --agent agent --yes --json"));
    assert_eq!((&done["exit_code"], &done["status"]), (&0.into(), &"complete".into()), "{done}");
    assert_eq!(scene.project.read("list.py"), b"print(\"json\")\n");

    let seen = String::from_utf8(scene.project.read("~/seen")).unwrap();
    let found: Vec<&str> = seen.lines().map(|line| line.rsplit_once(':').unwrap().1).collect();
    assert_eq!(found, ["print(\"text\")", "print(\"text\")", "print(\"json\")"]);
    assert!(seen.lines().all(|line| line.contains("/worktrees/")), "{seen}");
}

/// How many sessions are at work at once.
const N_SESSIONS: usize = 8;

/// How many of them put their result on a branch; the others into the working tree.
const N_BRANCHES: usize = 4;

/// Changes its own file, and for a branch one that all others change as well, once all of them are at work.
const ONE_OF_MANY: &str = r#"prompt=$(cat)
number=$(printf '%s' "$prompt" | sed -n 's/.*Change file \([0-9]\).*/\1/p' | head -n 1)
case $prompt in
*"You implement"*)
    : > "$HOME/at-$number"
    n=0
    until [ "$(ls "$HOME" | grep -c '^at-')" = 8 ]; do
        n=$((n + 1))
        [ $n -lt 5000 ] || exit 1
        sleep 0.1
    done
    printf 'changed by %s\n' "$number" > "file-$number.txt"
    [ "$number" -ge 4 ] || printf 'changed by %s\n' "$number" > shared.txt
    echo "Changed file $number.";;
*"<review>"*) printf '<review>PASS</review>\n';;
*) printf '# Plan\n\nChange file %s.\n' "$number";;
esac
"#;

fn git(project: &TestProject, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(project.root())
        .env_clear()
        .env("HOME", project.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn eight_sessions_at_once_in_one_repository_lose_and_mix_nothing() {
    let mut project = crate::project().file("shared.txt", "shared\n");
    for number in 0..N_SESSIONS {
        project = project.file(&format!("file-{number}.txt"), "as it was\n");
    }
    project.write(
        "~/.gitconfig",
        "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n",
    );
    project.write("~/agent.sh", ONE_OF_MANY);
    let agent = project.home().join("agent.sh").display().to_string();
    let config =
        format!("[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"{agent}\"]\nwrite = true\n");
    project.write("~/.aiwf/config.toml", config);
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "First"]] {
        git(&project, args);
    }
    let head = git(&project, &["rev-parse", "HEAD"]);

    let begin = |number: usize| {
        let branch = if number < N_BRANCHES { format!("--branch=many/{number}") } else { String::new() };
        let line = format!("do 'Change file {number}' --agent agent --yes {branch} --json");
        project.command(&line).env("PATH", "/usr/local/bin:/usr/bin:/bin").spawn()
    };
    let running: Vec<_> = (0..N_SESSIONS).map(begin).collect();
    let done: Vec<Value> = running.into_iter().map(|running| json(&running.wait())).collect();

    let mut ids = BTreeSet::new();
    for (number, done) in done.iter().enumerate() {
        assert_eq!((&done["exit_code"], &done["status"]), (&0.into(), &"complete".into()), "{done}");
        let own = format!("file-{number}.txt");
        let files: Vec<&str> =
            done["files"].as_array().unwrap().iter().map(|file| file["target"].as_str().unwrap()).collect();
        let id = done["session_id"].as_str().unwrap();
        let outcome = project.run(&format!("verify {id}"));
        assert_eq!(outcome.exit_code(), 0, "{outcome}");
        ids.insert(id.to_owned());
        if number >= N_BRANCHES {
            assert_eq!(files, [own.as_str()]);
            assert_eq!(project.read(&own), format!("changed by {number}\n").as_bytes());
            continue;
        }
        assert_eq!(files, [own.as_str(), "shared.txt"]);
        // The branch has what this session did and nothing of the others.
        let branch = format!("many/{number}");
        assert_eq!(git(&project, &["diff", "--name-only", "main", &branch]), format!("{own}\nshared.txt\n"));
        for path in [own.as_str(), "shared.txt"] {
            let text = git(&project, &["show", &format!("{branch}:{path}")]);
            assert_eq!(text, format!("changed by {number}\n"), "{path}");
        }
        assert_eq!(git(&project, &["rev-parse", &format!("{branch}~1")]), head);
    }
    assert_eq!(ids.len(), N_SESSIONS);
    // The user's checkout has what was meant for it and nothing else.
    assert_eq!(git(&project, &["rev-parse", "HEAD"]), head);
    assert_eq!(git(&project, &["symbolic-ref", "--short", "HEAD"]), "main\n");
    let changed: Vec<String> =
        (N_BRANCHES..N_SESSIONS).map(|number| format!(" M file-{number}.txt\n")).collect();
    assert_eq!(git(&project, &["status", "--porcelain", "--", ":!.aiwf"]), changed.concat());
    git(&project, &["fsck", "--no-dangling"]);
}

#[test]
fn a_commit_takes_no_uncommitted_change_of_the_user_with_it() {
    let project = crate::project().file("list.py", "print(\"text\")\n");
    project.write("~/.gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n");
    let agent = project.home().join("agent.sh").display().to_string();
    project.write("~/agent.sh", AGENT);
    let config =
        format!("[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"{agent}\"]\nwrite = true\n");
    project.write("~/.aiwf/config.toml", config);
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "First"]] {
        git(&project, args);
    }
    let head = git(&project, &["rev-parse", "HEAD"]);
    project.write("list.py", "print(\"mine\")\n");
    let refused = project.run("do 'Print JSON' --agent agent --yes --commit");
    assert_eq!(refused.exit_code(), 3, "{refused}");
    assert!(refused.stderr_text().contains("1 file has uncommitted changes: `list.py`"), "{refused}");
    assert_eq!(project.read("list.py"), b"print(\"mine\")\n");
    assert_eq!(git(&project, &["rev-parse", "HEAD"]), head);
}
