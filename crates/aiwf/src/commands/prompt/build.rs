//! `aiwf prompt build` and `aiwf prompt preview`: one way to the bytes, two ways to show them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aiwf_engine::machine::LeftOut;
use aiwf_engine::prompt::Recipe;
use aiwf_engine::{
    BuildOptions, Built, ChangeDocument, ChangeFlags, Document, Durability, Engine, EngineError,
    ProjectParts, RequestRecord, SectionContent, SessionDocument, left_out_lines, preview_json, prompt_json,
    read_stdin, read_text, write_atomic,
};

use super::build_args::{ChangeArgs, CommonArgs, RecipeArgs, SessionArgs, ShowArgs};
use crate::anatomy::{anatomy, cache_line};
use crate::call_args::agreeing;
use crate::clipboard;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::progress::FileBar;
use crate::usage_error::UsageError;

/// Whether to print the anatomy even without `--explain`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Explain {
    Always,
    WhenAsked,
}

pub(super) fn build(args: &ShowArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    show(args, engine, output, Explain::WhenAsked)
}

pub(super) fn preview(args: &ShowArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    show(args, engine, output, Explain::Always)
}

fn show(show: &ShowArgs, engine: &Engine, output: &Output<'_>, explain: Explain) -> Result<Exit, Failure> {
    let args = &show.recipe;
    check_tools(show)?;
    check_stdin_is_asked_for_once(args)?;
    let (document, flags) = Inputs { engine }.document(args)?;
    let common = args.common();
    let bar = FileBar::new();
    let options = options(common);
    let on_progress = |progress| bar.show(progress);
    let request = output.is_json().then(|| RequestRecord::of(&document, &flags, &options));
    let mut built = match &common.provider {
        Some(provider) if show.tools => {
            let engine = agreeing(engine.clone(), show.trust_servers);
            engine.build_with_tools(document, &flags, &options, provider, &on_progress)?
        }
        Some(_) | None => engine.build(document, &flags, &options, &on_progress)?,
    };
    let out = common.out.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(given) = out {
        let path = engine.settings().current_dir.join(given);
        write_atomic(&path, Durability::Process, |mut out| built.prompt.write_to(&mut out))
            .map_err(|error| EngineError::from(error).about(given))?;
    }
    report(&built);
    if show.copy {
        let how = clipboard::copy(&printed(&built))?;
        output::note(&format!("{how}\n"));
    }
    if output.is_json() {
        let content = if common.no_content { SectionContent::LeftOut } else { SectionContent::Included };
        return match explain {
            Explain::Always => output.json(preview_json(&mut built, content, request), Exit::Done),
            Explain::WhenAsked => output.json(prompt_json(&mut built, content, request), Exit::Done),
        };
    }
    if explain == Explain::Always || common.explain {
        output::note(&explained(&mut built));
    }
    if out.is_none() && !show.copy {
        output::print(|out| built.prompt.write_to(out))?;
        output::print(|out| out.write_all(tools_text(&built).as_bytes()))?;
        if output::is_stdout_watched() {
            output::note("\n");
        }
    }
    Ok(Exit::Done)
}

/// Refuses a tool flag that would have no effect.
fn check_tools(show: &ShowArgs) -> Result<(), Failure> {
    let recipe = show.recipe.recipe();
    if show.tools && recipe != Recipe::Reply {
        return Err(UsageError::ToolsElsewhere { recipe: recipe.as_str() }.into());
    }
    if show.tools && show.recipe.common().provider.is_none() {
        return Err(UsageError::ToolsForNobody.into());
    }
    if show.trust_servers && !show.tools {
        return Err(UsageError::WithoutTools { flag: "--trust-servers" }.into());
    }
    Ok(())
}

/// Reports what was left out or altered, and the limits of the receiver.
pub(super) fn report(built: &Built) {
    output::problems(&built.problems);
    let cut: Vec<LeftOut> = built.left_out.iter().filter(|entry| entry.tokens.is_some()).cloned().collect();
    for line in left_out_lines(&cut) {
        output::warn(&line);
    }
    for note in built.notes() {
        output::say(&note);
    }
    if let (Some(ability), Some(lowered_from)) = built.fs_ability() {
        output::say(&format!(
            "fs ability {} instead of {}: the provider may only read, so the reply comes as text",
            ability.as_str(),
            lowered_from.as_str()
        ));
    }
}

/// The tools in the payload.
fn tools_text(built: &Built) -> String {
    let tools = built.payload().tools;
    if tools.is_empty() {
        return String::new();
    }
    format!("\n\n---\n\n{:#}", serde_json::json!(tools))
}

/// The complete printed text.
fn printed(built: &Built) -> String {
    built.prompt.full_prompt() + &tools_text(built)
}

pub(super) fn explained(built: &mut Built) -> String {
    let metadata = built.metadata();
    let prompt = &built.prompt;
    let title = format!("{} prompt as {}", prompt.recipe().as_str(), prompt.format().as_str());
    let context = built.context.as_ref().and_then(aiwf_engine::ContextReport::line);
    let context =
        context.map(|line| format!("  project context: {}\n", escaped_line(&line))).unwrap_or_default();
    let marks = built.cache_breakpoints().map(|sections| cache_line(&sections)).unwrap_or_default();
    anatomy(&title, &prompt.sections(), &metadata) + &marks + &context
}

