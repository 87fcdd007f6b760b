//! Reads statements one by one into tables.

use sqlparser::ast;
use sqlparser::dialect::Dialect;

use super::dialects::{dialects, parse_with};
use super::from_ast::{
    add_column, add_constraint, alter_column, drop_column, idents, index_columns, rename_column, table_name,
};
use super::rough::{RoughAlter, rough_item, rough_name};
use super::scan::{Piece, scan};
use super::statements::{Statement, StatementKind, joined, statements};
use super::{DdlProblem, DdlReport, Table, Tenancy};
use crate::problem::excerpt;

/// Enough for the deepest tree that is accepted, even in an unoptimized build.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Reads all tables on a thread whose stack is large enough for deep trees.
pub(super) fn read_schema(sql: &str, tenant_columns: &[String]) -> DdlReport {
    let report = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let handle = thread.spawn_scoped(scope, || Schema::read(sql, tenant_columns)).ok()?;
        handle.join().ok()
    });
    report.unwrap_or_else(|| {
        let message = "the schema could not be read".to_owned();
        DdlReport { tables: Vec::new(), problems: vec![DdlProblem { line: 1, message }] }
    })
}

struct Schema<'a> {
    sql: &'a str,
    line_starts: Vec<usize>,
    dialects: Vec<Box<dyn Dialect>>,
    tables: Vec<Table>,
    problems: Vec<DdlProblem>,
}

impl<'a> Schema<'a> {
    fn read(sql: &'a str, tenant_columns: &[String]) -> DdlReport {
        let (pieces, unclosed) = scan(sql);
        let line_starts = std::iter::once(0).chain(sql.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut schema =
            Self { sql, line_starts, dialects: dialects(sql), tables: Vec::new(), problems: Vec::new() };
        for statement in statements(&pieces) {
            schema.statement(&statement);
        }
        if let Some(at) = unclosed {
            schema.add(at, "a quote or comment starts here and never ends".to_owned());
        }
        schema.judge_tenancy(tenant_columns);
        schema.problems.sort_by_key(|problem| problem.line);
        DdlReport { tables: schema.tables, problems: schema.problems }
    }

    fn statement(&mut self, statement: &Statement<'_, 'a>) {
        let at = statement.pieces.first().map_or(0, |piece| piece.start);
        if statement.is_too_deep() {
            self.add(at, "this statement is nested too deeply".to_owned());
            return;
        }
        match (self.parse(&statement.text(self.sql)), statement.kind) {
            (Ok(parsed), _) => self.take(parsed, at),
            (Err(reason), StatementKind::CreateTable) => self.item_by_item(statement, at, &reason),
            (Err(reason), StatementKind::AlterTable) => self.roughly_alter(statement, at, &reason),
            // An unreadable index or comment does not affect the report.
            (Err(_), StatementKind::UniqueIndex | StatementKind::Comment) => {}
        }
    }

    /// Parses a statement in the first dialect that accepts it; the error is the first dialect's.
    fn parse(&mut self, text: &str) -> Result<ast::Statement, String> {
        let mut first_reason = None;
        for idx in 0..self.dialects.len() {
            let Some(dialect) = self.dialects.get(idx) else { continue };
            match parse_with(dialect.as_ref(), text) {
                Ok(statement) => {
                    // A file uses one dialect, so the one that worked is tried first from now on.
                    if let Some(started) = self.dialects.get_mut(..=idx) {
                        started.rotate_right(1);
                    }
                    return Ok(statement);
                }
                Err(reason) => {
                    first_reason.get_or_insert(reason);
                }
            }
        }
        Err(first_reason.unwrap_or_default())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "many other statements do not concern tables")]
    fn take(&mut self, statement: ast::Statement, at: usize) {
        match statement {
            ast::Statement::CreateTable(create) => {
                let (schema, name) = table_name(&create.name);
                let mut table = Table { schema, name, line: self.line(at), ..Table::default() };
                for column in &create.columns {
                    add_column(&mut table, column);
                }
                for constraint in &create.constraints {
                    add_constraint(&mut table, constraint);
                }
                self.inherit(&mut table, &create);
                self.add_table(table, at);
            }
            ast::Statement::AlterTable(alter) => self.alter(&alter, at),
            ast::Statement::CreateIndex(index) if index.unique && index.predicate.is_none() => {
                let columns = index_columns(&index.columns);
                if let Some(table) = self.table_mut(&index.table_name)
                    && !columns.is_empty()
                    && !table.unique_keys.contains(&columns)
                {
                    table.unique_keys.push(columns);
                }
            }
            ast::Statement::Comment { object_type, object_name, comment, .. } => {
                self.comment(object_type, object_name, comment);
            }
            _ => {}
        }
    }

