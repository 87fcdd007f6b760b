//! A person at a terminal talks with a run, an agent or a model: a line, a turn, and again.
//!
//! What is said and done is kept by the engine as it happens, so leaving loses nothing. A workflow that an agent's
//! menu starts is talked with in the same way, until the person goes back to the agent.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use aiwf_engine::package::AgentDefinition;
use aiwf_engine::prompt::DataContext;
use aiwf_engine::{Engine, FaultKind, NewRun, Run, RunError, RunKind, RunPhase, RunReport};

use crate::agent_menu::{self, Chosen};
use crate::call_args::{CallArgs, ServerArgs, TalkSignals};
use crate::command_error::CommandError;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::line_editor::{LineEditor, Typed};
use crate::live::{Screen, Streaming};
use crate::output::{self, Output};
use crate::question::Question;
use crate::run_output;

/// Whether the user can type and read here.
pub(crate) fn is_possible(call: &CallArgs, output: &Output<'_>) -> bool {
    !output.is_json() && !call.events && io::stdin().is_terminal() && output::is_stdout_watched()
}

/// The first step, before the first line is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Start the run.
    Start,
    /// Resume the run.
    Resume,
    /// Wait for the user's message.
    Listen,
    /// Nothing: the first turn is over and shown.
    Shown,
}

/// How a talk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Back to the previous conversation.
    Back,
    /// For good.
    Away,
    /// Because the program is to end.
    Ended,
}

/// The engine of a talk, its calls shown as they happen.
pub(crate) struct Console {
    pub(crate) engine: Engine,
    signals: TalkSignals,
    screen: Screen,
}

impl Console {
    pub(crate) fn new(call: &CallArgs, servers: ServerArgs, engine: &Engine) -> Self {
        let (signals, screen) = (TalkSignals::new(), Screen::new(Streaming::Live));
        let engine = servers.engine(call.engine_of_talk(engine, &signals, &screen));
        Self { engine, signals, screen }
    }

    /// Talks until the person leaves.
    pub(crate) fn talk(
        &self,
        mut run: Run<'_>,
        opening: Opening,
        provider: Option<&str>,
    ) -> Result<Exit, Failure> {
        let editor = LineEditor::new(self.engine.settings().cache_dir.as_deref())?;
        let mut talk = Talk { console: self, editor, provider: provider.map(str::to_owned) };
        Ok(match talk.with(&mut run, opening, Depth::Top)? {
            Left::Back | Left::Away => Exit::Done,
            Left::Ended => Exit::Interrupted,
        })
    }
}

/// Whether there is a conversation to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    Top,
    OfAgent,
}

struct Talk<'c> {
    console: &'c Console,
    editor: LineEditor,
    provider: Option<String>,
}

/// The user's input.
#[derive(Debug)]
enum Input {
    /// A message for the model or agent.
    Say(String),
    /// A message that must not be read as a menu command.
    SayVerbatim(String),
    Command(Command),
    /// `*word`: a command, unless the menu has this word.
    Starred(Command, String),
    /// An empty line.
    Blank,
    /// Read another line.
    Nothing,
}

/// A command of the talk itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Menu,
    Dismiss,
    Pause,
    Stop,
    Resume,
    Status,
    Help,
    Exit,
}

impl Command {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "menu" => Self::Menu,
            "dismiss" => Self::Dismiss,
            "pause" => Self::Pause,
            "stop" => Self::Stop,
            "resume" => Self::Resume,
            "status" => Self::Status,
            "help" => Self::Help,
            "exit" | "quit" => Self::Exit,
            _ => return None,
        })
    }

    /// Whether an agent's menu may have its own meaning for `*word`.
    fn can_be_menu_item(self) -> bool {
        match self {
            Self::Status | Self::Help | Self::Exit => true,
            Self::Menu | Self::Dismiss | Self::Pause | Self::Stop | Self::Resume => false,
        }
    }
}

