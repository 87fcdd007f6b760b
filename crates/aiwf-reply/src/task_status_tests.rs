use insta::assert_snapshot;

use super::*;

fn check(reply: &str) -> String {
    let parsed = parse_task_status(reply);
    let tasks = parsed.value.iter().map(|task| format!("{} {}", task.id, task.status));
    let problems = parsed.problems.iter().map(ToString::to_string);
    tasks.chain(problems).collect::<Vec<_>>().join("\n")
}

#[test]
fn reads_each_task_in_order() {
    let reply = "Done:\n<task_status id=\"1.2\">COMPLETED</task_status>\n<task_status id='1.1'> failed </task_status>\n\
                 <task_status note=\"a > b\" ID=3>Completed</task_status>";
    assert_snapshot!(check(reply), @"
    1.2 COMPLETED
    1.1 FAILED
    3 COMPLETED
    ");
}

#[test]
fn none_at_all_is_a_problem() {
    assert_snapshot!(check("All tasks are done."), @r#"line 1, column 1: no task status: write `<task_status id="1.2">COMPLETED</task_status>` or `FAILED` for each task"#);
    assert_snapshot!(check("Write `<task_status id=\"1\">COMPLETED</task_status>`"), @"line 1, column 8: this `<task_status>` does not count because it is quoted, code or a thought: write it as plain text");
    assert_snapshot!(check("a <task_status> tag"), @"line 1, column 3: `<task_status>` is not closed: write `COMPLETED` or `FAILED`, then `</task_status>`");
}

#[test]
fn a_task_needs_an_id_and_a_known_status() {
    assert_snapshot!(check("<task_status>COMPLETED</task_status>"), @r#"line 1, column 1: `<task_status>` has no id: write `<task_status id="1.2">` with the id of the task"#);
    assert_snapshot!(check("<task_status id=\"\" name=\"1\">COMPLETED</task_status>"), @r#"line 1, column 1: `<task_status>` has no id: write `<task_status id="1.2">` with the id of the task"#);
    assert_snapshot!(check("<task_status id=\"1\">DONE</task_status>\n<task_status id=\"2\">FAILED</task_status>"), @"
    2 FAILED
    line 1, column 1: status of task `1` is `DONE`: write `COMPLETED` or `FAILED`
    ");
    assert_snapshot!(check("<task_status id=\"1\"/>"), @"line 1, column 1: status of task `1` is empty: write `COMPLETED` or `FAILED`");
    assert_snapshot!(check("<task_status id=\"1\">COMPLETED"), @"line 1, column 1: `<task_status>` is not closed: end it with `</task_status>`");
}

#[test]
fn failed_wins_a_conflict() {
    let reply = "<task_status id=\"1\">FAILED</task_status>\n<task_status id=\"2\">COMPLETED</task_status>\n\
                 <task_status id=\"1\">COMPLETED</task_status>";
    assert_snapshot!(check(reply), @"
    1 FAILED
    2 COMPLETED
    line 3, column 1: task `1` is both `COMPLETED` and `FAILED`, so `FAILED` is used: write one status for each task
    ");
    let reply = "<task_status id=\"1\">COMPLETED</task_status><task_status id=\"1\">COMPLETED</task_status>";
    assert_snapshot!(check(reply), @"1 COMPLETED");
}

#[test]
fn quoted_and_thought_about_tasks_do_not_count() {
    let reply = "<thought><task_status id=\"1\">FAILED</task_status></thought>\n> <task_status id=\"2\">FAILED</task_status>\n\
                 ```xml\n<task_status id=\"3\">FAILED</task_status>\n```\n<task_status id=\"4\">COMPLETED</task_status>";
    assert_snapshot!(check(reply), @"4 COMPLETED");
}