    /// Adds the columns of another table that was read earlier; returns that table.
    fn copy_columns(&self, table: &mut Table, schema: Option<&str>, name: &str) -> Option<&Table> {
        let parent = self.tables.iter().find(|parent| is_same(parent, schema, name));
        let shown = excerpt(name);
        match parent {
            Some(parent) => {
                // Inherited columns come before its own.
                table.columns = parent.columns.iter().cloned().chain(table.columns.drain(..)).collect();
                table.notes.push(format!("it has the columns of `{shown}`"));
            }
            None => table.notes.push(format!("it has the columns of `{shown}`, which is not in the schema")),
        }
        parent
    }

    /// Adds the columns of the tables that a table partitions, copies or inherits from.
    fn inherit(&self, table: &mut Table, create: &ast::CreateTable) {
        let like = create.like.as_ref().map(|like| match like {
            ast::CreateTableLikeKind::Parenthesized(like) | ast::CreateTableLikeKind::Plain(like) => {
                &like.name
            }
        });
        let parents = create.inherits.iter().flatten().chain(&create.partition_of).chain(like);
        for name in parents {
            let (schema, name) = table_name(name);
            let parent = self.copy_columns(table, schema.as_deref(), &name);
            if let Some(parent) = parent.filter(|_| create.partition_of.is_some()) {
                table.primary_key.clone_from(&parent.primary_key);
                table.unique_keys.clone_from(&parent.unique_keys);
                table.foreign_keys.clone_from(&parent.foreign_keys);
            }
        }
        if create.query.is_some() {
            table.notes.push("its columns are those of a query".to_owned());
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "many other operations change no column or key")]
    fn alter(&mut self, alter: &ast::AlterTable, at: usize) {
        let Some(table) = self.table_mut(&alter.name) else {
            let (_, name) = table_name(&alter.name);
            self.add(at, unknown_table(&name));
            return;
        };
        for operation in &alter.operations {
            match operation {
                ast::AlterTableOperation::AddColumn { column_def, .. } => add_column(table, column_def),
                ast::AlterTableOperation::AddConstraint { constraint, .. } => {
                    add_constraint(table, constraint);
                }
                ast::AlterTableOperation::AlterColumn { column_name, op } => {
                    alter_column(table, column_name, op);
                }
                ast::AlterTableOperation::DropColumn { column_names, .. } => {
                    for name in idents(column_names) {
                        drop_column(table, &name);
                    }
                }
                ast::AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
                    rename_column(table, &old_column_name.value, &new_column_name.value);
                }
                ast::AlterTableOperation::RenameTable { table_name: renamed } => {
                    let (ast::RenameTableNameKind::As(new) | ast::RenameTableNameKind::To(new)) = renamed;
                    table.name = table_name(new).1;
                }
                _ => {}
            }
        }
    }

    fn comment(&mut self, object: ast::CommentObject, mut name: ast::ObjectName, comment: Option<String>) {
        if object == ast::CommentObject::Table {
            if let Some(table) = self.table_mut(&name) {
                table.comment = comment;
            }
        } else if object == ast::CommentObject::Column
            && let Some(last) = name.0.pop()
            && let Some(column_name) = last.as_ident().map(|ident| ident.value.clone())
            && let Some(table) = self.table_mut(&name)
            && let Some(column) =
                table.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(&column_name))
        {
            column.comment = comment;
        }
    }

    /// Reads a table whose statement no dialect accepts: each item on its own, and heuristically if necessary.
    fn item_by_item(&mut self, statement: &Statement<'_, 'a>, at: usize, reason: &str) {
        let Some(body) = statement.body() else {
            self.add(at, format!("this `CREATE TABLE` cannot be read: {reason}"));
            return;
        };
        let (schema, name) = rough_name(body.head);
        let mut table = Table { schema, name, line: self.line(at), ..Table::default() };
        for item in body.items {
            if let [like, rest @ ..] = item
                && like.is_word("LIKE")
            {
                let end = if rest.get(1).is_some_and(|piece| piece.text == ".") { 3 } else { 1 };
                let (schema, name) = rough_name(rest.get(..end).unwrap_or_default());
                self.copy_columns(&mut table, schema.as_deref(), &name);
                continue;
            }
            let text = format!("CREATE TABLE t (\n{}\n)", joined(item, self.sql));
            match self.parse(&text) {
                Ok(ast::Statement::CreateTable(one)) => {
                    one.columns.iter().for_each(|column| add_column(&mut table, column));
                    one.constraints.iter().for_each(|constraint| add_constraint(&mut table, constraint));
                }
                Ok(_) | Err(_) => self.rough(&mut table, item),
            }
        }
        self.add_table(table, at);
    }

    /// Reads the additions of an `ALTER TABLE` that no dialect accepts.
    fn roughly_alter(&mut self, statement: &Statement<'_, 'a>, at: usize, reason: &str) {
        let sql = self.sql;
        match RoughAlter::read(statement.pieces) {
            Some(RoughAlter::Nothing) => {}
            Some(RoughAlter::Add { schema, name, items }) => {
                let found = self.tables.iter_mut().find(|table| is_same(table, schema.as_deref(), &name));
                let Some(table) = found else {
                    self.add(at, unknown_table(&name));
                    return;
                };
                let is_read = items.iter().all(|item| rough_item(table, item, sql));
                if !is_read {
                    self.add(at, format!("this `ALTER TABLE` cannot be read: {reason}"));
                }
            }
            None => self.add(at, format!("this `ALTER TABLE` cannot be read: {reason}")),
        }
    }

    fn rough(&mut self, table: &mut Table, item: &[Piece<'a>]) {
        let at = item.first().map_or(0, |piece| piece.start);
        let shown = excerpt(&joined(item, self.sql));
        if !rough_item(table, item, self.sql) {
            self.add(at, format!("`{shown}` of table `{}` cannot be read", excerpt(&table.name)));
        }
    }

    fn add_table(&mut self, table: Table, at: usize) {
        if let Some(other) =
            self.tables.iter().find(|other| is_same(other, table.schema.as_deref(), &table.name))
        {
            let message = format!(
                "table `{}` is created again; the one on line {} counts",
                excerpt(&table.name),
                other.line
            );
            self.add(at, message);
            return;
        }
        self.tables.push(table);
    }

    fn table_mut(&mut self, name: &ast::ObjectName) -> Option<&mut Table> {
        let (schema, name) = table_name(name);
        self.tables.iter_mut().find(|table| is_same(table, schema.as_deref(), &name))
    }

    fn judge_tenancy(&mut self, tenant_columns: &[String]) {
        for table in &mut self.tables {
            // Key columns are never null, even if the key is added by a later `ALTER TABLE`.
            for column in &mut table.columns {
                column.is_nullable &= !table.primary_key.contains(&column.name);
            }
            let is_tenant =
                |name: &str| tenant_columns.iter().any(|tenant| tenant.eq_ignore_ascii_case(name));
            if let Some(column) = table.columns.iter().find(|column| is_tenant(&column.name)) {
                table.tenancy = Tenancy::TenantScoped { column: column.name.clone() };
            }
        }
        let scoped: Vec<String> = self
            .tables
            .iter()
            .filter(|table| table.tenancy != Tenancy::Global)
            .map(|table| table.name.to_lowercase())
            .collect();
        for table in &mut self.tables {
            table.notes.extend(notes(table, &scoped));
        }
    }

    fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    fn add(&mut self, at: usize, message: String) {
        let line = self.line(at);
        self.problems.push(DdlProblem { line, message });
    }
}

