//! Makes a flow of each command and skill of Claude Code.
//!
//! In: `commands/**/*.md` and `skills/*/SKILL.md`. Out: a flow of one phase for each, with the command's text as its
//! template. Nothing in a command runs: what it would run is named instead. Looked at: Claude Code 2.1.325.

use std::collections::BTreeSet;

use super::flow_text::{ABOUT_PROJECT, head};
use super::literal::{literal, one_line, plain_name};
use super::markdown::{Document, document};
use super::tree::Tree;
use super::{Converted, MadeFile, MadeFlow, NotCarried};

const MAX_COMMANDS: usize = 200;
/// Tools of Claude Code that only read.
const READING_TOOLS: [&str; 9] =
    ["Read", "Grep", "Glob", "LS", "NotebookRead", "WebFetch", "WebSearch", "TodoWrite", "AskUserQuestion"];
/// The first words of shell commands that only read.
const READING_COMMANDS: [&str; 17] = [
    "git log",
    "git diff",
    "git show",
    "git status",
    "git blame",
    "git ls-files",
    "git rev-parse",
    "gh pr view",
    "gh pr diff",
    "gh pr list",
    "gh issue view",
    "gh issue list",
    "ls",
    "cat",
    "grep",
    "rg",
    "wc",
];
/// Keys that say nothing a flow would do differently.
const SILENT_KEYS: [&str; 5] = ["name", "description", "argument-hint", "allowed-tools", "model"];

pub(super) fn convert(tree: &Tree, name: Option<&str>) -> Converted {
    let mut converted = Converted::default();
    let commands: Vec<(String, &str, &str)> = tree
        .files
        .iter()
        .filter_map(|(path, text)| Some((command_name(path)?, path.as_str(), text.as_str())))
        .collect();
    let is_alone = commands.len() == 1;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (idx, (command, path, text)) in commands.into_iter().enumerate() {
        if idx >= MAX_COMMANDS {
            converted.leave(
                path,
                "the command",
                "an import reads at most 200 commands",
                "import its directory separately",
            );
            continue;
        }
        let wanted = match name {
            Some(name) if is_alone => Some(name.to_owned()),
            Some(prefix) => plain_name(&format!("{prefix}-{command}")),
            None => plain_name(&command),
        };
        let free = wanted.filter(|name| super::is_flow_name(name) || name_is_built_in(name));
        let Some(wanted) = free else {
            converted.leave(
                path,
                "the command",
                "its name has no letters",
                "rename the file and import again",
            );
            continue;
        };
        let mut flow_name = wanted.clone();
        for number in 2.. {
            if super::is_flow_name(&flow_name) && taken.insert(flow_name.clone()) {
                break;
            }
            let short: String = wanted.chars().take(27).collect();
            flow_name = format!("{short}-{number}");
        }
        if flow_name != wanted {
            converted.notes.push(format!("`{path}` becomes the flow `{flow_name}`: `{wanted}` is taken"));
        }
        let read = document(text);
        if read.body.trim().is_empty() {
            converted.leave(
                path,
                "the command",
                "it has no text",
                "write what the agent should do below its front matter",
            );
            continue;
        }
        let flow = convert_one(&flow_name, &command, path, &read, &mut converted);
        converted.flows.push(flow);
    }
    converted
}

fn name_is_built_in(name: &str) -> bool {
    aiwf_session::Flow::find_built_in(name).is_some()
}

/// What a file is called as a command; `None` for other files.
fn command_name(path: &str) -> Option<String> {
    if let Some(skill) = path.strip_suffix("/SKILL.md") {
        return Some(skill.strip_prefix("skills/").unwrap_or(skill).to_owned());
    }
    // Other files of a skill belong to it.
    let command = path.strip_suffix(".md").filter(|_| !path.starts_with("skills/"))?;
    let command = command.strip_prefix("commands/").unwrap_or(command);
    let is_about = ["README", "CLAUDE", "AGENTS"].iter().any(|name| command.eq_ignore_ascii_case(name));
    (!is_about).then(|| command.to_owned())
}

