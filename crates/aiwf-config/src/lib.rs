//! What the surroundings and the configuration files say, read once.
//!
//! The only crate that reads the environment, the current directory and the home directory. Everyone else gets
//! a [`Settings`] (where everything is) and, if they need one, a [`Config`] (what people have set), and asks
//! nobody. [`Settings`] costs no file; a [`Config`] is read only by the command that asks for it.

mod environment;
mod settings;

mod checkout;
mod config;
mod config_file;
mod config_layer;
mod entry;
mod error;
mod fault;
mod flags;
mod gate;
mod layer_reader;
mod layer_values;
mod name;
mod origin;
mod problem;
mod provider_check;
mod provider_table;
mod setting_docs;
mod toml_text;
mod tools_config;
mod tools_entry;
mod tools_table;
mod trust_table;
mod vocabulary;
mod workflow_config;
mod workflow_table;

pub use checkout::{Checkout, CheckoutProvider, Loosening};
pub use config::{BudgetConfig, ChangeConfig, Config, Gates, Roles, SessionConfig, TrustConfig};
pub use config_layer::{Price, ProviderConfig, StandardsConfig};
pub use entry::Entry;
pub use environment::{Environment, variable};
pub use error::ConfigError;
pub use fault::ConfigFault;
pub use flags::{Flags, GateFlagError, parse_gate_flag};
pub use gate::{Approver, Gate};
pub use origin::{ConfigFile, Origin, Sourced};
pub use problem::ConfigProblem;
pub use setting_docs::{SettingDoc, TableDoc, setting_docs};
pub use settings::Settings;
pub use tools_config::{McpConfig, McpServerConfig, ToolsConfig};
pub use vocabulary::{Adopt, Conditions, FsAbility};
pub use workflow_config::WorkflowConfig;
