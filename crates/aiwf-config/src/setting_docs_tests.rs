use super::*;
use crate::config::Config;
use crate::flags::Flags;
use crate::layer_reader::{
    BUDGET_KEYS, CHANGE_KEYS, DEFAULTS_KEYS, GATE_OPTIONS, PRICE_KEYS, ROLE_KEYS, SESSION_KEYS,
    STANDARDS_KEYS, TABLES as READ,
};
use crate::origin::Origin;
use crate::provider_table::PROVIDER_KEYS;
use crate::tools_config::GRANT_PHASES;
use crate::tools_table::{MCP_KEYS, MCP_SERVER_KEYS, TOOLS_KEYS};
use crate::trust_table::TRUST_KEYS;
use crate::workflow_table::WORKFLOW_KEYS;

fn keys(table: &str) -> Vec<&'static str> {
    let doc = setting_docs().iter().find(|doc| doc.table == table);
    doc.into_iter().flat_map(|doc| doc.settings).map(|setting| setting.key).collect()
}

#[test]
fn every_key_that_is_read_is_documented() {
    for (table, read) in [
        ("[roles]", ROLE_KEYS),
        ("[gates.\"PHASE.STAGE\"]", GATE_OPTIONS),
        ("[session]", SESSION_KEYS),
        ("[standards]", STANDARDS_KEYS),
        ("[change]", CHANGE_KEYS),
        ("[workflow]", WORKFLOW_KEYS),
        ("[budget]", BUDGET_KEYS),
        ("[prices.\"MODEL\"]", PRICE_KEYS),
        ("[defaults]", DEFAULTS_KEYS),
        ("[providers.NAME]", PROVIDER_KEYS),
        ("[mcp]", MCP_KEYS),
        ("[mcp.servers.NAME]", MCP_SERVER_KEYS),
        ("[tools]", TOOLS_KEYS),
        ("[tools.grant]", GRANT_PHASES),
        ("[trust]", TRUST_KEYS),
    ] {
        assert_eq!(keys(table), read, "{table}");
    }
    for table in READ {
        let is_documented = setting_docs()
            .iter()
            .any(|doc| doc.table.trim_matches(['[', ']']).split('.').next() == Some(table));
        assert!(is_documented, "[{table}]");
    }
}

#[test]
fn documented_defaults_are_what_holds_when_nothing_is_set() {
    let entries = Config::resolve([], &Flags::default()).entries();
    for entry in entries.iter().filter(|entry| entry.origin == Origin::Default) {
        let Some((table, key)) = entry.key.split_once('.') else { continue };
        // What follows a `default` has none of its own.
        if matches!(table, "roles" | "gates") && key != "default" {
            continue;
        }
        let doc = setting_docs().iter().find(|doc| doc.table == format!("[{table}]"));
        let setting = doc.and_then(|doc| doc.settings.iter().find(|setting| setting.key == key));
        assert_eq!(setting.map(|setting| setting.default), Some(entry.value.as_str()), "{}", entry.key);
    }
}