const HELP: &str = "\
/menu     show the menu of the agent
/status   show the current state
/resume   continue after an interruption; with an agent, resume the newest run
/pause    leave the run and return to the agent, or to the shell
/stop     the same
/dismiss  dismiss the agent
/say TEXT send this text as it is, even in place of an answer
/exit     leave; all progress is saved (also Ctrl-D)
End a line with \\ to continue it on the next. Ctrl-C stops the model.
";

/// The next step of the loop.
enum Next {
    /// Another line is read.
    Line,
    Say {
        text: String,
        data: Option<DataContext>,
    },
    Resume,
    ResumeNewest,
    StartWorkflow {
        workflow: String,
        input: Option<String>,
        data: Option<DataContext>,
    },
    Leave(Left),
}

impl Talk<'_> {
    fn with(&mut self, run: &mut Run<'_>, opening: Opening, depth: Depth) -> Result<Left, Failure> {
        let id = run.id().to_owned();
        let mut last_reply = run.report().reply;
        let mut report = match opening {
            Opening::Start => self.first_turn(&mut last_reply, || run.start(None))?,
            Opening::Resume => self.first_turn(&mut last_reply, || run.resume(None))?,
            Opening::Listen => welcome(run),
            Opening::Shown => run.report(),
        };
        loop {
            if self.console.signals.is_ending() {
                leave(&id);
                return Ok(Left::Ended);
            }
            let input = match run_output::question(&report) {
                Some(question) => self.answer(&question)?,
                None => self.line(&label(run, &report))?,
            };
            let turned = match self.next(run, input, depth) {
                Next::Line => None,
                Next::Say { text, data: Some(data) } => {
                    self.turn(&mut last_reply, || run.say_with_data(&text, data))
                }
                Next::Say { text, data: None } => self.turn(&mut last_reply, || run.say(&text)),
                Next::Resume => self.turn(&mut last_reply, || run.resume(None)),
                Next::Leave(left) => {
                    leave(&id);
                    return Ok(left);
                }
                Next::StartWorkflow { workflow, input, data } => {
                    match self.start_workflow(run, &workflow, input.as_deref(), data) {
                        Ok(Left::Back) => back_to(run),
                        Ok(left) => return Ok(left),
                        Err(failure) => output::note_failure(&failure),
                    }
                    None
                }
                Next::ResumeNewest => {
                    match self.resume_newest(run) {
                        Ok(Left::Back) => back_to(run),
                        Ok(left) => return Ok(left),
                        Err(failure) => output::note_failure(&failure),
                    }
                    None
                }
            };
            report = turned.unwrap_or(report);
        }
    }

    /// Performs an input; returns the next step.
    fn next(&self, run: &Run<'_>, input: Input, depth: Depth) -> Next {
        let kind = run.report().kind;
        match input {
            Input::SayVerbatim(text) => Next::Say { text, data: None },
            Input::Say(text) if kind != RunKind::Agent => Next::Say { text, data: None },
            Input::Say(text) => self.chosen(run, &text, None, depth),
            Input::Starred(command, text) if kind == RunKind::Agent => {
                self.chosen(run, &text, Some(command), depth)
            }
            Input::Starred(command, _) | Input::Command(command) => self.command(run, command, depth),
            Input::Blank if kind == RunKind::Agent => {
                show_menu(run);
                Next::Line
            }
            Input::Blank | Input::Nothing => Next::Line,
        }
    }

    fn command(&self, run: &Run<'_>, command: Command, depth: Depth) -> Next {
        match (command, run.report().kind) {
            (Command::Menu, _) => show_menu(run),
            (Command::Help, _) => output::note(HELP),
            (Command::Status, _) => match self.console.engine.run_status(run.id()) {
                Ok(mut status) => {
                    // The lock is held by this very process.
                    status.is_busy = false;
                    output::note(&run_output::status_words(&status));
                }
                Err(error) => output::note_failure(&error.into()),
            },
            (Command::Exit | Command::Dismiss, _) => return Next::Leave(Left::Away),
            (Command::Pause | Command::Stop, RunKind::Run) => {
                if depth == Depth::Top {
                    output::note(&format!("`aiwf cancel {}` cancels it\n", run.id()));
                }
                return Next::Leave(Left::Back);
            }
            (Command::Pause | Command::Stop, RunKind::Agent | RunKind::Chat) => {
                output::note("no run is active here; use /exit to leave\n");
            }
            (Command::Resume, RunKind::Run | RunKind::Chat) => return Next::Resume,
            (Command::Resume, RunKind::Agent) => return Next::ResumeNewest,
        }
        Next::Line
    }

    /// Interprets a line with the agent's menu; runs `otherwise` if it is not a menu command.
    fn chosen(&self, run: &Run<'_>, line: &str, otherwise: Option<Command>, depth: Depth) -> Next {
        let (Some(package), Some(agent)) = (run.package(), run.agent()) else {
            return Next::Say { text: line.to_owned(), data: None };
        };
        let chosen = match agent_menu::choose(
            &self.console.engine,
            package,
            agent,
            line,
            run.report().reply.is_some(),
        ) {
            Ok(chosen) => chosen,
            Err(failure) => {
                output::note_failure(&failure);
                return Next::Line;
            }
        };
        match (chosen, otherwise) {
            (Chosen::Clarify(_), Some(command)) => self.command(run, command, depth),
            (Chosen::Say { text, .. }, Some(command)) if text == line => self.command(run, command, depth),
            (Chosen::Say { text, data }, _) => Next::Say { text, data },
            (Chosen::StartWorkflow { workflow, input, data }, _) => {
                Next::StartWorkflow { workflow, input, data }
            }
            (Chosen::ResumeRun, _) => Next::ResumeNewest,
            (Chosen::Dismiss, _) => Next::Leave(Left::Away),
            (Chosen::ShowMenu, _) => {
                show_menu(run);
                Next::Line
            }
            (Chosen::Clarify(numbers), None) => {
                clarify(agent, &numbers);
                Next::Line
            }
        }
    }

    /// The first turn; without it the conversation cannot start.
    fn first_turn(
        &self,
        last_reply: &mut Option<String>,
        turn: impl FnOnce() -> Result<RunReport, RunError>,
    ) -> Result<RunReport, Failure> {
        self.console.screen.begin_turn();
        let done = self.console.signals.during_turn(turn);
        self.console.screen.end_turn();
        let report = done?;
        self.show(&report, last_reply);
        Ok(report)
    }

    /// Runs a turn; an error is printed, and the conversation continues.
    fn turn(
        &self,
        last_reply: &mut Option<String>,
        turn: impl FnOnce() -> Result<RunReport, RunError>,
    ) -> Option<RunReport> {
        match self.first_turn(last_reply, turn) {
            Ok(report) => Some(report),
            Err(failure) => {
                output::note_failure(&failure);
                None
            }
        }
    }

    /// Shows the result of a turn, unless it is already on the screen.
    fn show(&self, report: &RunReport, last_reply: &mut Option<String>) {
        if let Some(reply) = &report.reply {
            let is_new = last_reply.as_ref() != Some(reply) || report.phase != RunPhase::Failed;
            if is_new && !reply.trim().is_empty() && !self.console.screen.has_shown(reply) {
                print_line(reply.trim_end());
            }
        }
        last_reply.clone_from(&report.reply);
        run_output::warnings(&report.warnings);
        match report.phase {
            RunPhase::Failed => {
                let fault = report.error.as_ref();
                if fault.is_some_and(|fault| fault.kind() == FaultKind::Stopped) {
                    output::note("stopped; send a message, or type /resume\n");
                } else {
                    let hint = "send a message, or type `/resume`, to try again";
                    output::note_failure(&run_output::failed(fault, hint).into());
                }
            }
            RunPhase::Completed if report.kind == RunKind::Run => {
                output::note("the workflow is complete; send a message to keep talking, or /exit\n");
            }
            RunPhase::Cancelled => output::note("this conversation is cancelled; use /exit to leave\n"),
            RunPhase::WaitingUser => {
                if let Some(fault) = &report.error {
                    output::warn(&format!(
                        "{} ({})",
                        escaped_line(&fault.message),
                        escaped_line(&fault.code)
                    ));
                }
            }
            RunPhase::Running | RunPhase::Completed => {}
        }
    }

    /// Reads a line.
    fn line(&mut self, label: &str) -> Result<Input, Failure> {
        let editor = &mut self.editor;
        Ok(match self.console.signals.while_idle(|| editor.read(&format!("{label}> ")))? {
            Typed::Line(line) => parse_input(&line),
            Typed::Interrupt => {
                output::note("Ctrl-D or /exit leaves; all progress is saved\n");
                Input::Nothing
            }
            Typed::End => Input::Command(Command::Exit),
        })
    }

    /// Asks a question until it is answered, or the user enters something else.
    fn answer(&mut self, question: &Question) -> Result<Input, Failure> {
        print_line(question.words().trim_end());
        let mut answers = Vec::new();
        for step in question.steps() {
            let answer = loop {
                let line = match self.line(&escaped_line(&step.prompt))? {
                    Input::Say(line) => line,
                    Input::Blank => String::new(),
                    Input::Nothing => continue,
                    other @ (Input::SayVerbatim(_) | Input::Command(_) | Input::Starred(..)) => {
                        return Ok(other);
                    }
                };
                match step.read(&line) {
                    Ok(answer) => break answer,
                    Err(expected) => {
                        output::note(&format!("{expected}; to answer in words, use /say TEXT\n"));
                    }
                }
            };
            answers.push(answer);
        }
        Ok(Input::SayVerbatim(question.submit(answers)))
    }

    fn start_workflow(
        &mut self,
        agent_run: &Run<'_>,
        workflow: &str,
        input: Option<&str>,
        data: Option<DataContext>,
    ) -> Result<Left, Failure> {
        let Some(package) = agent_run.package_path() else {
            return Err(Failure::bug("an agent without a package has a menu"));
        };
        let agent = agent_run.agent().map(|agent| agent.id.as_str());
        let engine = &self.console.engine;
        let mut run = begin(engine, &package, workflow, agent, self.provider.as_deref())?;
        output::note(&format!(
            "starting run {} of `{}`; /pause returns here\n",
            run.id(),
            escaped_line(workflow)
        ));
        let mut last_reply = None;
        self.first_turn(&mut last_reply, || match data {
            Some(data) => run.start_with_data(input, data),
            None => run.start(input),
        })?;
        self.with(&mut run, Opening::Shown, Depth::OfAgent)
    }

    fn resume_newest(&mut self, agent_run: &Run<'_>) -> Result<Left, Failure> {
        let package = agent_run.report().package;
        let id = newest_run(&self.console.engine, package.as_deref())?;
        let mut run = self.console.engine.open_run(&id, self.provider.as_deref())?;
        output::note(&format!("run {id}; /pause returns here\n"));
        let opening = opening_of(&run.report());
        self.with(&mut run, opening, Depth::OfAgent)
    }
}

