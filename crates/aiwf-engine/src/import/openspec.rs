//! Makes a flow of an `OpenSpec` project: its documents in order, then implement and review.
//!
//! In: `openspec/`. Out: a flow whose documents are those of the project's schema, else proposal, specs, design and
//! tasks; the project's context; and what has no place in a flow. Looked at: `OpenSpec` 0.20.0 and 1.13.2.

use std::collections::{BTreeMap, BTreeSet};

use aiwf_session::reserved_artifact_names;
use serde_json::{Map, Value};

use super::flow_text::{ABOUT_PROJECT, TextPhase, review_template, spec_flow};
use super::literal::{fenced, literal, one_line, plain_name};
use super::markdown::{texts, yaml};
use super::tree::Tree;
use super::{Converted, MadeFile, MadeFlow};

pub(super) const WANTED: [&str; 1] = ["openspec"];

const CONTEXT: &str = ".aiwf/project.md";
const SPECS: &str = "openspec/specs";
const MAX_ARTIFACTS: usize = 40;
/// Before the instructions of a schema, which are for agents that run OpenSpec.
const FOR_A_SHELL: &str = "The project's own instructions for this document follow. They were written for an agent with a shell and the files of \
     an earlier tool. Here the request and the approved documents are given to you, and your reply is the document: do not run \
     `openspec`, create directories, or save files.\n\n";

/// A document of a change.
struct Artifact {
    id: String,
    name: String,
    description: String,
    instruction: String,
    form: Option<(String, String)>,
    requires: Vec<String>,
    from: Vec<String>,
}

pub(super) fn convert(tree: &Tree, name: &str) -> Converted {
    let mut converted = Converted::default();
    if tree.below("openspec").next().is_none() {
        return converted;
    }
    let (config_path, config) = config(tree, &mut converted);
    let schema = config.get("schema").and_then(Value::as_str).unwrap_or("spec-driven");
    let rules = rules(&config);
    let (artifacts, apply) = artifacts(tree, schema, &mut converted);
    let has_specs = tree.below(SPECS).any(|(path, _)| path.ends_with("spec.md"));
    let mut files = Vec::new();
    let mut phases: Vec<TextPhase> = Vec::new();
    for artifact in &artifacts {
        let mut from = artifact.from.clone();
        let mut text = format!(
            "You write the document `{}` of a change to an existing software project{}.\n\n{ABOUT_PROJECT}",
            literal(&artifact.name),
            if artifact.description.is_empty() {
                String::new()
            } else {
                format!(": {}", literal(&lower_first(&artifact.description)))
            }
        );
        text.push_str(
            "\nThe project's files and directories, possibly truncated:\n<project_structure>\n{{ PROJECT_STRUCTURE }}\n</project_structure>\n",
        );
        if has_specs {
            text.push_str(
                "\nWhat the project does today is specified in `openspec/specs/`, one `spec.md` for each capability.\n",
            );
        }
        if !artifact.requires.is_empty() {
            let names: Vec<String> = artifact.requires.iter().map(|name| format!("`{name}`")).collect();
            text.extend(["\nIt builds on the approved documents ", &names.join(", "), ".\n"]);
        }
        text.push_str("\nReply with the document itself, complete; do not save it to a file.\n");
        if let Some((form, path)) = &artifact.form {
            text.push_str("\nIts form:\n\n");
            text.push_str(&fenced(form, "markdown"));
            text.push('\n');
            from.push(path.clone());
        }
        if !artifact.instruction.trim().is_empty() {
            text.push('\n');
            if let Some(schema) = artifact.from.first() {
                text.push_str(FOR_A_SHELL);
                leave_commands(&artifact.instruction, &artifact.name, schema, &mut converted);
            }
            text.push_str(&literal(artifact.instruction.trim()));
            text.push('\n');
        }
        if let Some(rules) = rules.get(&artifact.id) {
            text.push_str(&rule_list(rules));
            from.extend(config_path.map(str::to_owned));
        }
        files.push(MadeFile { path: format!("{}.md", artifact.name), text, from });
        phases.push(TextPhase {
            name: artifact.name.clone(),
            artifact: artifact.name.clone(),
            reads: artifact.requires.clone(),
        });
    }
    files.push(implement_template(&config, &apply, config_path, has_specs));
    let names: Vec<String> = artifacts.iter().map(|artifact| format!("`{}`", artifact.name)).collect();
    files.push(review_template(&names.join(", "), Vec::new()));
    let title = format!("{}, implement, review (OpenSpec)", title_of(&artifacts));
    let text = spec_flow("openspec", &title, &phases);
    files.insert(0, MadeFile { path: "flow.toml".to_owned(), text, from: Vec::new() });
    converted.flows.push(MadeFlow { name: name.to_owned(), files });
    for id in rules.keys().filter(|id| artifacts.iter().all(|artifact| artifact.id != **id)) {
        converted.leave(
            config_path.unwrap_or_default(),
            format!("the rules for `{}`", one_line(id)),
            "the schema has no such document",
            "put them into `.aiwf/standards/`",
        );
    }
    context(tree, &config, config_path, &mut converted);
    leave_the_rest(tree, &config, config_path, schema, &mut converted);
    converted
}

