//! Profiles: packages of domain knowledge, as data.
//!
//! In: the files of a profile's directory. Out: a [`Profile`] that knows its parameters, writes the domain prompt of
//! each phase, reads replies, bundles standards and determines where generated files go; or every problem with file and
//! line. It uses no file, environment or clock: the engine passes the texts in.
//!
//! A profile contains no code. Its commands run shared actions that any profile may use: [`ddl`], [`component_preview`]
//! and [`Profile::list`].

mod problem;
mod problem_kind;
mod project_standards;
mod relative_path;
mod reserved;
mod text_table;
mod toml_document;

mod manifest;
mod manifest_file;
mod manifest_params;
mod shape;

mod command;
mod param;
mod phase;
mod scope;

mod context;
mod java_package;
mod standards;

mod apply_target;
mod lint;
mod profile;

mod component_preview;
mod ddl;

mod built_in;
mod scaffold;

pub use apply_target::ApplyProblem;
pub use built_in::{built_in_profile, built_in_profiles};
pub use command::{Action, Command, ListOf, ListRow};
pub use component_preview::{ComponentPreview, NoComponent, Prop, TokenKind, component_preview, highlight};
pub use context::{MatchedFile, ReadFile, Settled, WantedFile, WantedPatterns};
pub use ddl::{Column, DdlProblem, DdlReport, ForeignKey, Table, Tenancy, ddl};
pub use lint::{Check, Finding};
pub use manifest_file::manifest_schema;
pub use param::{Choice, Param, ParamKind, ParamProblem, Pattern};
pub use phase::{Phase, PhaseReply, PhaseValue, ReplyParser, Review, ReviewVerdict};
pub use problem::{ProfileError, ProfileProblem, StandardsError};
pub use problem_kind::ProfileProblemKind;
pub use profile::{Files, MAX_FILE_BYTES, MAX_FILES, Profile};
pub use project_standards::{ProjectRule, ProjectStandards};
pub use reserved::RESERVED_PROFILE_NAMES;
pub use scaffold::scaffold;
pub use scope::Scope;
