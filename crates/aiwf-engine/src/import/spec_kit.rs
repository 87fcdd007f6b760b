//! Makes a flow of a spec-kit project: specify, plan, tasks, implement, review.
//!
//! In: `.specify/` and the command files of its agents. Out: a flow with the project's own forms and instructions, its
//! constitution as a standard, and what has no place in a flow. Looked at: spec-kit 1.2.3.

use std::collections::BTreeSet;

use super::flow_text::{ABOUT_PROJECT, TextPhase, review_template, spec_flow};
use super::literal::{fenced, literal};
use super::markdown::{document, parts};
use super::tree::Tree;
use super::{Converted, MadeFile, MadeFlow, NotCarried};

pub(super) const WANTED: [&str; 12] = [
    ".specify",
    "specs",
    ".claude/skills",
    ".claude/commands",
    ".agents/skills",
    ".github/skills",
    ".github/agents",
    ".github/prompts",
    ".gemini/commands",
    ".codex/prompts",
    ".cursor/commands",
    ".opencode/command",
];

/// Where agents keep a command, as what stands before and after its name; the first that is there counts.
const COMMAND_FILES: [(&str, &str); 11] = [
    (".claude/skills/speckit-", "/SKILL.md"),
    (".claude/commands/speckit.", ".md"),
    (".agents/skills/speckit-", "/SKILL.md"),
    (".github/skills/speckit-", "/SKILL.md"),
    (".github/agents/speckit.", ".agent.md"),
    (".github/prompts/speckit.", ".prompt.md"),
    (".gemini/commands/speckit.", ".toml"),
    (".codex/prompts/speckit.", ".md"),
    (".cursor/commands/speckit.", ".md"),
    (".opencode/command/speckit.", ".md"),
    (".specify/templates/commands/", ".md"),
];

/// Parts of a command that are about spec-kit's own machinery.
const MACHINERY: [&str; 7] = [
    "User Input",
    "Pre-Execution Checks",
    "Mandatory Post-Execution Hooks",
    "Post-Execution Checks",
    "Post-Execution Hooks",
    "Completion Report",
    "Done When",
];

const CONSTITUTION: &str = ".specify/memory/constitution.md";
const STANDARD: &str = ".aiwf/standards/constitution.md";

struct Phase {
    command: &'static str,
    form: Option<&'static str>,
    artifact: &'static str,
    task: &'static str,
}

const PHASES: [Phase; 4] = [
    Phase {
        command: "specify",
        form: Some("spec-template.md"),
        artifact: "specification",
        task: "You turn a request into a feature specification for a team to plan from. You do not decide how to build it.",
    },
    Phase {
        command: "plan",
        form: Some("plan-template.md"),
        artifact: "plan",
        task: "You plan the implementation of the approved artifact `specification` in an existing software project.",
    },
    Phase {
        command: "tasks",
        form: Some("tasks-template.md"),
        artifact: "tasks",
        task: "You split the approved artifact `plan` into tasks that are done in order. The artifact `specification` says why.",
    },
    Phase {
        command: "implement",
        form: None,
        artifact: "implementation",
        task: "You implement the approved artifact `tasks` in an existing software project. The artifacts `specification` and \
               `plan` say why; after a review, the artifact `review` says what to fix first.",
    },
];

pub(super) fn convert(tree: &Tree, name: &str) -> Converted {
    let mut converted = Converted::default();
    if tree.below(".specify").next().is_none() {
        return converted;
    }
    let mut files = Vec::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for phase in &PHASES {
        files.push(template(phase, tree, &mut used, &mut converted));
    }
    files.push(review_template("`specification`, `plan` and `tasks`", Vec::new()));
    let text_phases: Vec<TextPhase> = PHASES
        .iter()
        .take(3)
        .enumerate()
        .map(|(idx, phase)| TextPhase {
            name: phase.command.to_owned(),
            artifact: phase.artifact.to_owned(),
            reads: PHASES.iter().take(idx).map(|phase| phase.command.to_owned()).collect(),
        })
        .collect();
    let text =
        spec_flow("spec-kit", "Specify, plan, split into tasks, implement, review (spec-kit)", &text_phases);
    files.insert(0, MadeFile { path: "flow.toml".to_owned(), text, from: Vec::new() });
    converted.flows.push(MadeFlow { name: name.to_owned(), files });
    constitution(tree, &mut used, &mut converted);
    leave_the_rest(tree, &used, &mut converted);
    converted
}

