//! Reads the DDL of a schema: tables, columns, keys, and which tables belong to a tenant.
//!
//! In: SQL of any common dialect, or a whole dump. Out: the tables, and a problem with its line for each unreadable
//! part. Other statements are ignored. Never panics, whatever the text.

mod dialects;
mod from_ast;
mod report_text;
mod rough;
mod scan;
mod schema;
mod statements;

use serde::Serialize;

/// The tables of a schema, and the parts that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DdlReport {
    /// The tables, in the order of the text; only one if a single table was requested.
    pub tables: Vec<Table>,
    pub problems: Vec<DdlProblem>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The schema, if the text names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The name without quotes.
    pub name: String,
    /// The line of its `CREATE TABLE`, counted from 1.
    pub line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    pub tenancy: Tenancy,
    pub columns: Vec<Column>,
    /// The columns of the primary key.
    pub primary_key: Vec<String>,
    /// The columns of each unique key other than the primary key.
    pub unique_keys: Vec<Vec<String>>,
    pub foreign_keys: Vec<ForeignKey>,
    /// Remarks for writing code against the table.
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
        /// The column that identifies the tenant.
        column: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The name without quotes.
    pub name: String,
    /// The type as written in the schema, like `VARCHAR(80)`.
    #[serde(rename = "type")]
    pub data_type: String,
    #[serde(rename = "nullable")]
    pub is_nullable: bool,
    /// Whether the database generates its value: identity, serial, computed.
    #[serde(rename = "generated")]
    pub is_generated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    pub columns: Vec<String>,
    pub table: String,
    /// The referenced columns; empty means the primary key.
    pub referenced_columns: Vec<String>,
    /// What happens when the referenced row is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_delete: Option<String>,
}

/// A part of the DDL that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DdlProblem {
    /// The line where it starts, counted from 1.
    pub line: usize,
    /// What is wrong: lower case, no final period, names in backticks.
    pub message: String,
}

/// Size limit of a schema, in bytes.
const MAX_SQL_BYTES: usize = 4 * 1024 * 1024;

/// Reads the tables of `sql`, or only `table`.
///
/// A table with one of `tenant_columns` is tenant-scoped; the comparison ignores case.
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

/// Keeps one table and all problems, because one of them may be why the table is missing.
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
