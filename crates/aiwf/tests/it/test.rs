//! `aiwf test`: what it prints, its reports and its exit codes.

use std::path::Path;

use aiwf_testkit::TestProject;
use insta::assert_snapshot;

use crate::scene::eventually;
use crate::{json, project};

const CASES: &str = r#"
[[case]]
name = "the plan"
recipe = "change"
document = { phase = "plan", instructions = "Add login" }
for = ["none"]
format = "text"
[[case.assert]]
type = "golden"
[[case.assert]]
type = "section.present"
section = "instructions"
"#;

fn tested() -> TestProject {
    project().file(".aiwf/templates/system/BASE-plan.md", "Plan well.\n").file(".aiwf/tests/plan.toml", CASES)
}

#[test]
fn failures_come_first_with_file_line_section_and_diff() {
    let project = tested();
    assert_snapshot!(project.run("test --update"), @"
    --- stdout
    ok        the plan                                        none
    wrote .aiwf/tests/goldens/the-plan.none.text

    1 passed
    --- exit code 0
    ");
    project.write(".aiwf/templates/system/BASE-plan.md", "Plan badly.\n");
    assert_snapshot!(project.run("test"), @"
    --- stdout
    FAILED  the plan  (none, text)
      .aiwf/tests/plan.toml:9  golden: section `system-template` changed
        @@ -1 +1 @@
        -Plan well.
        +Plan badly.

    FAILED    the plan                                        none

    0 passed, 1 failed
    --- exit code 1
    ");
    assert_snapshot!(project.run("test --github --filter plan"), @"
    --- stdout
    FAILED  the plan  (none, text)
      .aiwf/tests/plan.toml:9  golden: section `system-template` changed
        @@ -1 +1 @@
        -Plan well.
        +Plan badly.

    FAILED    the plan                                        none

    0 passed, 1 failed
    ::error file=.aiwf/tests/plan.toml,line=9,title=the plan (none)::golden: section `system-template` changed%0A@@ -1 +1 @@%0A-Plan well.%0A+Plan badly.%0A
    --- exit code 1
    ");
}

#[test]
fn results_are_json_and_junit() {
    let project = tested();
    project.run("test --update");
    let printed = json(&project.run("test --json"));
    assert_eq!(printed["command"], "test");
    assert_eq!(printed["counts"]["passed"], 1);
    assert_eq!(printed["results"][0]["for"], "none");
    project.write(".aiwf/templates/system/BASE-plan.md", "Plan \"badly\" & <fast>.\n");
    project.run("test --junit results.xml");
    let xml = String::from_utf8(project.read("results.xml")).unwrap();
    let times = regex_lite::Regex::new("time=\"[0-9.]+\"").unwrap();
    assert_snapshot!(times.replace_all(&xml, "time=\"T\""), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name=".aiwf/tests/plan.toml" tests="1" failures="1" errors="0" skipped="0" time="T">
        <testcase name="the plan [none, text]" classname=".aiwf/tests/plan.toml" file=".aiwf/tests/plan.toml" line="3" time="T">
          <failure type="golden" message="section `system-template` changed">.aiwf/tests/plan.toml:9&#10;@@ -1 +1 @@&#10;-Plan well.&#10;+Plan &quot;badly&quot; &amp; &lt;fast&gt;.&#10;</failure>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn a_program_of_a_test_needs_consent_that_a_flag_gives() {
    let case = "[[case]]\nname = \"a\"\nrecipe = \"change\"\ndocument = { instructions = \"x\" }\nfor = [\"none\"]\nreply = \"r.md\"\n\
        [[case.assert]]\ntype = \"run\"\nvalue = \"true\"\n";
    let project = project().file(".aiwf/tests/a.toml", case).file(".aiwf/tests/r.md", "yes\n");
    assert_snapshot!(project.run("test"), @"
    --- stdout
    ERROR  a  (none, xml)
      .aiwf/tests/a.toml:8  run: you have not agreed to the program `true`

    ERROR     a                                               none

    0 passed, 1 with errors
    --- stderr
    agree to programs of tests with `--trust-programs`
    --- exit code 1
    ");
    assert_snapshot!(project.run("test --trust-programs"), @"
    --- stdout
    ok        a                                               none

    1 passed
    --- exit code 0
    ");
    assert_snapshot!(project.run("trust remove test true"), @"
    --- stdout
    removed test true
    --- exit code 0
    ");
}

#[test]
fn nothing_to_test_and_wrong_flags_are_errors() {
    assert_snapshot!(project().run("test"), @"
    --- stderr
    error: there are no tests in `[project]`

    hint: write cases to `.aiwf/tests/NAME.toml`, or name a profile, a flow, a package or a test file
    --- exit code 1
    ");
    assert_snapshot!(project().run("test --record-missing"), @"
    --- stderr
    error: missing `--live`

    hint: write it like `aiwf test`; `aiwf test --help` shows more
    --- exit code 2
    ");
    assert_snapshot!(tested().run("test --min-pass 2"), @"
    --- stderr
    error: `2` is not valid for `--min-pass`: expected a share from 0 to 1, such as 0.9

    hint: `aiwf test --help` shows its usage
    --- exit code 2
    ");
}

#[test]
fn a_provider_that_fails_is_exit_code_4() {
    let cases = CASES
        .replace("for = [\"none\"]", "for = [\"broken\"]")
        .replace("type = \"golden\"", "type = \"contains\"\nvalue = \"x\"");
    let project = project()
        .file(
            "~/.aiwf/config.toml",
            "[providers.broken]\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", \"exit 3\"]\n",
        )
        .file(".aiwf/templates/system/BASE-plan.md", "Plan well.\n")
        .file(".aiwf/tests/plan.toml", cases);
    assert_snapshot!(project.run("test"), @"
    --- stdout
    ok        the plan                                        broken

    1 passed
    1 assertion not checked: there is no reply, and `--live` asks for one
    --- exit code 0
    ");
    assert_snapshot!(project.run("test --live"), @"
    --- stdout
    PROVIDER  the plan  (broken, text)
      .aiwf/tests/plan.toml:9  contains: `broken` failed: it ended with exit code 3

    PROVIDER  the plan                                        broken

    0 passed, 1 without an answer; 1 call
    --- exit code 4
    ");
}

#[test]
fn the_tests_of_shipped_profiles_and_flows_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let root = root.display();
    let printed = json(&project().run(&format!("test --json {root}/profiles {root}/flows")));
    let failures: Vec<_> = printed["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|result| result["outcome"] != "passed")
        .map(|result| format!("{result:#}"))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(printed["counts"]["passed"].as_u64().unwrap() >= 25, "{}", printed["counts"]);
}

#[test]
fn watching_runs_again_when_a_template_changes() {
    let project = tested();
    project.run("test --update");
    let watching = project.command("test --watch --junit results.xml").spawn();
    let has = |text: &str| {
        let xml = std::fs::read_to_string(project.path("results.xml"));
        xml.is_ok_and(|xml| xml.contains(text))
    };
    eventually("the first run", || has("failures=\"0\""));
    project.write(".aiwf/templates/system/BASE-plan.md", "Plan badly.\n");
    eventually("the second run", || has("failures=\"1\""));
    watching.signal("INT");
    let ended = watching.wait();
    assert_eq!(ended.exit_code(), 1, "{ended}");
}

#[test]
fn nothing_that_a_test_prints_is_a_command_of_github() {
    let project = tested();
    project.write(".aiwf/templates/system/BASE-plan.md", "Plan well.\n::stop-commands::x\n##[error]y\n");
    project.run("test --update");
    project.write(".aiwf/templates/system/BASE-plan.md", "::add-mask::x\n  ::error::y\n##[error]z\n");
    let case = CASES
        .replace("the plan", "::error::name")
        .replace("\"golden\"", "\"section.contains\"\nvalue = \"::gone\"");
    project.write(".aiwf/tests/other.toml", &case);
    let printed = project.run("test --github").to_string();
    let ours = |line: &str| line.starts_with("::error file=.aiwf/tests/");
    let commands: Vec<&str> = printed
        .lines()
        .filter(|line| !ours(line))
        .filter(|line| line.trim_start().starts_with("::") || line.contains("##["))
        .collect();
    assert!(commands.is_empty(), "{commands:?}");
    assert_eq!(printed.lines().filter(|line| ours(line)).count(), 2, "{printed}");
}

#[test]
fn junit_has_a_drop_and_a_missed_share() {
    let project = tested();
    project.run("test --update");
    project.write("before.json", json(&project.run("test --json")).to_string());
    project.write(".aiwf/templates/system/BASE-plan.md", "Plan badly.\n");
    project.run("test --baseline before.json --min-pass 0.5 --junit results.xml");
    let xml = String::from_utf8(project.read("results.xml")).unwrap();
    let (_, whole) = xml.split_once("<testsuite name=\"the whole run\"").unwrap();
    assert_snapshot!(whole, @r#"
     tests="2" failures="2" errors="0" skipped="0" time="0.000">
        <testcase name=".aiwf/tests/plan.toml: the plan [none]" classname="the whole run" time="0.000">
          <failure type="baseline" message="it passes 0 % of its runs, 100 % in the baseline"/>
        </testcase>
        <testcase name="the share of passed cases" classname="the whole run" time="0.000">
          <failure type="min-pass" message="0 of 1 cases passed; at least 50 % must"/>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}
