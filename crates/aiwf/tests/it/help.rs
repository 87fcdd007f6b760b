//! The help of every command, and what stands for it.

use aiwf_testkit::TestProject;
use insta::assert_snapshot;

use crate::project;

#[test]
fn the_program_says_what_it_is_and_where_to_start() {
    let help = project().run("--help").success().stdout_text();
    assert!(help.starts_with("An AI workflow engine: `aiwf do` changes a repository"), "{help}");
    assert!(help.contains("\nBuild:\n  prompt           Build, preview and send prompts\n"), "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    assert!(help.contains("\n  jpa-mt           Multi-tenant JPA code from a table"), "{help}");
    assert!(help.contains("\nStart with: aiwf do"), "{help}");
}

#[test]
fn nothing_asked_for_prints_the_help_as_a_usage_error() {
    let project = project();
    let asked = project.run("--help");
    let outcome = project.run("");
    assert_eq!(outcome.stderr, asked.stdout);
    assert_eq!(outcome.stdout, b"");
    assert_eq!(outcome.exit_code(), 2);
    let prompt = project.run("prompt build");
    assert_eq!(prompt.stderr, project.run("prompt build --help").stdout);
    assert_eq!(prompt.exit_code(), 2);
}

#[test]
fn help_takes_the_words_of_a_command() {
    let project = project();
    assert_eq!(project.run("help prompt build session"), project.run("prompt build session --help"));
}

#[test]
fn the_version_is_one_line() {
    assert_snapshot!(project().run("--version"), @"
    --- stdout
    aiwf 0.1.0
    --- exit code 0
    ");
}

#[test]
fn prompt() {
    assert_snapshot!(project().run("prompt --help"), @"
    --- stdout
    Build, preview and send prompts

    Usage: aiwf prompt [OPTIONS] <COMMAND>

    Commands:
      build    Build a prompt and print it, or write it to a file
      preview  Print the same bytes as `build`, and their anatomy to stderr
      send     Build a prompt, send it to a provider and print the reply
      recipes  List the recipes and their components in order
      schema   Print the JSON Schema of a recipe's `--input` document

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf prompt preview change --phase plan --instructions 'Add login'
    --- exit code 0
    ");
}

#[test]
fn prompt_build() {
    assert_snapshot!(project().run("prompt build --help"), @"
    --- stdout
    Build a prompt and print it, or write it to a file

    Usage: aiwf prompt build [OPTIONS] <RECIPE>

    Recipes:
      session   A step of a session: plan, standards, code, review, feedback, profile prompt
      change    A phase of a change: system template, files, artifacts, thoughts, instructions
      workflow  A turn of a workflow run, an agent session or a chat
      reply     A reply to an agent's report

    Options:
      -h, --help  Print help

    Tools:
          --tools          Include the tools that `prompt send --tools` would send; needs `--for`
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent

    Building:
          --copy  Copy the prompt to the clipboard instead of printing it

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf prompt build change --phase plan --instructions 'Add login' --file 'src/**'
    --- exit code 0
    ");
}

#[test]
fn prompt_build_session() {
    assert_snapshot!(project().run("prompt build session --help"), @r"
    --- stdout
    A step of a session: plan, standards, code, review, feedback, profile prompt

    Usage: aiwf prompt build session [OPTIONS]

    Options:
          --input <FILE|->           A JSON document (`aiwf prompt schema session`), or - for stdin;
                                     flags override it
          --session-dir <DIR>        Session directory
          --phase <PHASE>            Phase that the session is in [possible values: initialized,
                                     planning, generating, reviewing, revising]
          --iteration <N>            Iteration, counted from 1
          --profile-prompt <FILE|->  File with the profile's prompt, or - for stdin
      -h, --help                     Print help

    Building:
          --format <FORMAT>         Output format [default: the recipe's own] [possible values: text,
                                    xml, messages]
          --for <PROVIDER>          Provider the prompt is for; its capabilities shape the prompt
          --fs-ability <ABILITY>    What the receiver can do with files [possible values: local-write,
                                    local-read, write-only, none]
          --system-prompt <on|off>  Whether the receiver takes a separate system prompt
          --attachments <on|off>    Whether to reference files as `@path` instead of including their
                                    text
          --budget <TOKENS>         Maximum number of tokens; optional parts are cut to fit
          --tokenizer <TOKENIZER>   Tokenizer to count with; all but `estimate` are exact [possible
                                    values: estimate, o200k_base, cl100k_base]
          --out <FILE>              Write to this file atomically instead of stdout
          --explain                 Print the anatomy to stderr: each section with its share, its
                                    source, and why it was kept or cut
          --no-content              Omit the text of sections from `--json`
          --copy                    Copy the prompt to the clipboard instead of printing it

    Tools:
          --tools          Include the tools that `prompt send --tools` would send; needs `--for`
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example:
      aiwf prompt build session --session-dir .aiwf/sessions/ID --phase planning \
          --iteration 1 --profile-prompt prompt.md
    --- exit code 0
    ");
}

#[test]
fn prompt_build_change() {
    assert_snapshot!(project().run("prompt build change --help"), @"
    --- stdout
    A phase of a change: system template, files, artifacts, thoughts, instructions

    Usage: aiwf prompt build change [OPTIONS]

    Options:
          --input <FILE|->             A JSON document (`aiwf prompt schema change`), or - for stdin;
                                       flags add to it
          --agent <AGENT>              Agent whose template to use: claude, codex, gemini, or one of
                                       your own
          --phase <PHASE>              Phase whose template to use: plan, challenge, implement, review,
                                       archive, or one of your own
          --instructions <TEXT|@FILE>  What to do; @FILE reads a file, @- reads stdin, @@ is a literal @
          --file <GLOB>                Files to show the agent: name, directory or pattern (repeatable)
          --artifact <NAME=FILE>       Result of an earlier phase (repeatable)
          --thought <TEXT>             Reasoning to carry over (repeatable)
      -h, --help                       Print help

    Building:
          --format <FORMAT>         Output format [default: the recipe's own] [possible values: text,
                                    xml, messages]
          --for <PROVIDER>          Provider the prompt is for; its capabilities shape the prompt
          --fs-ability <ABILITY>    What the receiver can do with files [possible values: local-write,
                                    local-read, write-only, none]
          --system-prompt <on|off>  Whether the receiver takes a separate system prompt
          --attachments <on|off>    Whether to reference files as `@path` instead of including their
                                    text
          --budget <TOKENS>         Maximum number of tokens; optional parts are cut to fit
          --tokenizer <TOKENIZER>   Tokenizer to count with; all but `estimate` are exact [possible
                                    values: estimate, o200k_base, cl100k_base]
          --out <FILE>              Write to this file atomically instead of stdout
          --explain                 Print the anatomy to stderr: each section with its share, its
                                    source, and why it was kept or cut
          --no-content              Omit the text of sections from `--json`
          --copy                    Copy the prompt to the clipboard instead of printing it

    Tools:
          --tools          Include the tools that `prompt send --tools` would send; needs `--for`
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf prompt build change --phase plan --instructions 'Add login' --file 'src/**'
    --- exit code 0
    ");
}

#[test]
fn prompt_build_workflow() {
    assert_snapshot!(project().run("prompt build workflow --help"), @"
    --- stdout
    A turn of a workflow run, an agent session or a chat

    Usage: aiwf prompt build workflow [OPTIONS] --input <FILE|->

    Options:
          --input <FILE|->  A JSON document (`aiwf prompt schema RECIPE`), or - for stdin
      -h, --help            Print help

    Building:
          --format <FORMAT>         Output format [default: the recipe's own] [possible values: text,
                                    xml, messages]
          --for <PROVIDER>          Provider the prompt is for; its capabilities shape the prompt
          --fs-ability <ABILITY>    What the receiver can do with files [possible values: local-write,
                                    local-read, write-only, none]
          --system-prompt <on|off>  Whether the receiver takes a separate system prompt
          --attachments <on|off>    Whether to reference files as `@path` instead of including their
                                    text
          --budget <TOKENS>         Maximum number of tokens; optional parts are cut to fit
          --tokenizer <TOKENIZER>   Tokenizer to count with; all but `estimate` are exact [possible
                                    values: estimate, o200k_base, cl100k_base]
          --out <FILE>              Write to this file atomically instead of stdout
          --explain                 Print the anatomy to stderr: each section with its share, its
                                    source, and why it was kept or cut
          --no-content              Omit the text of sections from `--json`
          --copy                    Copy the prompt to the clipboard instead of printing it

    Tools:
          --tools          Include the tools that `prompt send --tools` would send; needs `--for`
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf prompt build workflow --input turn.json
    --- exit code 0
    ");
}

#[test]
fn prompt_build_reply_differs_from_workflow_only_in_its_words() {
    let project = project();
    let workflow = project.run("prompt build workflow --help").stdout_text();
    let reply = project.run("prompt build reply --help").stdout_text();
    let as_workflow = reply
        .replace("A reply to an agent's report", "A turn of a workflow run, an agent session or a chat")
        .replace("reply --input request.json", "workflow --input turn.json")
        .replace("build reply", "build workflow");
    assert_eq!(as_workflow, workflow);
}

#[test]
fn prompt_preview() {
    assert_snapshot!(project().run("prompt preview --help"), @"
    --- stdout
    Print the same bytes as `build`, and their anatomy to stderr

    Usage: aiwf prompt preview [OPTIONS] <RECIPE>

    Recipes:
      session   A step of a session: plan, standards, code, review, feedback, profile prompt
      change    A phase of a change: system template, files, artifacts, thoughts, instructions
      workflow  A turn of a workflow run, an agent session or a chat
      reply     A reply to an agent's report

    Options:
      -h, --help  Print help

    Tools:
          --tools          Include the tools that `prompt send --tools` would send; needs `--for`
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent

    Building:
          --copy  Copy the prompt to the clipboard instead of printing it

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf prompt preview change --phase plan --instructions 'Add login'
    --- exit code 0
    ");
}

#[test]
fn a_recipe_of_preview_takes_what_that_of_build_takes() {
    let project = project();
    for recipe in ["session", "change", "workflow", "reply"] {
        let build = project.run(&format!("prompt build {recipe} --help")).stdout_text();
        let preview = project.run(&format!("prompt preview {recipe} --help")).stdout_text();
        assert_eq!(preview, build.replace("prompt build", "prompt preview"), "recipe {recipe}");
    }
}

#[test]
fn prompt_recipes() {
    assert_snapshot!(project().run("prompt recipes --help"), @"
    --- stdout
    List the recipes and their components in order

    Usage: aiwf prompt recipes [OPTIONS]

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf prompt recipes
    --- exit code 0
    ");
}

#[test]
fn prompt_schema() {
    assert_snapshot!(project().run("prompt schema --help"), @"
    --- stdout
    Print the JSON Schema of a recipe's `--input` document

    Usage: aiwf prompt schema [OPTIONS] <RECIPE>

    Arguments:
      <RECIPE>  Name of the recipe [possible values: session, change, workflow, reply]

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    The keys of a document may also be written in camelCase.

    Example: aiwf prompt schema reply
    --- exit code 0
    ");
}

#[test]
fn template() {
    assert_snapshot!(project().run("template --help"), @"
    --- stdout
    List, show and check system templates

    Usage: aiwf template [OPTIONS] <COMMAND>

    Commands:
      list   List every template; `*` marks the ones that `template show` prints
      show   Print the template for an agent and a phase
      check  Check the syntax, variables and markers of every template

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf template show claude plan
    --- exit code 0
    ");
}

#[test]
fn template_list() {
    assert_snapshot!(project().run("template list --help"), @"
    --- stdout
    List every template; `*` marks the ones that `template show` prints

    Usage: aiwf template list [OPTIONS]

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf template list
    --- exit code 0
    ");
}

#[test]
fn template_show() {
    assert_snapshot!(project().run("template show --help"), @"
    --- stdout
    Print the template for an agent and a phase

    Usage: aiwf template show [OPTIONS] <AGENT> <PHASE>

    Arguments:
      <AGENT>  Agent: claude, codex, gemini, base, or one of your own
      <PHASE>  Phase: plan, challenge, implement, review, archive, or one of your own

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf template show claude plan
    --- exit code 0
    ");
}

#[test]
fn template_check() {
    assert_snapshot!(project().run("template check --help"), @"
    --- stdout
    Check the syntax, variables and markers of every template

    Usage: aiwf template check [OPTIONS]

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf template check
    --- exit code 0
    ");
}

#[test]
fn reply() {
    assert_snapshot!(project().run("reply --help"), @"
    --- stdout
    Parse an agent's reply

    Usage: aiwf reply [OPTIONS] <COMMAND>

    Commands:
      parse  Parse a reply; print what could be read even if there are problems

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf reply parse --as file-markers reply.md
    --- exit code 0
    ");
}

#[test]
fn reply_parse() {
    assert_snapshot!(project().run("reply parse --help"), @"
    --- stdout
    Parse a reply; print what could be read even if there are problems

    Usage: aiwf reply parse [OPTIONS] --as <PARSER> [FILE|-]

    Arguments:
      [FILE|-]  File with the reply, or - for stdin [default: -]

    Options:
          --as <PARSER>  Format to parse [possible values: file-markers, fenced-files, edits,
                         review-meta, verdict-tag, task-status, tool-calls, front-matter]
      -h, --help         Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf reply parse --as file-markers reply.md
    --- exit code 0
    ");
}

#[test]
fn mcp_help() {
    assert_snapshot!(project().run("mcp --help"), @"
    --- stdout
    Serve this project's sessions to MCP clients

    Usage: aiwf mcp [OPTIONS]

    Options:
          --http <ADDR>        Serve over HTTP at /mcp instead of stdio: PORT or HOST:PORT, loopback
                               only
          --token-file <FILE>  File with the token that clients must send [default: `AIWF_MCP_TOKEN`,
                               else a new token, printed at start]
          --allow-approve      Let clients approve and reject: a model may then approve its own work
      -h, --help               Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Examples:
      claude mcp add aiwf -- aiwf mcp
      aiwf mcp --http 8765 --token-file token
    --- exit code 0
    ");
}

/// What stands over a list of commands in a help.
const LISTS: [&str; 7] = ["Commands:", "Recipes:", "Start:", "Decide:", "Inspect:", "Build:", "Set up:"];

/// The words of every command that some help lists, those of the profiles and the hidden ones included.
pub(crate) fn every_command(project: &TestProject) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<String> = ["", "man", "jpa-mt", "react-component"].map(str::to_owned).into();
    while let Some(command) = open.pop() {
        let help = project.run(&format!("{command} --help")).success().stdout_text();
        let mut is_listed = false;
        for line in help.lines() {
            if line.is_empty() || LISTS.contains(&line) {
                is_listed = !line.is_empty();
                continue;
            }
            // What a long description goes on with stands further in.
            let Some(row) = line.strip_prefix("  ").filter(|row| is_listed && !row.starts_with(' ')) else {
                continue;
            };
            let name = row.split(' ').next().unwrap_or_default();
            if name != "help" {
                open.push(format!("{command} {name}").trim().to_owned());
            }
        }
        found.push(command);
    }
    found.sort();
    found
}

#[test]
fn every_help_fits_a_screen_and_has_an_example() {
    let project = project();
    let commands = every_command(&project);
    assert!(commands.len() > 80, "{commands:?}");
    for command in commands {
        let help = project.run(&format!("{command} --help")).stdout_text();
        // The list of all commands and profiles is long; everything else fits.
        let most = if command.is_empty() { 74 } else { 50 };
        assert!(help.lines().count() <= most, "`aiwf {command} --help` has {} lines", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 100), "`aiwf {command} --help` is too wide");
        let shown = help.rsplit_once("Example").map(|(_, example)| example).unwrap_or_default();
        let is_shown = if command.is_empty() {
            help.contains("Start with: aiwf do")
        } else {
            command.split(' ').all(|word| shown.contains(word))
        };
        assert!(is_shown, "`aiwf {command} --help` has no example of it");
    }
}

#[test]
fn change() {
    assert_snapshot!(project().run("change --help"), @"
    --- stdout
    Change the project with agents, from plan to review

    Usage: aiwf change [OPTIONS] <COMMAND>

    Commands:
      new        Create a change without asking a provider yet
      plan       Plan the change, until a decision is needed
      challenge  Challenge the plan; the verdict decides what comes next
      implement  Implement the plan after its challenge has passed
      review     Review the implementation; the verdict decides what comes next
      archive    Write the record of the change
      run        Run a change through its phases until a decision is needed or it is complete
      list       List changes, most recent first

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example:
      aiwf change new login 'Add a login page' --file 'src/**'
      aiwf change plan login --agent claude
      aiwf change run login
    --- exit code 0
    ");
}

#[test]
fn change_implement() {
    assert_snapshot!(project().run("change implement --help"), @"
    --- stdout
    Implement the plan after its challenge has passed

    Usage: aiwf change implement [OPTIONS] <NAME>

    Arguments:
      <NAME>  Name or id of the change

    Options:
          --provider <PROVIDER>  Provider for this phase: claude, codex, gemini, or any provider [alias:
                                 --agent]
          --instructions <TEXT>  Add these instructions to the change request
          --file <GLOB>          Show these files to this phase too, relative to the current directory
                                 (repeatable)
          --yes                  Skip the gates of this phase
          --write                Let the agent edit the project directly; its changes are recorded
      -h, --help                 Print help

    Calls:
          --trust-servers         Start tool servers you have not agreed to yet, and remember your
                                  consent to their exact commands
          --record <DIR>          Record every request and its reply in this directory, for a provider
                                  of type replay
          --events                Print call events to stderr, one line of JSON each
          --adopt                 Trust a session that you did not create, and remember it
          --fs-ability <ABILITY>  What the receiver can do with files, for prompts that this command
                                  writes; approved prompts keep theirs [possible values: local-write,
                                  local-read, write-only, none]

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf change implement login --provider claude --write
    --- exit code 0
    ");
}
