//! What large packages and long runs cost: checking 1,000 nodes, and composing a turn after 10,000 messages.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::corpus::prose;
use crate::bench::lab::{self, Lab, create_dir, write};
use crate::bench::measure::Prepare;
use crate::bench::table::Row;
use crate::failure::Failure;
use crate::workspace;

const N_NODES: usize = 1_000;
const N_MESSAGES: usize = 10_000;
const AGENTS: [&str; 4] = ["analyst", "architect", "builder", "reviewer"];
/// How large the instructions of one step are.
const STEP_BYTES: usize = 2_000;

const PROVIDER: &str = "[workflow]\nprovider = \"model\"\n\
    [providers.model]\ntype = \"openai\"\nbase_url = \"http://model.invalid/v1\"\nmodel = \"m\"\n";

/// A package and its files, relative to it.
struct PackageFiles {
    dir: PathBuf,
    files: Vec<PathBuf>,
}

/// `package check` of 1,000 nodes against reading its files.
pub(super) fn check(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let package = write_package(&lab.dir("package")?, lab.scaled(N_NODES))?;
    let out = lab.path("package.cat");
    let ours = || {
        let mut command = lab.aiwf()?;
        command.args(["package", "check"]).arg(&package.dir);
        Ok(command)
    };
    let [times, cat] = lab.take_turns(15, [&ours, &|| lab.cat(&package.dir, &package.files, &out)])?;
    let time = Row::of_times("package check, 1,000 nodes", &times, ("cat of its files", &cat));
    Ok(vec![time, memory(lab, &ours, ("its files", lab::size(&out)?))?])
}

/// `preview` of a run with 10,000 messages against reading its journal.
pub(super) fn preview(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    lab.configure(PROVIDER)?;
    let n_messages = lab.scaled(N_MESSAGES).to_string();
    let journal_path = RefCell::new(PathBuf::new());
    lab.for_each_build(|| {
        let project = lab.build_path("run");
        create_dir(&project.join(".aiwf"))?;
        let package = write_package(&project.join("package"), lab.scaled(N_NODES))?;
        let args = [project.as_os_str(), package.dir.as_os_str(), OsStr::new(&n_messages)];
        let printed = lab.example("aiwf-engine", "long_run", &args)?;
        journal_path.replace(PathBuf::from(printed.trim()));
        Ok(())
    })?;
    let journal = journal_path.into_inner();
    let out = lab.path("journal.cat");
    let ours = |config_text: &str| {
        lab.configure(config_text)?;
        let project = lab.build_path("run");
        aiwf(lab, &project, spelling(lab, &project)?)
    };
    let narrow = PROVIDER.replacen("provider", "context_tokens = 200000\nprovider", 1);
    let [whole, fitted, cat] = lab.take_turns(
        11,
        [&|| ours(PROVIDER), &|| ours(&narrow), &|| {
            lab.cat(&lab.path("run"), std::slice::from_ref(&journal), &out)
        }],
    )?;
    let row = |what, times| Row::of_times(what, times, ("cat of the journal", &cat));
    Ok(vec![
        row("next request, 10,000 messages", &whole),
        row("the same, fitted into 200,000 tokens", &fitted),
        memory(lab, &|| ours(PROVIDER), ("the journal", lab::size(&journal)?))?,
    ])
}

