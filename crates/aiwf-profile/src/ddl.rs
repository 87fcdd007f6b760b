//! Reads the DDL of a schema: tables, columns, keys, and which tables belong to a tenant.
//!
//! In: SQL of any common dialect, also a whole dump. Out: the tables, and a problem with its line for each part
//! that could not be read. Other statements are passed over. Never panics, whatever the text.

mod dialects;
mod from_ast;
mod report_text;
mod rough;
mod scan;
mod schema;
mod statements;

use serde::Serialize;

/// The tables of a schema, and what could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DdlReport {
    /// The tables, in the order of the text; with a table asked for, only that one.
    pub tables: Vec<Table>,
    /// What could not be read.
    pub problems: Vec<DdlProblem>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The schema, when the text names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The name without quotes.
    pub name: String,
    /// Where it is created, counted from 1.
    pub line: usize,
    /// What the schema says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Whether its rows belong to a tenant.
    pub tenancy: Tenancy,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The columns of the primary key.
    pub primary_key: Vec<String>,
    /// The columns of each unique key beside the primary key.
    pub unique_keys: Vec<Vec<String>>,
    /// The foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// What is worth knowing when code is written for it.
    pub notes: Vec<String>,
}

/// Whether the rows of a table belong to a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Tenancy {
    /// All tenants share its rows.
    #[default]
    Global,
    /// Each row belongs to one tenant.
    TenantScoped {
        /// The column that names the tenant.
        column: String,
    },
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The name without quotes.
    pub name: String,
    /// The type as the database has it, like `VARCHAR(80)`.
    #[serde(rename = "type")]
    pub data_type: String,
    /// Whether it can be null.
    #[serde(rename = "nullable")]
    pub is_nullable: bool,
    /// Whether the database makes its value: identity, serial, computed.
    #[serde(rename = "generated")]
    pub is_generated: bool,
    /// The default, as SQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What the schema says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// A foreign key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    /// The columns of this table.
    pub columns: Vec<String>,
    /// The table they point to.
    pub table: String,
    /// The columns they point to; empty means its primary key.
    pub referenced_columns: Vec<String>,
    /// What happens when the row they point to is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_delete: Option<String>,
}

/// A part of the DDL that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DdlProblem {
    /// Where it starts, counted from 1.
    pub line: usize,
    /// What is wrong: lower case, no final period, names in backticks.
    pub message: String,
}

/// The largest schema that is read, in bytes.
const MAX_SQL_BYTES: usize = 4 * 1024 * 1024;

/// Reads the tables of `sql`, or only `table`.
///
/// A table with one of `tenant_columns` is tenant-scoped; names are compared without case.
pub fn ddl(sql: &str, table: Option<&str>, tenant_columns: &[String]) -> DdlReport {
    if sql.len() > MAX_SQL_BYTES {
        let message = format!("the schema has {} bytes, more than {MAX_SQL_BYTES}", sql.len());
        return DdlReport { tables: Vec::new(), problems: vec![DdlProblem { line: 1, message }] };
    }
    let report = schema::read_schema(sql, tenant_columns);
    match table {
        Some(name) => only(report, name),
        None => report,
    }
}

/// Keeps one table; problems stay, since one of them may be why it is missing.
fn only(mut report: DdlReport, name: &str) -> DdlReport {
    let wanted = name.rsplit('.').next().unwrap_or(name);
    if report.tables.iter().any(|table| table.name.eq_ignore_ascii_case(wanted)) {
        report.tables.retain(|table| table.name.eq_ignore_ascii_case(wanted));
        return report;
    }
    let names = report.tables.iter().map(|table| table.name.as_str());
    let hint = crate::problem::known_hint(wanted, names);
    let message = format!("the schema has no table `{}`; {hint}", crate::problem::excerpt(name));
    report.problems.insert(0, DdlProblem { line: 1, message });
    report.tables.clear();
    report
}

#[cfg(test)]
#[path = "ddl_tests.rs"]
mod tests;
