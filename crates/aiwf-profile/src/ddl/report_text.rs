//! Formats a report as text.

use std::fmt::Write as _;

use super::{DdlReport, Table, Tenancy};
use crate::text_table::text_table;

impl DdlReport {
    /// A table of columns and a list of keys for each table, followed by the parts that could not be read.
    pub fn text(&self) -> String {
        let mut text = self.tables.iter().map(table_text).collect::<Vec<_>>().join("\n");
        if !self.problems.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str("problems:\n");
            for problem in &self.problems {
                let _ = writeln!(text, "  line {}: {}", problem.line, problem.message);
            }
        }
        text
    }
}

fn table_text(table: &Table) -> String {
    let mut text = String::new();
    let name =
        table.schema.as_ref().map_or_else(|| table.name.clone(), |schema| format!("{schema}.{}", table.name));
    let tenancy = match &table.tenancy {
        Tenancy::Global => "global".to_owned(),
        Tenancy::TenantScoped { column } => format!("tenant-scoped by {column}"),
    };
    let _ = writeln!(text, "{name} (line {}): {tenancy}", table.line);
    if let Some(comment) = &table.comment {
        let _ = writeln!(text, "  {comment}");
    }
    let header = ["column", "type", "null", "default", "key"].map(str::to_owned).to_vec();
    let rows = table.columns.iter().map(|column| {
        let default = match (&column.default, column.is_generated) {
            (Some(default), _) => default.clone(),
            (None, true) => "generated".to_owned(),
            (None, false) => String::new(),
        };
        let mut keys = Vec::new();
        if table.primary_key.contains(&column.name) {
            keys.push("PK".to_owned());
        }
        if table.unique_keys.iter().any(|key| key.contains(&column.name)) {
            keys.push("UQ".to_owned());
        }
        for key in table.foreign_keys.iter().filter(|key| key.columns.contains(&column.name)) {
            keys.push(format!("FK {}", key.table));
        }
        let null = if column.is_nullable { "yes" } else { "no" };
        vec![column.name.clone(), column.data_type.clone(), null.to_owned(), default, keys.join(", ")]
    });
    text.push_str(&text_table(std::iter::once(header).chain(rows).collect(), "  "));
    for key in &table.unique_keys {
        let _ = writeln!(text, "  unique ({})", key.join(", "));
    }
    for key in &table.foreign_keys {
        let _ = write!(text, "  foreign key ({}) -> {}", key.columns.join(", "), key.table);
        if !key.referenced_columns.is_empty() {
            let _ = write!(text, " ({})", key.referenced_columns.join(", "));
        }
        if let Some(action) = &key.on_delete {
            let _ = write!(text, " on delete {}", action.to_lowercase());
        }
        text.push('\n');
    }
    for note in &table.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    text
}