/// Says which lines of an instruction run OpenSpec's own program.
fn leave_commands(instruction: &str, name: &str, schema: &str, converted: &mut Converted) {
    let n_lines = instruction.lines().filter(|line| line.contains("`openspec ")).count();
    if n_lines > 0 {
        let runs = if n_lines == 1 { "1 line that runs" } else { &format!("{n_lines} lines that run") };
        converted.leave(
            schema,
            format!("{runs} `openspec`, in the instruction for `{name}`"),
            "an imported text runs nothing; the text stays, the prompt says to skip it",
            "nothing: aiwf gives the request and the approved documents itself",
        );
    }
}

fn title_of(artifacts: &[Artifact]) -> String {
    let names: Vec<&str> = artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    let title = names.join(", ");
    let mut characters = title.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn lower_first(text: &str) -> String {
    let text = one_line(text);
    let mut characters = text.trim_end_matches('.').chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

fn config(tree: &Tree, converted: &mut Converted) -> (Option<&'static str>, Map<String, Value>) {
    let paths = ["openspec/config.yaml", "openspec/config.yml"];
    let Some((path, text)) = paths.into_iter().find_map(|path| Some((path, tree.text(path)?))) else {
        return (None, Map::new());
    };
    // A file of comments only is an empty configuration.
    let is_empty = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    match yaml(text) {
        Some(map) => (Some(path), map),
        None if is_empty => (Some(path), Map::new()),
        None => {
            converted.leave(
                path,
                "the configuration",
                "it is not valid YAML",
                "correct it and import again; the flow has OpenSpec's usual documents",
            );
            (Some(path), Map::new())
        }
    }
}

/// The rules of the configuration, by document.
fn rules(config: &Map<String, Value>) -> BTreeMap<String, Vec<String>> {
    let rules = config.get("rules").and_then(Value::as_object).into_iter().flatten();
    rules
        .filter_map(|(id, rules)| Some((id.clone(), texts(rules)?)))
        .filter(|(_, rules)| !rules.is_empty())
        .collect()
}

fn rule_list(rules: &[String]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| format!("- {}\n", literal(rule.trim()))).collect();
    format!("\nRules of the project for this step:\n\n{}", rules.concat())
}

/// The documents of the project's own schema in the order they build on each other, else the usual ones.
fn artifacts(tree: &Tree, schema: &str, converted: &mut Converted) -> (Vec<Artifact>, String) {
    let directory = format!("openspec/schemas/{schema}");
    let path = ["schema.yaml", "schema.yml"].iter().map(|file| format!("{directory}/{file}"));
    let found = path.into_iter().find_map(|path| Some((tree.text(&path)?, path)));
    let Some((text, path)) = found else {
        if schema != "spec-driven" {
            converted.leave(
                "openspec/config.yaml",
                format!("the schema `{}`", one_line(schema)),
                "the project does not contain it",
                "run `openspec schema fork` to copy it into the project, and import again",
            );
        }
        return (usual_artifacts(), String::new());
    };
    let read = yaml(text).and_then(|schema| read_schema(tree, &directory, &path, &schema, converted));
    read.unwrap_or_else(|| {
        converted.leave(
            path,
            "the schema",
            "it is not valid YAML or names no documents",
            "correct it and import again; the flow has OpenSpec's usual documents",
        );
        (usual_artifacts(), String::new())
    })
}

fn read_schema(
    tree: &Tree,
    directory: &str,
    path: &str,
    schema: &Map<String, Value>,
    converted: &mut Converted,
) -> Option<(Vec<Artifact>, String)> {
    let text = |map: &Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut pending: Vec<Artifact> = Vec::new();
    let mut taken: BTreeSet<String> =
        ["implement", "review", "complete", "stop", "initialized", "cancelled", "flow"]
            .map(str::to_owned)
            .into();
    for entry in schema.get("artifacts")?.as_array()?.iter().filter_map(Value::as_object).take(MAX_ARTIFACTS)
    {
        let id = text(entry, "id");
        let Some(plain) = plain_name(&id) else {
            let what = format!("the document `{}`", one_line(&id));
            converted.leave(
                path,
                what,
                "its id has no letters",
                "give it an id of letters, and import again",
            );
            continue;
        };
        let mut name = plain.clone();
        for number in 2.. {
            if !reserved_artifact_names().any(|reserved| reserved == name) && taken.insert(name.clone()) {
                break;
            }
            let short: String = plain.chars().take(27).collect();
            name = format!("{short}-{number}");
        }
        let template = text(entry, "template");
        let form = [format!("{directory}/templates/{template}"), format!("{directory}/{template}")]
            .into_iter()
            .find_map(|path| Some((tree.text(&path)?.to_owned(), path)));
        if form.is_none() && !template.is_empty() {
            converted.leave(
                path,
                format!("the template `{}`", one_line(&template)),
                "the file is missing or empty",
                format!("describe the document in `{name}.md` of the flow"),
            );
        }
        let requires = entry.get("requires").and_then(texts).unwrap_or_default();
        let (description, instruction) = (text(entry, "description"), text(entry, "instruction"));
        pending.push(Artifact {
            id,
            name,
            description,
            instruction,
            form,
            requires,
            from: vec![path.to_owned()],
        });
    }
    // A document comes after those that it requires; a circle is cut where it stands in the file.
    let mut ordered: Vec<Artifact> = Vec::new();
    while !pending.is_empty() {
        let is_ready = |artifact: &Artifact| {
            artifact
                .requires
                .iter()
                .all(|id| pending.iter().all(|other| other.id != *id || other.id == artifact.id))
        };
        let next = pending.iter().position(is_ready).unwrap_or_default();
        let mut artifact = pending.remove(next);
        let earlier =
            |id: &String| ordered.iter().find(|other| other.id == *id).map(|other| other.name.clone());
        artifact.requires = artifact.requires.iter().filter_map(earlier).collect();
        artifact.requires.dedup();
        ordered.push(artifact);
    }
    let apply = schema.get("apply").and_then(Value::as_object).map(|apply| text(apply, "instruction"));
    (!ordered.is_empty()).then(|| (ordered, apply.unwrap_or_default()))
}

/// What `OpenSpec` writes for a change unless a project says otherwise, in our own words.
fn usual_artifacts() -> Vec<Artifact> {
    let artifact = |name: &str, description: &str, instruction: &str, requires: &[&str]| Artifact {
        id: name.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        instruction: instruction.to_owned(),
        form: None,
        requires: requires.iter().map(|&name| name.to_owned()).collect(),
        from: Vec::new(),
    };
    vec![
        artifact(
            "proposal",
            "why the change is needed and what it changes",
            "Write these sections: `## Why`, the problem in one or two sentences; `## What Changes`, a list, with BREAKING before \
             what breaks something; `## Capabilities`, the specifications that are new and those that change, by their path below \
             `openspec/specs/`; `## Impact`, the code and interfaces that are affected.",
            &[],
        ),
        artifact(
            "specs",
            "the requirements that the change adds, changes and removes",
            "Write a section `# CAPABILITY/spec.md` for each capability of the proposal, and in it `## ADDED Requirements`, \
             `## MODIFIED Requirements` with the whole new text, `## REMOVED Requirements` with the reason, or `## RENAMED \
             Requirements`. Each requirement is `### Requirement: NAME` with SHALL or MUST, and at least one `#### Scenario: NAME` \
             with **WHEN** and **THEN** lines.",
            &["proposal"],
        ),
        artifact(
            "design",
            "how the change is made",
            "Write the context, the goals and what is not a goal, each decision with the alternative you rejected, risks, and open \
             questions with the answer you assume.",
            &["proposal"],
        ),
        artifact(
            "tasks",
            "the work in order",
            "Write numbered sections with `- [ ] 1.1` tasks. Each task is small, says how to verify it, and comes after those it \
             needs. Every requirement is covered.",
            &["specs", "design"],
        ),
    ]
}

fn implement_template(
    config: &Map<String, Value>,
    apply: &str,
    config_path: Option<&str>,
    has_specs: bool,
) -> MadeFile {
    let mut text = format!(
        "You implement an approved change in an existing software project. The approved documents say what and why; after a \
         review, the artifact `review` says what to fix first.\n\n{ABOUT_PROJECT}\n\
         The project's files and directories, possibly truncated:\n<project_structure>\n{{{{ PROJECT_STRUCTURE }}}}\n</project_structure>\n\n\
         Do all the tasks and nothing else. Match the style of the surrounding code. Write finished code, and never weaken a test \
         to make it pass.\n"
    );
    if has_specs {
        text.push_str(
            "Bring `openspec/specs/` up to date as well: add, replace and remove the requirements that the approved document with the \
             requirements names.\n",
        );
    }
    let mut from = Vec::new();
    if !apply.trim().is_empty() {
        text.push('\n');
        text.push_str(&literal(apply.trim()));
        text.push('\n');
    }
    let guidance = config
        .get("operations")
        .and_then(|operations| operations.get("apply")?.get("guidance"))
        .and_then(texts)
        .unwrap_or_default();
    if !guidance.is_empty() {
        text.push_str(&rule_list(&guidance));
        from.extend(config_path.map(str::to_owned));
    }
    MadeFile { path: "implement.md".to_owned(), text, from }
}

/// The project's context: `project.md` of older versions and the context of the configuration.
fn context(tree: &Tree, config: &Map<String, Value>, config_path: Option<&str>, converted: &mut Converted) {
    const PROJECT: &str = "openspec/project.md";
    let mut from = Vec::new();
    let mut text = String::new();
    if let Some(project) = tree.text(PROJECT) {
        if project.contains("[Describe your project's purpose and goals]") {
            converted.leave(
                PROJECT,
                "the project's context",
                "it is still the unfilled template",
                "fill it in and import again, or describe the project in `.aiwf/project.md`",
            );
        } else {
            text.push_str(project.trim_end());
            text.push('\n');
            from.push(PROJECT.to_owned());
        }
    }
    let of_config = config.get("context").and_then(Value::as_str).unwrap_or_default().trim();
    if !of_config.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(of_config);
        text.push('\n');
        from.extend(config_path.map(str::to_owned));
    }
    if text.is_empty() {
        return;
    }
    converted.notes.push(format!(
        "the project's context becomes `{CONTEXT}`, which comes before `AGENTS.md` and others; `files = [\"{CONTEXT}\", \"AGENTS.md\"]` \
         in `[context]` sends both"
    ));
    converted.files.push(MadeFile { path: CONTEXT.to_owned(), text, from });
}