/// How the build in use spells the preview of a run; in 0.1.0 the verb belongs to `workflow`.
fn spelling(lab: &Lab<'_>, project: &Path) -> Result<&'static str, Failure> {
    let is_known = workspace::capture(&mut aiwf(lab, project, "preview --help")?).is_ok();
    Ok(if is_known { "preview latest" } else { "workflow preview latest" })
}

fn aiwf(lab: &Lab<'_>, project: &Path, line: &str) -> Result<Command, Failure> {
    let mut command = lab.aiwf()?;
    command.current_dir(project).args(line.split(' '));
    Ok(command)
}

fn memory(lab: &Lab<'_>, ours: Prepare<'_>, (reference, n_bytes): (&str, u64)) -> Result<Row, Failure> {
    let usage = lab.usage(ours)?;
    #[expect(clippy::cast_precision_loss, reason = "sizes of a few megabytes are exact in a float")]
    let n_bytes = n_bytes as f64;
    Ok(Row::of_memory(usage.as_ref().map(|[peak, _]| peak), reference, n_bytes))
}

/// A chain of steps in which every tenth node is a decision that may skip its successor.
fn write_package(dir: &Path, n_nodes: usize) -> Result<PackageFiles, Failure> {
    create_dir(&dir.join("steps"))?;
    let kind = |number: usize| match number {
        number if number + 1 == n_nodes => "end",
        number if number % 10 == 5 && number + 2 < n_nodes => "decision",
        _ => "step",
    };
    let id = |number: usize| format!("node-{number:04}");
    let agent = |number: usize| AGENTS.get(number % AGENTS.len()).copied().unwrap_or_default();
    let mut files = Vec::new();
    let mut add = |name: String, text: &str| {
        write(&dir.join(&name), text)?;
        files.push(PathBuf::from(name));
        Ok::<_, Failure>(())
    };
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    let mut index = String::new();
    for number in 0..n_nodes {
        let (id_here, kind) = (id(number), kind(number));
        let (file, title) = (format!("steps/{id_here}.md"), format!("Step {number}"));
        nodes.push(
            json!({ "id": id_here, "type": kind, "file": file, "title": title, "agentId": agent(number),
            "outputs": [format!("artifacts/{id_here}.md")] }),
        );
        let edge = |to: usize, label: &str, is_default: bool| {
            json!({ "from": id_here, "to": id(to), "label": label,
            "isDefault": is_default })
        };
        if kind == "decision" {
            let mut skip = edge(number + 2, "skip", false);
            if let Some(skip) = skip.as_object_mut() {
                skip.insert("conditionText".to_owned(), "variables.isSmall == true".into());
                skip.insert("conditionExpr".to_owned(), json!({ "==": [{ "var": "isSmall" }, true] }));
            }
            edges.extend([edge(number + 1, "next", true), skip]);
        } else if kind != "end" {
            edges.push(edge(number + 1, "next", true));
        }
        let mut text = format!(
            "---\nschemaVersion: \"1.1\"\nnodeId: {id_here}\ntype: {kind}\ntitle: {title}\nagentId: {}\noutputs:\n  - \
             artifacts/{id_here}.md\n---\n\n# {title}\n\n",
            agent(number)
        );
        text.push_str(&prose(number as u64, STEP_BYTES));
        let _ = writeln!(index, "- [{title}]({file})");
        add(file, &text)?;
    }
    let agents: Vec<Value> = AGENTS
        .iter()
        .map(|id| {
            json!({ "id": id, "metadata": { "name": id, "title": id, "icon": "x" }, "persona": { "role": "works",
                "identity": "exact", "communication_style": "short", "principles": ["one thing at a time"] } })
        })
        .collect();
    let manifest = json!({ "schemaVersion": "1.1", "name": "large", "version": "1.0.0",
        "entry": { "workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json",
            "assetsDir": "assets/" } });
    let graph = json!({ "schemaVersion": "1.1", "entryNodeId": id(0), "nodes": nodes, "edges": edges });
    add("bmad.json".to_owned(), &format!("{manifest:#}\n"))?;
    add("agents.json".to_owned(), &format!("{:#}\n", json!({ "schemaVersion": "1.1", "agents": agents })))?;
    add("workflow.graph.json".to_owned(), &format!("{graph:#}\n"))?;
    let document = format!(
        "---\nschemaVersion: \"1.1\"\nworkflowType: large\nstepsCompleted: []\ncurrentNodeId: \"\"\nvariables: {{}}\n\
         decisionLog: []\nartifacts: []\n---\n\n# Large\n\n{index}"
    );
    add("workflow.md".to_owned(), &document)?;
    Ok(PackageFiles { dir: dir.to_owned(), files })
}
