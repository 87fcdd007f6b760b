//! Runs the test cases of files: finds them, makes one unit of each case, receiver, format, variant and repetition, and
//! runs them on several threads.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use aiwf_config::{Config, Flags, Origin, Sourced};
use aiwf_store::ConsentKind;

use super::assertion::{Assertion, AssertionKind, Pattern, PromptCheck, ReplyCheck};
use super::case_file::{
    Case, CaseFile, CaseProblem, MAX_FILE_BYTES, MatrixRow, Request, RunBudget, parse_case_file,
};
use super::effects::consent_for;
use super::live::Live;
use super::place::{CasePlace, discover};
use super::prepare::{Counts, Ground};
use super::report::{AssertionResult, TestOutcome, TestReport, TestResult};
use super::shape::Shape;
use super::test_error::TestError;
use super::unit::{RunContext, Unit, shared_goldens};
use crate::Engine;
use crate::ask::providers;
use crate::session::session_error::SessionError;
use crate::trust::Agreement;
use crate::trust::trust_error::TrustError;

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// Files and directories; the project by default.
    pub paths: Vec<PathBuf>,
    /// A regular expression over the names of cases.
    pub filter: Option<String>,
    /// Writes golden files instead of comparing with them.
    pub update: bool,
    /// Asks providers.
    pub live: bool,
    /// With `live`: asks for replies that no recording has, and records them.
    pub record_missing: bool,
    pub repeat: u32,
    /// The share of cases that must pass.
    pub min_pass: f64,
    /// The number of threads; by default one for each core.
    pub jobs: Option<usize>,
    /// The results of an earlier run, as JSON.
    pub baseline: Option<PathBuf>,
}

impl Default for TestOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            filter: None,
            update: false,
            live: false,
            record_missing: false,
            repeat: 1,
            min_pass: 1.0,
            jobs: None,
            baseline: None,
        }
    }
}

/// A test file that was read.
struct LoadedFile {
    place: CasePlace,
    cases: Result<CaseFile, Vec<CaseProblem>>,
}

/// The most runs of cases at once.
const MAX_RUNS: usize = 100_000;
const MAX_JOBS: usize = 64;
const SESSION_JOBS: usize = 8;