/// Says of everything else why it is not in the flow.
fn leave_the_rest(
    tree: &Tree,
    config: &Map<String, Value>,
    config_path: Option<&str>,
    schema: &str,
    converted: &mut Converted,
) {
    for key in config.keys() {
        if !["schema", "context", "rules", "operations"].contains(&key.as_str()) {
            converted.leave(
                config_path.unwrap_or_default(),
                format!("the key `{}`", one_line(key)),
                "a flow has no equivalent",
                "describe it in the flow's templates, if it matters",
            );
        }
    }
    let operations = config.get("operations").and_then(Value::as_object).into_iter().flatten();
    for (name, _) in operations.filter(|(name, _)| *name != "apply") {
        converted.leave(
            config_path.unwrap_or_default(),
            format!("the guidance for `{}`", one_line(name)),
            "no phase of the flow does this",
            "put it into `implement.md` or `review.md` of the flow",
        );
    }
    if tree.text("openspec/AGENTS.md").is_some() {
        converted.leave(
            "openspec/AGENTS.md",
            "instructions for using OpenSpec",
            "the flow walks these steps itself",
            "put rules of your own into `.aiwf/standards/`",
        );
    }
    let n_specs = tree.below(SPECS).filter(|(path, _)| path.ends_with("spec.md")).count();
    if n_specs > 0 {
        converted.leave(
            SPECS,
            format!("{n_specs} specification{}", if n_specs == 1 { "" } else { "s" }),
            "they describe the project as it is and stay where they are",
            format!("show them to a session with `--file '{SPECS}/**/spec.md'`; agents with files read them anyway"),
        );
    }
    let changes: BTreeSet<&str> =
        tree.below("openspec/changes").filter_map(|(path, _)| Some(path.split_once('/')?.0)).collect();
    for change in changes {
        let n_files = tree
            .below("openspec/changes")
            .filter(|(path, _)| path.starts_with(&format!("{change}/")))
            .count();
        if change == "archive" {
            let n_real =
                tree.below("openspec/changes/archive").filter(|(path, _)| !path.starts_with('.')).count();
            if n_real > 0 {
                converted.leave(
                    "openspec/changes/archive",
                    format!("{} of finished changes", files(n_real)),
                    "they are history",
                    "nothing: they stay where they are",
                );
            }
        } else {
            converted.leave(
                format!("openspec/changes/{change}"),
                format!("a change in progress ({})", files(n_files)),
                "a session has only the documents that it created itself",
                format!("continue it with `aiwf do --file 'openspec/changes/{change}/**' \"Implement this change\"`"),
            );
        }
    }
    let others: BTreeSet<&str> = tree
        .below("openspec/schemas")
        .filter_map(|(path, _)| Some(path.split_once('/')?.0))
        .filter(|name| *name != schema)
        .collect();
    for other in others {
        converted.leave(
            format!("openspec/schemas/{other}"),
            "a schema that the configuration does not use",
            "a flow has the documents of one schema",
            format!("set `schema: {other}` and import with another `--name`"),
        );
    }
}

fn files(n_files: usize) -> String {
    if n_files == 1 { "1 file".to_owned() } else { format!("{n_files} files") }
}