fn convert_one(
    name: &str,
    command: &str,
    path: &str,
    read: &Document,
    converted: &mut Converted,
) -> MadeFlow {
    let tools = read.text("allowed-tools");
    // The list grants tools and is no list of all that a command needs: only one that reads and nothing else is a limit.
    let writes = tools.as_ref().is_none_or(|tools| !listed(tools).all(only_reads));
    let mut leave = |what: String, why: &str, instead: String| {
        converted.leave(path, what, why, instead);
    };
    if let Some(tools) = tools {
        let kind = if writes { "may change files" } else { "produces text and changes nothing" };
        leave(
            format!("the tools `{}`", one_line(&tools)),
            "an agent's tools are for its own configuration",
            format!("nothing: the flow {kind}; set `access` and `gives` in `flow.toml` otherwise"),
        );
    }
    if let Some(model) = read.text("model") {
        let model = one_line(&model);
        leave(
            format!("the model `{model}`"),
            "a flow does not name a model",
            format!("run it with `--model {model}`, or set `model` of the provider"),
        );
    }
    if read.is_lenient {
        leave(
            "parts of the front matter".to_owned(),
            "it is not valid YAML, so only its plain lines were read",
            "put values with a colon in quotes, and import again".to_owned(),
        );
    }
    for key in read.data.keys().filter(|key| !SILENT_KEYS.contains(&key.as_str()) && !read.is_lenient) {
        leave(
            format!("the key `{}`", one_line(key)),
            "a flow has no equivalent",
            "describe it in the template, if it matters".to_owned(),
        );
    }
    let title = read.text("description").unwrap_or_else(|| format!("The command /{command}"));
    let mut flow = head("claude-commands", &title);
    if let Some(hint) = read.text("argument-hint") {
        flow.extend(["# The request: ", &one_line(&hint), "\n"]);
    }
    flow.push_str("\n[[phase]]\nname = \"work\"\nrole = \"generator\"\ntemplate = \"work.md\"\n");
    flow.push_str(if writes {
        "artifact = \"work\"\nreads = [\"work\"]\ngives = \"edits\"\naccess = \"write\"\nchecks = true\nmax_rounds = 3\nnext = \"complete\"\n"
    } else {
        "gives = \"text\"\nnext = \"complete\"\n"
    });
    let body = Body { path, first_line: read.first_line, is_from_one: counts_from_one(&read.body) };
    let text = body.convert(read.body.trim_matches('\n'), leading_lines(&read.body), converted);
    let task = if writes {
        "You do a task in an existing software project: the project's own command below says how, the request says what."
    } else {
        "You answer a request about an existing software project: the project's own command below says how. Change nothing."
    };
    let template = format!(
        "{task}\n\n{ABOUT_PROJECT}\n\
         The project's files and directories, possibly truncated:\n<project_structure>\n{{{{ PROJECT_STRUCTURE }}}}\n</project_structure>\n\n\
         The command:\n\n{text}\n"
    );
    MadeFlow {
        name: name.to_owned(),
        files: vec![
            MadeFile { path: "flow.toml".to_owned(), text: flow, from: vec![path.to_owned()] },
            MadeFile { path: "work.md".to_owned(), text: template, from: vec![path.to_owned()] },
        ],
    }
}

/// The tools of a list: `Read, Bash(git log:*)`, with commas or spaces between them.
fn listed(tools: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let split = move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    };
    tools.split(split).filter(|tool| !tool.is_empty())
}

fn only_reads(tool: &str) -> bool {
    match tool.split_once('(') {
        None => READING_TOOLS.contains(&tool),
        Some(("Bash", command)) => READING_COMMANDS.iter().any(|reading| {
            let rest = command.strip_prefix(reading);
            rest.is_some_and(|rest| rest.starts_with([':', ' ', ')']))
        }),
        Some((tool, _)) => READING_TOOLS.contains(&tool),
    }
}

fn leading_lines(body: &str) -> usize {
    body.len().saturating_sub(body.trim_start_matches('\n').len())
}

/// Whether `$1` is the first argument: newer commands count from `$0`, older ones never use it.
fn counts_from_one(body: &str) -> bool {
    !body.match_indices('$').any(|(at, _)| {
        let rest = body.get(at + 1..).unwrap_or_default();
        let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        rest.get(..digits) == Some("0") || rest.starts_with("ARGUMENTS[")
    })
}