impl Engine {
    /// The test files that these paths lead to; those of the project by default.
    pub fn test_files(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, TestError> {
        let settings = self.settings();
        if paths.is_empty() {
            let root = settings.project_root.canonicalize();
            let found = discover(root.as_ref().unwrap_or(&settings.project_root));
            let path = settings.project_root.clone();
            return if found.is_empty() { Err(TestError::NoTests { path }) } else { Ok(found) };
        }
        let mut files = Vec::new();
        for given in paths {
            let path = settings.current_dir.join(given);
            let path = path.canonicalize().map_err(|_error| TestError::NoPath { path })?;
            if path.is_dir() {
                let found = discover(&path);
                if found.is_empty() {
                    return Err(TestError::NoTests { path: given.clone() });
                }
                files.extend(found);
            } else {
                files.push(path);
            }
        }
        let mut seen: Vec<PathBuf> = Vec::new();
        files.retain(|file| {
            let is_new = !seen.contains(file);
            seen.extend(is_new.then(|| file.clone()));
            is_new
        });
        Ok(files)
    }

    /// A value that changes when a file of these tests changes: a case, an input, a template, a standard.
    ///
    /// Golden files and results are not looked at, so that writing them runs nothing again.
    pub fn test_fingerprint(&self, options: &TestOptions) -> Result<String, TestError> {
        let files = self.load_test_files(options)?;
        let mut roots: Vec<PathBuf> = vec![self.settings().project_dir()];
        for file in &files {
            roots.push(
                file.place
                    .owner
                    .as_ref()
                    .map_or(file.place.directory.clone(), |owner| owner.directory.clone()),
            );
        }
        roots.sort();
        roots.dedup();
        Ok(fingerprint(&roots))
    }

    /// The programs of `run` assertions that the user has not agreed to.
    pub fn test_programs(&self, options: &TestOptions) -> Result<Vec<Agreement>, TestError> {
        let agreed = self.agreed_programs()?;
        let mut missing: Vec<Agreement> = Vec::new();
        for file in self.load_test_files(options)? {
            for case in file.cases.iter().flat_map(|cases| &cases.cases) {
                for assert in &case.asserts {
                    let AssertionKind::Reply(ReplyCheck::Run { command, .. }) = &assert.kind else {
                        continue;
                    };
                    let consent = consent_for(command, &file.place.directory);
                    let is_known = agreed.contains(&consent.sha256)
                        || missing.iter().any(|one| one.sha256 == consent.sha256);
                    if !is_known {
                        missing.push(consent.into());
                    }
                }
            }
        }
        Ok(missing)
    }

    fn agreed_programs(&self) -> Result<Vec<String>, TestError> {
        let Some(consents) = self.settings().consents() else { return Ok(Vec::new()) };
        let all = consents.all().map_err(|error| SessionError::from(TrustError::from(error)))?;
        Ok(all.into_iter().filter(|one| one.kind == ConsentKind::Test).map(|one| one.sha256).collect())
    }

    fn load_test_files(&self, options: &TestOptions) -> Result<Vec<LoadedFile>, TestError> {
        let settings = self.settings();
        let root = settings.project_root.canonicalize().unwrap_or_else(|_| settings.project_root.clone());
        let current = settings.current_dir.canonicalize().unwrap_or_else(|_| settings.current_dir.clone());
        let load = |path: PathBuf| {
            let path = path.canonicalize().unwrap_or(path);
            let place = CasePlace::of(&path, &root, &current);
            LoadedFile { cases: read_cases(&path), place }
        };
        Ok(self.test_files(&options.paths)?.into_iter().map(load).collect())
    }

    /// Runs test cases. `on_result` gets each result as it comes, in no particular order.
    pub fn test(
        &self,
        options: &TestOptions,
        on_result: &(dyn Fn(&TestResult) + Sync),
    ) -> Result<TestReport, TestError> {
        if options.record_missing && !options.live {
            return Err(TestError::RecordWithoutLive);
        }
        let filter = options.filter.as_deref().map(Pattern::compile).transpose();
        let filter = filter.map_err(|message| TestError::BadFilter { message })?;
        let mut baseline = options.baseline.as_deref().map(|path| self.read_baseline(path)).transpose()?;
        let files = self.load_test_files(options)?;
        let agreed = self.agreed_programs()?;
        let mut config = providers::load_config(self.settings(), &Flags::default())?;
        for file in files.iter().flat_map(|file| &file.cases) {
            limit(&mut config, &file.budget);
        }
        let mut results: Vec<TestResult> = files.iter().flat_map(problems_of).collect();
        let is_wanted = |case: &&Case| filter.as_ref().is_none_or(|filter| filter.is_match(&case.name));
        let n_cases: usize = files.iter().flat_map(|file| &file.cases).map(|cases| cases.cases.len()).sum();
        let grounds: Vec<Option<Result<Ground, String>>> =
            files.iter().map(|file| self.ground(file)).collect();
        if let Some(baseline) = &mut baseline {
            // What is not asked for now is not missing.
            baseline.results.retain(|result| {
                let is_asked =
                    options.paths.is_empty() || files.iter().any(|file| file.place.shown == result.file);
                is_asked && filter.as_ref().is_none_or(|filter| filter.is_match(&result.case))
            });
        }
        let mut units = Vec::new();
        let stop = &self.call_context().stop;
        for (file, ground) in files.iter().zip(&grounds) {
            let Ok(cases) = &file.cases else { continue };
            let ground = match ground {
                Some(Err(message)) => {
                    results.push(of_file(&file.place, None, message.clone()));
                    continue;
                }
                Some(Ok(ground)) => Some(ground),
                None => None,
            };
            let rows: Vec<Option<&MatrixRow>> =
                if cases.matrix.is_empty() { vec![None] } else { cases.matrix.iter().map(Some).collect() };
            for case in &cases.cases {
                let is_asked = is_wanted(&case);
                // The golden files of the other cases are not to be overwritten.
                if !is_asked && !has_goldens(case) {
                    continue;
                }
                let repeat = if is_asked { options.repeat.max(1) } else { 1 };
                let refuse_many = |n_known: usize, n_receivers: usize| {
                    let factors = [case.formats.len().max(1), repeat as usize];
                    let n_runs = factors.into_iter().fold(n_receivers.max(1), usize::saturating_mul);
                    if n_known.saturating_add(n_runs) <= MAX_RUNS {
                        return Ok(());
                    }
                    let file = file.place.shown.clone();
                    Err(TestError::TooMany { file, line: case.line, limit: MAX_RUNS })
                };
                for row in &rows {
                    if stop.is_raised() {
                        break;
                    }
                    let n_known = units.len() + results.len();
                    let has_provider = row.is_some_and(|row| row.provider.is_some());
                    refuse_many(n_known, if has_provider { 1 } else { case.receivers.len() })?;
                    let shapes = match shapes(case, *row, &config) {
                        Ok(shapes) => shapes,
                        Err(message) => {
                            results.extend(is_asked.then(|| of_case(&file.place, case, message)));
                            continue;
                        }
                    };
                    refuse_many(n_known, shapes.len())?;
                    let formats: Vec<_> = if case.formats.is_empty() {
                        vec![None]
                    } else {
                        case.formats.iter().copied().map(Some).collect()
                    };
                    for (shape, format, repeat) in combined(&shapes, &formats, repeat) {
                        let ground = ground.filter(|_| !needs_own_project(case, *row));
                        units.push(Unit {
                            place: &file.place,
                            case,
                            row: *row,
                            shape,
                            format,
                            repeat,
                            ground,
                        });
                    }
                }
            }
        }
        let shared = shared_goldens(&units);
        let is_first = |index: &&usize| units.get(**index).is_some_and(|unit| unit.repeat == 1);
        for index in shared.keys().filter(is_first) {
            if let (Some(unit), Some(message)) = (units.get(*index), shared.get(index)) {
                results.push(of_case(unit.place, unit.case, message.clone()));
            }
        }
        let mut index = 0;
        units.retain(|unit| {
            index += 1;
            !shared.contains_key(&(index - 1)) && is_wanted(&unit.case)
        });
        if let (Some(filter), true) =
            (&options.filter, units.is_empty() && results.is_empty() && !stop.is_raised())
        {
            return Err(TestError::NothingMatches { filter: filter.clone(), n_cases });
        }
        let live = Live::new(self, &config, options.live, options.record_missing);
        let updated = Mutex::default();
        let context = RunContext {
            engine: self,
            config: &config,
            live: &live,
            updates: options.update,
            updated: &updated,
            counts: &Counts::default(),
            agreed: &agreed,
        };
        results.iter().for_each(on_result);
        results.extend(on_threads(&units, jobs(options.jobs, &units), |unit| {
            (!stop.is_raised()).then(|| {
                let result = unit.run(&context);
                on_result(&result);
                result
            })
        }));
        let mut report = TestReport::of(results, options.min_pass);
        if let Some(baseline) = &baseline {
            report.compare(baseline);
        }
        let spent = live.spent();
        report.n_calls = spent.calls;
        report.spent = spent.cost.map(aiwf_session::Dollars::as_f64);
        report.updated = updated.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        report.updated.sort();
        Ok(report)
    }

    /// The project in which the documents of a file are built; `None` if each case has its own.
    fn ground(&self, file: &LoadedFile) -> Option<Result<Ground, String>> {
        let cases = file.cases.as_ref().ok()?;
        let is_shared =
            |case: &Case| matches!(case.built, Request::Document { .. }) && case.project.is_none();
        if file.place.owner.is_some() || !cases.cases.iter().any(is_shared) {
            return None;
        }
        Some(Ground::of_project(self.settings()))
    }

    fn read_baseline(&self, path: &Path) -> Result<TestReport, TestError> {
        let unusable = |message: String| TestError::Baseline { path: path.to_owned(), message };
        let full = self.settings().current_dir.join(path);
        let text = crate::prompt::read::read_text(&full).map_err(|error| unusable(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))
    }
}

fn has_goldens(case: &Case) -> bool {
    let is_golden =
        |assert: &Assertion| matches!(assert.kind, AssertionKind::Prompt(PromptCheck::Golden { .. }));
    case.asserts.iter().any(is_golden)
}

fn needs_own_project(case: &Case, row: Option<&MatrixRow>) -> bool {
    let replaces = row.is_some_and(|row| row.template.is_some() || row.standards.is_some());
    case.project.is_some() || replaces || matches!(case.built, Request::Session(_))
}

fn read_cases(path: &Path) -> Result<CaseFile, Vec<CaseProblem>> {
    let problem = |message: String| vec![CaseProblem { line: None, message }];
    let bytes = aiwf_store::read_regular(path, MAX_FILE_BYTES).map_err(|error| problem(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_error| problem("it is not text".to_owned()))?;
    parse_case_file(&text)
}

/// The receivers of a case, or what is wrong with them.
fn shapes(case: &Case, row: Option<&MatrixRow>, config: &Config) -> Result<Vec<Shape>, String> {
    let row_provider = row.and_then(|row| row.provider.clone());
    let names = match row_provider {
        Some(provider) => vec![provider],
        None if case.receivers.is_empty() => return Ok(Shape::of_built_in_providers(config)),
        None => case.receivers.clone(),
    };
    let shape = |name: &String| {
        Shape::named(name, config)
            .ok_or_else(|| format!("`{name}` is neither a provider nor a capability such as `none+system`"))
    };
    names.iter().map(shape).collect()
}

fn combined<'a, F: Copy>(
    shapes: &'a [Shape],
    formats: &'a [F],
    repeat: u32,
) -> impl Iterator<Item = (Shape, F, u32)> + 'a {
    shapes.iter().flat_map(move |shape| {
        formats
            .iter()
            .flat_map(move |format| (1..=repeat.max(1)).map(move |number| (shape.clone(), *format, number)))
    })
}