fn unknown_table(name: &str) -> String {
    format!("`ALTER TABLE` of `{}`, which no earlier statement creates", excerpt(name))
}

/// Remarks on a table's tenancy and keys.
fn notes(table: &Table, scoped: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    if table.primary_key.is_empty() && !table.columns.is_empty() {
        notes.push("it has no primary key".to_owned());
    }
    match &table.tenancy {
        Tenancy::TenantScoped { column } => {
            if table.columns.iter().any(|one| one.name == *column && one.is_nullable) {
                notes.push(format!("its tenant column `{column}` can be null"));
            }
            for key in table.unique_keys.iter().filter(|key| !key.contains(column)) {
                let key = key.join(", ");
                notes.push(format!(
                    "unique key ({key}) does not include `{column}`, so it applies across tenants"
                ));
            }
        }
        Tenancy::Global => {
            for key in &table.foreign_keys {
                let target = key.table.rsplit('.').next().unwrap_or(&key.table);
                if scoped.contains(&target.to_lowercase()) {
                    let message = format!("it has no tenant column but points to tenant-scoped `{target}`");
                    if !notes.contains(&message) {
                        notes.push(message);
                    }
                }
            }
        }
    }
    notes
}

/// Names are compared without case; a schema matters only if both have one.
fn is_same(table: &Table, schema: Option<&str>, name: &str) -> bool {
    let is_same_schema = match (table.schema.as_deref(), schema) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        _ => true,
    };
    is_same_schema && table.name.eq_ignore_ascii_case(name)
}