fn constitution(tree: &Tree, used: &mut BTreeSet<String>, converted: &mut Converted) {
    used.insert(CONSTITUTION.to_owned());
    let Some(text) = tree.text(CONSTITUTION) else { return };
    if text.contains("[PROJECT_NAME]") || text.contains("[PRINCIPLE_1_NAME]") {
        converted.leave(
            CONSTITUTION,
            "the constitution",
            "it is still the unfilled template",
            "fill it in and import again, or write your rules to `.aiwf/standards/`",
        );
        return;
    }
    converted.notes.push(format!(
        "the constitution becomes `{STANDARD}`: it is in every prompt of this flow, and in the standards of profile sessions"
    ));
    converted.files.push(MadeFile {
        path: STANDARD.to_owned(),
        text: text.to_owned(),
        from: vec![CONSTITUTION.to_owned()],
    });
}

/// The template of a phase: its task, the project's form for its document, and the project's own instructions.
fn template(phase: &Phase, tree: &Tree, used: &mut BTreeSet<String>, converted: &mut Converted) -> MadeFile {
    let mut from = Vec::new();
    let mut text = format!("{}\n\n{ABOUT_PROJECT}", phase.task);
    if phase.command != "specify" {
        text.push_str("\nThe project's files and directories, possibly truncated:\n<project_structure>\n{{ PROJECT_STRUCTURE }}\n</project_structure>\n");
    }
    let form = phase.form.and_then(|form| {
        [format!(".specify/templates/overrides/{form}"), format!(".specify/templates/{form}")]
            .into_iter()
            .find_map(|path| Some((tree.text(&path)?, path)))
    });
    if let Some((form, path)) = form {
        text.push_str(
            "\nReply with the document itself, complete, in the form below. Replace every placeholder, and leave out sections that \
             do not apply and comments that only explain the form.\n\n",
        );
        text.push_str(&fenced(form, "markdown"));
        text.push('\n');
        used.insert(path.clone());
        from.push(path);
    } else if let Some(form) = phase.form {
        text.push_str("\nReply with the document itself, complete.\n");
        converted.leave(
            format!(".specify/templates/{form}"),
            format!("the form of the phase `{}`", phase.command),
            "the file is missing or empty",
            format!("describe the document in `{}.md` of the flow", phase.command),
        );
    } else {
        text.push_str(
            "\nDo all the tasks and nothing else. Match the style of the surrounding code. Write finished code, and never weaken a \
             test to make it pass.\n",
        );
    }
    if let Some(command) = command_body(phase.command, tree) {
        let kept = kept_body(&command, converted);
        let path = command.path;
        if !kept.trim().is_empty() {
            text.push_str(
                "\nThe project's own instructions for this step follow. They were written for an agent with a shell and the files of \
                 an earlier tool. Here the request and the approved documents are given to you, and your reply is the result: do not \
                 run setup scripts, create branches or directories, or save documents.\n\n",
            );
            text.push_str(kept.trim());
            text.push('\n');
            from.push(path.clone());
        }
        used.insert(path);
    }
    MadeFile { path: format!("{}.md", phase.command), text, from }
}

/// The text of a command.
struct CommandBody {
    path: String,
    text: String,
    /// The lines of the file before the text.
    n_before: usize,
}