/// How to reopen a run: one that waits for the user is not resumed.
pub(crate) fn opening_of(report: &RunReport) -> Opening {
    match (report.kind, report.phase) {
        (RunKind::Run, RunPhase::Running | RunPhase::Failed) => Opening::Resume,
        (RunKind::Run, RunPhase::WaitingUser | RunPhase::Completed | RunPhase::Cancelled)
        | (
            RunKind::Agent | RunKind::Chat,
            RunPhase::Running
            | RunPhase::WaitingUser
            | RunPhase::Completed
            | RunPhase::Failed
            | RunPhase::Cancelled,
        ) => Opening::Listen,
    }
}

/// Begins a run that an agent's menu asks for.
pub(crate) fn begin<'e>(
    engine: &'e Engine,
    package: &Path,
    workflow: &str,
    agent: Option<&str>,
    provider: Option<&str>,
) -> Result<Run<'e>, RunError> {
    let new = NewRun { package, workflow: Some(workflow), agent, provider, is_autopilot: false };
    engine.start_run(&new)
}

/// The most recently changed run of a package that can be resumed.
pub(crate) fn newest_run(engine: &Engine, package: Option<&str>) -> Result<String, Failure> {
    let is_open = |run: &aiwf_engine::RunSummary| {
        run.kind == RunKind::Run
            && run.phase != RunPhase::Cancelled
            && run.problem.is_none()
            && run.package.as_deref() == package
    };
    let newest = engine.runs()?.into_iter().filter(is_open).max_by(|a, b| a.updated_at.cmp(&b.updated_at));
    newest.map(|run| run.run_id).ok_or_else(|| CommandError::NoRunOfPackage.into())
}