/// Lowers the limits of a run to those of a file.
fn limit(config: &mut Config, budget: &RunBudget) {
    let flag = Origin::Flag("[budget]");
    let lower = |old: &mut Option<Sourced<std::num::NonZeroU64>>, new: Option<u64>| {
        let Some(new) = new.and_then(std::num::NonZeroU64::new) else { return };
        if old.as_ref().is_none_or(|old| new < old.value) {
            *old = Some(Sourced { value: new, origin: flag });
        }
    };
    lower(&mut config.budget.max_calls, budget.calls);
    lower(&mut config.budget.max_tokens, budget.tokens);
    if let Some(new) = budget.cost
        && config.budget.max_cost.as_ref().is_none_or(|old| new < old.value)
    {
        config.budget.max_cost = Some(Sourced { value: new, origin: flag });
    }
}

/// The problems of a file that cannot be read, as results.
fn problems_of(file: &LoadedFile) -> Vec<TestResult> {
    let problems = file.cases.as_ref().err().into_iter().flatten();
    problems.map(|problem| of_file(&file.place, problem.line, problem.message.clone())).collect()
}

fn of_file(place: &CasePlace, line: Option<usize>, message: String) -> TestResult {
    error_result(place, line.unwrap_or(1), "the test file", message)
}

fn of_case(place: &CasePlace, case: &Case, message: String) -> TestResult {
    error_result(place, case.line, &case.name, message)
}

