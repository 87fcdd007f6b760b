//! Turns parsed SQL into columns and keys.

use sqlparser::ast::{
    AlterColumnOperation, ColumnDef, ColumnOption, DataType, Expr, ForeignKeyConstraint, Ident, IndexColumn,
    ObjectName, TableConstraint,
};

use super::{Column, ForeignKey, Table};

/// The schema and the name of a table, without quotes.
pub(super) fn table_name(name: &ObjectName) -> (Option<String>, String) {
    let mut parts = name.0.iter().rev().filter_map(|part| part.as_ident()).map(|ident| ident.value.clone());
    let name = parts.next().unwrap_or_default();
    (parts.next(), name)
}

pub(super) fn idents(names: &[Ident]) -> Vec<String> {
    names.iter().map(|ident| ident.value.clone()).collect()
}

/// The columns of an index; empty if one of them is an expression.
pub(super) fn index_columns(columns: &[IndexColumn]) -> Vec<String> {
    let name = |column: &IndexColumn| {
        if let Expr::Identifier(ident) = &column.column.expr { Some(ident.value.clone()) } else { None }
    };
    columns.iter().map(name).collect::<Option<Vec<String>>>().unwrap_or_default()
}

/// Adds a column and its inline keys.
pub(super) fn add_column(table: &mut Table, definition: &ColumnDef) {
    let name = definition.name.value.clone();
    let is_serial = is_serial(&definition.data_type);
    let mut column = Column {
        name: name.clone(),
        data_type: type_text(&definition.data_type),
        is_nullable: !is_serial,
        is_generated: is_serial,
        ..Column::default()
    };
    for option in &definition.options {
        add_option(table, &mut column, &option.option);
    }
    if let Some(existing) = table.columns.iter_mut().find(|existing| existing.name == name) {
        *existing = column;
    } else {
        table.columns.push(column);
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the report ignores the many other options")]
fn add_option(table: &mut Table, column: &mut Column, option: &ColumnOption) {
    match option {
        ColumnOption::Null => column.is_nullable = true,
        ColumnOption::NotNull => column.is_nullable = false,
        ColumnOption::Default(value) => column.default = Some(value.to_string()),
        ColumnOption::PrimaryKey(_) => {
            column.is_nullable = false;
            table.primary_key = vec![column.name.clone()];
        }
        ColumnOption::Unique(_) => table.unique_keys.push(vec![column.name.clone()]),
        ColumnOption::ForeignKey(key) => {
            let key = ForeignKey { columns: vec![column.name.clone()], ..foreign_key(key) };
            table.foreign_keys.push(key);
        }
        ColumnOption::Generated { .. } => column.is_generated = true,
        ColumnOption::Identity(_) => {
            column.is_generated = true;
            column.is_nullable = false;
        }
        ColumnOption::Comment(text) => column.comment = Some(text.clone()),
        ColumnOption::DialectSpecific(tokens) => {
            let words: Vec<String> = tokens.iter().map(|token| token.to_string().to_uppercase()).collect();
            if words.iter().any(|word| word == "AUTO_INCREMENT" || word == "AUTOINCREMENT") {
                column.is_generated = true;
                column.is_nullable = false;
            }
        }
        _ => {}
    }
}

pub(super) fn add_constraint(table: &mut Table, constraint: &TableConstraint) {
    match constraint {
        TableConstraint::PrimaryKey(key) => table.primary_key = index_columns(&key.columns),
        TableConstraint::Unique(key) => {
            let columns = index_columns(&key.columns);
            if !columns.is_empty() && !table.unique_keys.contains(&columns) {
                table.unique_keys.push(columns);
            }
        }
        TableConstraint::ForeignKey(key) => table.foreign_keys.push(foreign_key(key)),
        TableConstraint::Check(_)
        | TableConstraint::Index(_)
        | TableConstraint::FulltextOrSpatial(_)
        | TableConstraint::PrimaryKeyUsingIndex(_)
        | TableConstraint::UniqueUsingIndex(_)
        | TableConstraint::Exclude(_) => {}
    }
}

pub(super) fn alter_column(table: &mut Table, name: &Ident, operation: &AlterColumnOperation) {
    let found = table.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(&name.value));
    let Some(column) = found else { return };
    match operation {
        AlterColumnOperation::SetNotNull => column.is_nullable = false,
        AlterColumnOperation::DropNotNull => column.is_nullable = true,
        AlterColumnOperation::SetDefault { value } => column.default = Some(value.to_string()),
        AlterColumnOperation::DropDefault => column.default = None,
        AlterColumnOperation::SetDataType { data_type, .. } => column.data_type = type_text(data_type),
        AlterColumnOperation::AddGenerated { .. } => column.is_generated = true,
    }
}

/// Removes a column and the keys that include it.
pub(super) fn drop_column(table: &mut Table, name: &str) {
    let is_it = |other: &String| other.eq_ignore_ascii_case(name);
    table.columns.retain(|column| !is_it(&column.name));
    table.unique_keys.retain(|key| !key.iter().any(is_it));
    table.foreign_keys.retain(|key| !key.columns.iter().any(is_it));
    if table.primary_key.iter().any(is_it) {
        table.primary_key.clear();
    }
}

/// Renames a column everywhere in the table.
pub(super) fn rename_column(table: &mut Table, old: &str, new: &str) {
    let columns = table.columns.iter_mut().map(|column| &mut column.name);
    let names = columns
        .chain(&mut table.primary_key)
        .chain(table.unique_keys.iter_mut().flatten())
        .chain(table.foreign_keys.iter_mut().flat_map(|key| &mut key.columns));
    for name in names.filter(|name| name.eq_ignore_ascii_case(old)) {
        new.clone_into(name);
    }
}

fn foreign_key(key: &ForeignKeyConstraint) -> ForeignKey {
    let (schema, name) = table_name(&key.foreign_table);
    ForeignKey {
        columns: idents(&key.columns),
        table: schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}")),
        referenced_columns: idents(&key.referred_columns),
        on_delete: key.on_delete.as_ref().map(ToString::to_string),
    }
}

/// The type without the brackets that SQL Server puts around names; those of arrays stay.
///
/// A dialect that does not know `VARCHAR2(80 CHAR)` reads it as two arguments.
fn type_text(data_type: &DataType) -> String {
    let text = data_type.to_string().replace(", CHAR)", " CHAR)").replace(", BYTE)", " BYTE)");
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) => format!("{name}{rest}"),
        None => text,
    }
}

fn is_serial(data_type: &DataType) -> bool {
    matches!(
        data_type.to_string().to_uppercase().as_str(),
        "SERIAL" | "BIGSERIAL" | "SMALLSERIAL" | "SERIAL4" | "SERIAL8" | "SERIAL2"
    )
}