/// Parses a line of input.
fn parse_input(line: &str) -> Input {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Input::Blank;
    }
    let Some((mark, rest)) = trimmed.split_at_checked(1).filter(|(mark, _)| matches!(*mark, "/" | "*"))
    else {
        return Input::Say(line.to_owned());
    };
    if let Some(text) = rest.strip_prefix("say ").filter(|_| mark == "/") {
        return Input::SayVerbatim(text.trim_start().to_owned());
    }
    match Command::from_name(rest) {
        // `*help` is an item of many menus.
        Some(command) if mark == "/" || !command.can_be_menu_item() => Input::Command(command),
        Some(command) => Input::Starred(command, line.to_owned()),
        None if mark == "/" && is_word(rest) => {
            let shown = escaped_line(trimmed);
            output::note(&format!(
                "unknown command `{shown}`; /help lists the commands, `/say {shown}` sends it as text\n"
            ));
            Input::Nothing
        }
        None => Input::Say(line.to_owned()),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_ascii_alphabetic() || character == '-')
}

/// Introduces the conversation and its status.
fn welcome(run: &Run<'_>) -> RunReport {
    let report = run.report();
    if let (RunKind::Agent, Some(agent)) = (report.kind, run.agent()) {
        output::note(&format!("{}\n{}", agent_menu::introduced(agent), agent_menu::shown(agent)));
    }
    output::note("/help shows the commands, Ctrl-D leaves\n");
    if let Some(reply) = report.reply.as_deref().filter(|reply| !reply.trim().is_empty()) {
        print_line(reply.trim_end());
    }
    report
}