pub(super) fn options(common: &CommonArgs) -> BuildOptions {
    BuildOptions {
        format: common.format,
        provider: common.provider.clone(),
        fs_ability: common.fs_ability,
        default_fs_ability: None,
        supports_system_prompt: common.system_prompt,
        supports_file_attachments: common.attachments,
        budget: common.budget,
        tokenizer: common.tokenizer,
    }
}

/// The standard input can be read only once.
pub(super) fn check_stdin_is_asked_for_once(args: &RecipeArgs) -> Result<(), Failure> {
    let is_stdin = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let is_asked_for_twice = match args {
        RecipeArgs::Session(args) => is_stdin(&args.input) && is_stdin(&args.profile_prompt),
        RecipeArgs::Change(args) => is_stdin(&args.input) && args.instructions.as_deref() == Some("@-"),
        RecipeArgs::Workflow(_) | RecipeArgs::Reply(_) => false,
    };
    if is_asked_for_twice {
        return Err(UsageError::StdinTwice.into());
    }
    Ok(())
}

/// The inputs that the flags name.
pub(super) struct Inputs<'a> {
    pub(super) engine: &'a Engine,
}

impl Inputs<'_> {
    fn read(&self, path: &Path) -> Result<String, Failure> {
        if path == Path::new("-") {
            output::note_waiting_for_input();
            return Ok(read_stdin()?);
        }
        Ok(read_text(&self.engine.settings().current_dir.join(path)).map_err(|error| error.about(path))?)
    }

    pub(super) fn document(&self, args: &RecipeArgs) -> Result<(Document, ChangeFlags), Failure> {
        Ok(match args {
            RecipeArgs::Session(args) => (Document::Session(self.session(args)?), ChangeFlags::default()),
            RecipeArgs::Change(args) => {
                let flags = ChangeFlags {
                    files: args.files.clone(),
                    artifacts: args.artifacts.clone(),
                    thoughts: args.thoughts.clone(),
                    ..ChangeFlags::default()
                };
                (Document::Change(self.change(args)?), flags)
            }
            RecipeArgs::Workflow(args) => {
                (Document::from_json(Recipe::Workflow, &self.read(&args.input)?)?, ChangeFlags::default())
            }
            RecipeArgs::Reply(args) => {
                (Document::from_json(Recipe::Reply, &self.read(&args.input)?)?, ChangeFlags::default())
            }
        })
    }

    fn session(&self, args: &SessionArgs) -> Result<SessionDocument, Failure> {
        let given = match &args.input {
            Some(input) => match Document::from_json(Recipe::Session, &self.read(input)?)? {
                Document::Session(document) => Some(document),
                Document::Change(_) | Document::Workflow(_) | Document::Reply(_) => None,
            },
            None => None,
        };
        let profile_prompt = args.profile_prompt.as_deref().map(|path| self.read(path)).transpose()?;
        match given {
            Some(mut document) => {
                if let Some(session_dir) = &args.session_dir {
                    document.session_dir.clone_from(session_dir);
                }
                if let Some(phase) = args.phase {
                    phase.as_str().clone_into(&mut document.phase);
                }
                document.iteration = args.iteration.unwrap_or(document.iteration);
                document.profile_prompt = profile_prompt.unwrap_or(document.profile_prompt);
                Ok(document)
            }
            None => match (&args.session_dir, args.phase, args.iteration, profile_prompt) {
                (Some(session_dir), Some(phase), Some(iteration), Some(profile_prompt)) => {
                    Ok(SessionDocument {
                        tools: Vec::new(),
                        project: ProjectParts::default(),
                        session_dir: session_dir.clone(),
                        phase: phase.as_str().to_owned(),
                        iteration,
                        profile_prompt,
                        fs_ability: None,
                        supports_system_prompt: None,
                        supports_file_attachments: None,
                        comments: None,
                        notes: None,
                        feedback: None,
                        rejected_reply: None,
                    })
                }
                _ => Err(Failure::bug("the command line let a session without its flags through")),
            },
        }
    }

    fn change(&self, args: &ChangeArgs) -> Result<ChangeDocument, Failure> {
        let mut document = match &args.input {
            Some(input) => match Document::from_json(Recipe::Change, &self.read(input)?)? {
                Document::Change(document) => document,
                Document::Session(_) | Document::Workflow(_) | Document::Reply(_) => {
                    ChangeDocument::default()
                }
            },
            None => ChangeDocument::default(),
        };
        if let Some(instructions) = &args.instructions {
            document.instructions = self.instructions(instructions)?;
        }
        document.agent = args.agent.clone().or(document.agent);
        document.phase = args.phase.clone().or(document.phase);
        Ok(document)
    }

    fn instructions(&self, text: &str) -> Result<String, Failure> {
        match text.strip_prefix('@') {
            None => Ok(text.to_owned()),
            Some(rest) if rest.starts_with('@') => Ok(rest.to_owned()),
            Some(path) => self.read(Path::new(path)),
        }
    }
}