fn error_result(place: &CasePlace, line: usize, case: &str, message: String) -> TestResult {
    let outcome = TestOutcome::Error;
    TestResult {
        file: place.shown.clone(),
        line,
        case: case.to_owned(),
        receiver: String::new(),
        format: String::new(),
        variant: None,
        repeat: 1,
        outcome,
        assertions: vec![AssertionResult {
            kind: String::new(),
            line,
            outcome,
            message,
            section: None,
            diff: None,
            judge: None,
        }],
        prompt_sha256: None,
        prompt_tokens: None,
        reply: None,
        millis: 0,
    }
}

/// Sizes and times of the files below some directories.
fn fingerprint(roots: &[PathBuf]) -> String {
    const NOT_INPUTS: [&str; 7] = ["sessions", "runs", "changes", "cache", "goldens", "results", ".git"];
    let is_input =
        |entry: &ignore::DirEntry| !NOT_INPUTS.iter().any(|name| entry.file_name().to_str() == Some(name));
    let mut text = String::new();
    for root in roots {
        for entry in ignore::WalkBuilder::new(root).standard_filters(false).filter_entry(is_input).build() {
            let Some(entry) = entry.ok().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            else {
                continue;
            };
            let Ok(metadata) = entry.metadata() else { continue };
            let changed_at = metadata.modified().ok();
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}\0{}\0{changed_at:?}", entry.path().display(), metadata.len());
        }
    }
    aiwf_store::sha256_hex(text.as_bytes())
}

/// One thread for each core; more for sessions, which wait for the disk.
fn jobs(asked: Option<usize>, units: &[Unit<'_>]) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let has_sessions = || units.iter().any(|unit| matches!(unit.case.built, Request::Session(_)));
    let jobs = asked.unwrap_or_else(|| if has_sessions() { SESSION_JOBS } else { cores() });
    jobs.clamp(1, MAX_JOBS)
}

/// Runs the units on so many threads; the results are in the order of the units.
fn on_threads<'u>(
    units: &'u [Unit<'u>],
    n_threads: usize,
    run: impl Fn(&'u Unit<'u>) -> Option<TestResult> + Sync,
) -> Vec<TestResult> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = units.get(index) else { return results };
            results.extend(run(unit).map(|result| (index, result)));
        }
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads.min(units.len()))
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut results = work();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