/// The first command file with a body.
fn command_body(command: &str, tree: &Tree) -> Option<CommandBody> {
    COMMAND_FILES.iter().find_map(|(before, after)| {
        let path = format!("{before}{command}{after}");
        let file = tree.text(&path)?;
        let (text, n_before) = if *after == ".toml" { gemini_prompt(file)? } else { (file.to_owned(), 0) };
        (!document(&text).body.trim().is_empty()).then_some(CommandBody { path, text, n_before })
    })
}

/// The body without machinery, escaped; the request takes the place of the arguments.
fn kept_body(command: &CommandBody, converted: &mut Converted) -> String {
    let path = &command.path;
    let read = document(&command.text);
    let first_line = read.first_line + command.n_before;
    let mut kept = String::new();
    let mut dropped: Vec<(usize, &str)> = Vec::new();
    for part in parts(&read.body) {
        if MACHINERY.iter().any(|name| part.heading.eq_ignore_ascii_case(name)) {
            dropped.push((part.line + first_line, part.heading));
        } else {
            kept.push_str(part.text);
        }
    }
    if let Some((line, _)) = dropped.first() {
        let names: Vec<String> = dropped.iter().map(|(_, heading)| format!("`{heading}`")).collect();
        converted.not_carried.push(NotCarried {
            file: path.clone(),
            line: Some(*line),
            what: format!("the sections {}", names.join(", ")),
            why: "they are about spec-kit's arguments, hooks and reports".to_owned(),
            instead: "the request comes with every prompt; name commands that must run in `[[checks]]`"
                .to_owned(),
        });
    }
    let scripts: Vec<usize> = read
        .body
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(".specify/scripts/") || line.contains("{SCRIPT}"))
        .map(|(idx, _)| idx + first_line)
        .collect();
    if let Some(line) = scripts.first() {
        converted.not_carried.push(NotCarried {
            file: path.clone(),
            line: Some(*line),
            what: format!(
                "{} that {} scripts",
                lines(scripts.len()),
                if scripts.len() == 1 { "runs" } else { "run" }
            ),
            why: "imported text cannot run anything; the text stays, and the prompt says to skip it"
                .to_owned(),
            instead: "nothing: aiwf provides the request and the approved documents itself".to_owned(),
        });
    }
    kept.split("$ARGUMENTS").map(literal).collect::<Vec<_>>().join("{{ request }}")
}

fn lines(n_lines: usize) -> String {
    if n_lines == 1 { "1 line".to_owned() } else { format!("{n_lines} lines") }
}

/// Whether a file is hidden: what spec-kit remembers for itself.
fn is_bookkeeping(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}

/// `3 files: a.sh, b.sh, …`
fn named_files(paths: &[String]) -> String {
    const MOST: usize = 4;
    let names: Vec<&str> = paths.iter().filter_map(|path| path.rsplit('/').next()).take(MOST).collect();
    let more = if paths.len() > names.len() { ", …" } else { "" };
    format!("{} file{}: {}{more}", paths.len(), if paths.len() == 1 { "" } else { "s" }, names.join(", "))
}

/// The directories whose other files stay behind: why, and what to do instead.
const LEFT_BEHIND: [(&str, &str, &str); 6] = [
    (
        ".specify/scripts",
        "aiwf runs nothing that comes with an import",
        "name a command that must pass in `[[checks]]`",
    ),
    (
        ".specify/workflows",
        "aiwf has flows of its own",
        "edit `flow.toml`: it has the phases specify, plan, tasks, implement and review",
    ),
    (
        ".specify/extensions",
        "extensions hook into spec-kit's commands",
        "add a phase to `flow.toml` for what an extension does",
    ),
    (
        ".specify/presets",
        "presets choose between forms when spec-kit runs",
        "copy the forms you use to `.specify/templates/overrides/` and import again",
    ),
    (".specify/memory", "a flow can use only the constitution", "put rules into `.aiwf/standards/`"),
    (
        ".specify/templates",
        "no phase of the flow writes this document",
        "add a phase with this form to `flow.toml`, if you need it",
    ),
];