/// The text of a command.
struct Body<'b> {
    path: &'b str,
    first_line: usize,
    is_from_one: bool,
}

impl Body<'_> {
    /// The text as a template: arguments are filled in, the rest is literal.
    fn convert(&self, text: &str, n_skipped: usize, converted: &mut Converted) -> String {
        let mut made = String::new();
        let mut plain = String::new();
        let mut at = 0;
        let (mut has_arguments, mut is_quoting) = (false, false);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let line =
                || self.first_line + n_skipped + text.get(..at).unwrap_or_default().matches('\n').count();
            let is_free = text
                .get(..at)
                .is_none_or(|before| before.is_empty() || before.ends_with([' ', '\n', '\t', '(']));
            if let Some((token, used)) = argument(rest, self.is_from_one) {
                made.push_str(&literal(&plain));
                plain.clear();
                is_quoting |= token != "{{ request }}";
                made.push_str(&token);
                has_arguments = true;
                at += used;
            } else if let Some((command, used)) = shell(rest) {
                plain.extend(["(output of `", command, "`)"]);
                converted.not_carried.push(NotCarried {
                    file: self.path.to_owned(),
                    line: Some(line()),
                    what: format!("the output of `{}`", one_line(command)),
                    why: "imported text cannot run anything".to_owned(),
                    instead: "save its output to a file and show it with `--file`, or name the command in `[[checks]]`".to_owned(),
                });
                at += used;
            } else if let Some((file, used)) = mention(rest).filter(|_| is_free) {
                plain.extend(["`", file, "`"]);
                converted.not_carried.push(NotCarried {
                    file: self.path.to_owned(),
                    line: Some(line()),
                    what: format!("the content of `{}`", one_line(file)),
                    why: "a template reads no files; the prompt names it".to_owned(),
                    instead: format!("start the flow with `--file {}`", one_line(file)),
                });
                at += used;
            } else {
                let Some(character) = rest.chars().next() else { break };
                plain.push(character);
                at += character.len_utf8();
            }
        }
        made.push_str(&literal(&plain));
        if !has_arguments {
            made.push_str("\n\nThe request: {{ request }}");
        }
        if is_quoting {
            let first =
                if self.is_from_one { "`$1` is the first argument" } else { "`$0` is the first argument" };
            converted
                .notes
                .push(format!("`{}`: the request is split at spaces, quotes included; {first}", self.path));
        }
        made
    }
}

/// An argument at the start of the text, as template syntax, and how much of the text it is.
fn argument(text: &str, is_from_one: bool) -> Option<(String, usize)> {
    let positional = |idx: usize| format!("{{{{ (request | split)[{idx}] | default(\"\") }}}}");
    let number = |digits: &str| digits.parse::<usize>().ok().filter(|number| *number < 100);
    if let Some(rest) = text.strip_prefix("$ARGUMENTS") {
        let indexed = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        return match indexed.and_then(|(digits, _)| Some((number(digits)?, digits.len()))) {
            Some((idx, length)) => Some((positional(idx), "$ARGUMENTS[]".len() + length)),
            None => Some(("{{ request }}".to_owned(), "$ARGUMENTS".len())),
        };
    }
    let rest = text.strip_prefix('$')?;
    let length = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let found = number(rest.get(..length).filter(|digits| !digits.is_empty())?)?;
    let idx = if is_from_one { found.checked_sub(1)? } else { found };
    Some((positional(idx), length + 1))
}

/// A command that Claude Code would run, and how much of the text it is.
fn shell(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix("!`")?;
    let (command, _) = rest.split_once('`')?;
    (!command.is_empty() && !command.contains('\n')).then_some((command, command.len() + 3))
}

/// A file that Claude Code would read, and how much of the text its name is.
fn mention(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('@')?;
    let is_path = |character: char| character.is_alphanumeric() || "._-/~*".contains(character);
    let length = rest.find(|character: char| !is_path(character)).unwrap_or(rest.len());
    let path = rest.get(..length)?.trim_end_matches(['.', '*']);
    (path.contains(['/', '.']) && path.len() > 1).then_some((path, path.len() + 1))
}

#[cfg(test)]
#[path = "claude_commands_tests.rs"]
mod tests;
