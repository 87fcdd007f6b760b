//! Reads the environment and the configuration files, once.
//!
//! The only crate that reads the environment, the working directory and the home directory. Every other crate gets a
//! [`Settings`] (locations) and, if it needs one, a [`Config`] (the user's settings). [`Settings`] reads no file; only
//! commands that need a [`Config`] read the files.
//!
//! Every setting is declared once, with the macro in `setting.rs`; the declarations are in `config.rs`, `tables.rs`,
//! `roles.rs`, `gates.rs`, `price.rs`, `provider_config.rs`, `mcp_server_config.rs` and `check_config.rs`.

mod environment;
mod settings;

mod setting;
mod table_kinds;
mod value;

mod check_config;
mod config;
mod gates;
mod mcp_server_config;
mod price;
mod provider_config;
mod roles;
mod tables;

mod check_block;
mod checkout;
mod config_file;
mod entry;
mod error;
mod fault;
mod flags;
mod gate;
mod layer_reader;
mod name;
mod origin;
mod problem;
mod provider_check;
mod setting_docs;
mod toml_text;
mod vocabulary;

pub use check_block::CheckBlock;
pub use check_config::{CheckCommand, CheckConfig};
pub use checkout::{Checkout, CheckoutProvider, Loosening};
pub use config::Config;
pub use entry::Entry;
pub use environment::{Environment, check_environment, variable};
pub use error::ConfigError;
pub use fault::ConfigFault;
pub use flags::{Flags, GateFlagError, parse_gate_flag};
pub use gate::{Approver, Gate};
pub use gates::Gates;
pub use mcp_server_config::McpServerConfig;
pub use name::{CHECK_NAME_RULE, is_check_name};
pub use origin::{ConfigFile, Origin, Sourced};
pub use price::Price;
pub use problem::ConfigProblem;
pub use provider_config::ProviderConfig;
pub use roles::Roles;
pub use setting::{SettingDoc, TableDoc};
pub use setting_docs::setting_docs;
pub use settings::Settings;
pub use tables::{
    BudgetConfig, ChangeConfig, DefaultsConfig, McpConfig, NotifyConfig, SessionConfig, StandardsConfig,
    ToolsConfig, TrustConfig, WorkflowConfig, WorktreeConfig,
};
pub use vocabulary::{Adopt, CheckNetwork, Conditions, EditForm, FsAbility};