fn label(run: &Run<'_>, report: &RunReport) -> String {
    let of_agent = || run.agent().map(|agent| agent.id.clone());
    escaped_line(&report.node.clone().or_else(of_agent).unwrap_or_default())
}

fn leave(id: &str) {
    output::note(&format!("saved; continue with: aiwf workflow resume {id}\n"));
}

fn back_to(run: &Run<'_>) {
    if let Some(agent) = run.agent() {
        output::note(&format!("back with {}\n", agent_menu::introduced(agent)));
    }
}

fn show_menu(run: &Run<'_>) {
    let menu = run.agent().map(agent_menu::shown).filter(|menu| !menu.is_empty());
    output::note(menu.as_deref().unwrap_or("there is no menu here\n"));
}

fn clarify(agent: &AgentDefinition, numbers: &[usize]) {
    let candidates = agent_menu::candidates(agent, numbers);
    if candidates.is_empty() {
        output::note("there is no such item; `/say TEXT` sends it to the agent\n");
    } else {
        output::note(&format!("which one? give its number, or `/say TEXT`\n{candidates}"));
    }
}

/// Prints text of a model on a separate line.
fn print_line(text: &str) {
    output::print_piece(&format!("{text}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_only_when_it_is_one() {
        let shown = |line: &str| match parse_input(line) {
            Input::Say(text) => format!("say {text}"),
            Input::SayVerbatim(text) => format!("say as it is: {text}"),
            Input::Command(command) => format!("{command:?}"),
            Input::Starred(command, text) => format!("{command:?} or {text}"),
            Input::Blank => "blank".to_owned(),
            Input::Nothing => "nothing".to_owned(),
        };
        for (line, expected) in [
            ("/exit", "Exit"),
            (" /Quit ", "Exit"),
            ("*menu", "Menu"),
            ("/menu", "Menu"),
            ("*help", "Help or *help"),
            ("/help", "Help"),
            ("/say /exit", "say as it is: /exit"),
            ("/etc/hosts is wrong", "say /etc/hosts is wrong"),
            ("/exot", "nothing"),
            ("* a list", "say * a list"),
            ("  ", "blank"),
            ("stop", "say stop"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }
}