/// Says of everything else why it is not in the flow.
fn leave_the_rest(tree: &Tree, used: &BTreeSet<String>, converted: &mut Converted) {
    leave_directories(tree, used, converted);
    leave_commands(tree, used, converted);
    leave_features(tree, converted);
}

fn leave_directories(tree: &Tree, used: &BTreeSet<String>, converted: &mut Converted) {
    let rest = |directory: &'static str| {
        tree.below(directory)
            .map(move |(name, _)| format!("{directory}/{name}"))
            .filter(|path| !used.contains(path))
            .collect::<Vec<_>>()
    };
    for (directory, why, instead) in LEFT_BEHIND {
        let mut paths = rest(directory);
        paths.retain(|path| !is_bookkeeping(path));
        if !paths.is_empty() {
            converted.leave(directory, named_files(&paths), why, instead);
        }
    }
    let is_in_group = |path: &String| {
        LEFT_BEHIND
            .iter()
            .any(|(directory, ..)| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')))
    };
    let mut paths = rest(".specify");
    paths.retain(|path| !is_in_group(path) || is_bookkeeping(path));
    if !paths.is_empty() {
        converted.leave(
            ".specify",
            named_files(&paths),
            "they record how spec-kit was set up",
            "nothing: spec-kit goes on reading them",
        );
    }
}

fn leave_commands(tree: &Tree, used: &BTreeSet<String>, converted: &mut Converted) {
    let mut commands: BTreeSet<String> = BTreeSet::new();
    let mut twins: BTreeSet<&str> = BTreeSet::new();
    for path in tree.files.keys().filter(|path| !used.contains(*path)) {
        for (before, after) in COMMAND_FILES {
            let Some(command) = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) else {
                continue;
            };
            if PHASES.iter().any(|phase| phase.command == command) {
                twins.insert(before.rsplit_once('/').map_or(before, |(directory, _)| directory));
            } else {
                commands.insert(command.to_owned());
            }
        }
    }
    for directory in twins {
        converted.leave(
            directory,
            "the same commands for another agent",
            "a flow serves every agent",
            "nothing: choose the agent with `--provider`",
        );
    }
    for command in commands {
        let instead = match command.as_str() {
            "clarify" => "`aiwf reject` the specification with your questions: the next prompt has them",
            "analyze" | "converge" => "the phase `review` compares the code with the documents",
            "checklist" => "add a phase to `flow.toml`, or check it at the gate",
            "constitution" => "edit `.aiwf/standards/constitution.md`",
            _ => "add a phase to `flow.toml`, or import the command with `aiwf import claude-commands`",
        };
        converted.leave(
            format!("speckit.{command}"),
            "the command",
            "no phase of the flow does this",
            instead,
        );
    }
}

fn leave_features(tree: &Tree, converted: &mut Converted) {
    let features: BTreeSet<&str> = tree
        .below("specs")
        .filter_map(|(path, _)| path.split_once('/'))
        .filter(|(_, file)| *file == "spec.md")
        .map(|(feature, _)| feature)
        .collect();
    for feature in features {
        converted.leave(
            format!("specs/{feature}"),
            "a feature that was specified already",
            "a session has only the documents that it created itself",
            format!("show it to a session with `--file 'specs/{feature}/*.md'`"),
        );
    }
}

/// The prompt of a command file of Gemini CLI, and the lines before it.
fn gemini_prompt(text: &str) -> Option<(String, usize)> {
    let table: toml_edit::DocumentMut = text.parse().ok()?;
    let prompt = table.get("prompt")?.as_str()?.replace("{{args}}", "$ARGUMENTS");
    let is_start =
        |line: &str| line.strip_prefix("prompt").is_some_and(|rest| rest.trim_start().starts_with('='));
    let key = text.lines().position(is_start).unwrap_or_default();
    // A line end right after the opening quotes is no part of the text.
    let starts_below = text.lines().nth(key).is_some_and(|line| {
        let line = line.trim_end();
        line.ends_with("\"\"\"") || line.ends_with("'''")
    });
    Some((prompt, key + usize::from(starts_below)))
}
