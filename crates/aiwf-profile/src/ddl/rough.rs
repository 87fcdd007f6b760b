//! Reads a column or key from its words alone, for dialects that the SQL parser does not know.
//!
//! Teams with a schema from Oracle or SQL Server need it: one vendor option that the parser refuses, such as `NOT NULL
//! ENABLE`, would hide the column from the report, and with it a tenant column.

use super::scan::{Kind, Piece};
use super::statements::{group, joined, split_items};
use super::{Column, ForeignKey, Table};

/// The schema and the name at the end of `CREATE TABLE … name`.
pub(super) fn rough_name(head: &[Piece<'_>]) -> (Option<String>, String) {
    let mut parts = head.iter().rev();
    let name = parts.next().map(|piece| piece.unquoted().to_owned()).unwrap_or_default();
    let has_schema = parts.next().is_some_and(|piece| piece.text == ".");
    let schema = parts.next().filter(|_| has_schema).map(|piece| piece.unquoted().to_owned());
    (schema, name)
}

/// What an `ALTER TABLE` may start with that changes no column and no key.
const HARMLESS: [&str; 12] = [
    "ATTACH",
    "DETACH",
    "CHECK",
    "NOCHECK",
    "ENABLE",
    "DISABLE",
    "SET",
    "OWNER",
    "CLUSTER",
    "REPLICA",
    "NOLOGGING",
    "LOGGING",
];

/// What an `ALTER TABLE` does that the SQL parser does not know.
pub(super) enum RoughAlter<'p, 'a> {
    /// It changes no column and no key.
    Nothing,
    /// It adds columns or keys.
    Add { schema: Option<String>, name: String, items: Vec<&'p [Piece<'a>]> },
}

impl<'p, 'a> RoughAlter<'p, 'a> {
    /// Reads `ALTER TABLE name … ADD items`; `None` when it does something else.
    pub(super) fn read(pieces: &'p [Piece<'a>]) -> Option<Self> {
        let name_at = pieces.iter().position(|piece| {
            !["ALTER", "FOREIGN", "TABLE", "IF", "EXISTS", "ONLY"].iter().any(|word| piece.is_word(word))
        })?;
        let dot_at = name_at + 1;
        let has_schema = pieces.get(dot_at).is_some_and(|piece| piece.text == ".");
        let name_end = if has_schema { name_at + 3 } else { name_at + 1 };
        let (schema, name) = rough_name(pieces.get(name_at..name_end)?);
        let rest = pieces.get(name_end..)?;
        let add_at = rest.iter().position(|piece| piece.is_word("ADD"));
        let before = rest.get(..add_at.unwrap_or(rest.len()))?;
        let Some(add_at) = add_at else {
            let is_harmless = before.first().is_some_and(|word| HARMLESS.iter().any(|one| word.is_word(one)));
            return is_harmless.then_some(Self::Nothing);
        };
        let is_plain =
            before.iter().all(|piece| ["WITH", "CHECK", "NOCHECK"].iter().any(|word| piece.is_word(word)));
        let added = rest.get(add_at + 1..).filter(|_| is_plain)?;
        let added = match added {
            [first, rest @ ..] if first.is_word("COLUMN") => rest,
            _ => added,
        };
        let items = match added.first() {
            Some(first) if first.kind == Kind::Open => split_items(group(added)?),
            _ => split_items(added),
        };
        Some(Self::Add { schema, name, items })
    }
}

/// Adds what an item of a table says; `false` when it says nothing that can be told.
pub(super) fn rough_item(table: &mut Table, item: &[Piece<'_>], sql: &str) -> bool {
    let item = match item {
        [first, _, rest @ ..] if first.is_word("CONSTRAINT") => rest,
        _ => item,
    };
    let Some(first) = item.first() else { return false };
    if first.is_word("DEFAULT") {
        return rough_default(table, item, sql);
    }
    let starts = |words: &[&str]| {
        words.len() <= item.len() && words.iter().zip(item).all(|(word, piece)| piece.is_word(word))
    };
    if starts(&["PRIMARY", "KEY"]) {
        return columns_in(item).is_some_and(|columns| {
            table.primary_key = columns;
            true
        });
    }
    if starts(&["FOREIGN", "KEY"]) {
        return rough_foreign_key(item).is_some_and(|key| {
            table.foreign_keys.push(key);
            true
        });
    }
    if starts(&["UNIQUE"]) {
        return columns_in(item).is_some_and(|columns| {
            table.unique_keys.push(columns);
            true
        });
    }
    if NO_COLUMN.iter().any(|word| first.is_word(word)) {
        return true;
    }
    rough_column(table, item, sql)
}

/// Words that start an item which is no column and not part of the report.
const NO_COLUMN: [&str; 10] = [
    "CHECK",
    "KEY",
    "INDEX",
    "FULLTEXT",
    "SPATIAL",
    "EXCLUDE",
    "PERIOD",
    "LIKE",
    "SUPPLEMENTAL",
    "CONSTRAINT",
];

/// Where the type of a column ends.
const OPTIONS: [&str; 19] = [
    "NOT",
    "NULL",
    "DEFAULT",
    "PRIMARY",
    "UNIQUE",
    "REFERENCES",
    "CHECK",
    "CONSTRAINT",
    "GENERATED",
    "IDENTITY",
    "AUTO_INCREMENT",
    "COMMENT",
    "COLLATE",
    "CHARACTER",
    "AS",
    "ENABLE",
    "ON",
    "VISIBLE",
    "INVISIBLE",
];

fn rough_column(table: &mut Table, item: &[Piece<'_>], sql: &str) -> bool {
    let Some((name, rest)) = item.split_first() else { return false };
    if !matches!(name.kind, Kind::Word | Kind::Quoted)
        || rest.first().is_none_or(|next| next.kind != Kind::Word)
    {
        return false;
    }
    let is_option = |piece: &Piece<'_>| OPTIONS.iter().any(|option| piece.is_word(option));
    let type_end = rest.iter().position(is_option).unwrap_or(rest.len());
    let (type_pieces, options) = rest.split_at_checked(type_end).unwrap_or((rest, &[]));
    let has = |words: &[&str]| {
        options
            .windows(words.len())
            .any(|window| words.iter().zip(window).all(|(word, piece)| piece.is_word(word)))
    };
    let column_name = name.unquoted().to_owned();
    let is_generated = has(&["IDENTITY"]) || has(&["GENERATED"]) || has(&["AUTO_INCREMENT"]);
    let default = options.iter().position(|piece| piece.is_word("DEFAULT")).map(|at| {
        let value = options.get(at + 1..).unwrap_or_default();
        let end = value.iter().skip(1).position(is_option).map_or(value.len(), |end| end + 1);
        joined(value.get(..end).unwrap_or_default(), sql)
    });
    if has(&["PRIMARY", "KEY"]) {
        table.primary_key = vec![column_name.clone()];
    }
    if has(&["UNIQUE"]) {
        table.unique_keys.push(vec![column_name.clone()]);
    }
    if let Some(at) = options.iter().position(|piece| piece.is_word("REFERENCES")) {
        let columns = vec![column_name.clone()];
        table.foreign_keys.extend(reference(options.get(at..).unwrap_or_default(), columns));
    }
    table.columns.push(Column {
        name: column_name,
        data_type: joined(type_pieces, sql).split_whitespace().collect::<Vec<_>>().join(" "),
        is_nullable: !has(&["NOT", "NULL"]) && !has(&["PRIMARY", "KEY"]),
        is_generated,
        default: default.filter(|default| !default.is_empty() && !is_generated),
        comment: None,
    });
    true
}

/// Reads `DEFAULT value FOR column`, as SQL Server adds defaults.
fn rough_default(table: &mut Table, item: &[Piece<'_>], sql: &str) -> bool {
    let Some(at) = item.iter().rposition(|piece| piece.is_word("FOR")) else { return false };
    let value = joined(item.get(1..at).unwrap_or_default(), sql);
    let Some(name) = item.get(at + 1).map(Piece::unquoted) else { return false };
    let found = table.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name));
    found.is_some_and(|column| {
        column.default = Some(value);
        true
    })
}

fn rough_foreign_key(item: &[Piece<'_>]) -> Option<ForeignKey> {
    let columns = columns_in(item)?;
    let at = item.iter().position(|piece| piece.is_word("REFERENCES"))?;
    reference(item.get(at..)?, columns)
}

/// Reads `REFERENCES name (columns)`.
fn reference(pieces: &[Piece<'_>], columns: Vec<String>) -> Option<ForeignKey> {
    let rest = pieces.get(1..)?;
    let is_name = |piece: &Piece<'_>| matches!(piece.kind, Kind::Word | Kind::Quoted) || piece.text == ".";
    let end = if rest.get(1).is_some_and(|piece| piece.text == ".") { 3 } else { 1 };
    let name: String =
        rest.get(..end)?.iter().take_while(|piece| is_name(piece)).map(Piece::unquoted).collect();
    let referenced_columns = rest.get(end..).and_then(|after| {
        let starts = after.first().is_some_and(|piece| piece.kind == Kind::Open);
        starts.then(|| columns_in(after)).flatten()
    });
    let at = pieces
        .windows(2)
        .position(|window| matches!(window, [on, delete] if on.is_word("ON") && delete.is_word("DELETE")));
    let on_delete = at.and_then(|at| {
        let mut words = pieces.get(at + 2..)?.iter().map(|piece| piece.text.to_uppercase());
        let first = words.next()?;
        let second = words.next().filter(|_| matches!(first.as_str(), "SET" | "NO"));
        Some(second.map_or_else(|| first.clone(), |second| format!("{first} {second}")))
    });
    Some(ForeignKey {
        columns,
        table: name,
        referenced_columns: referenced_columns.unwrap_or_default(),
        on_delete,
    })
}

/// The names in the first parenthesis.
fn columns_in(item: &[Piece<'_>]) -> Option<Vec<String>> {
    let open = item.iter().position(|piece| piece.kind == Kind::Open)?;
    let inside = group(item.get(open..)?)?;
    let names: Vec<String> = split_items(inside)
        .iter()
        .filter_map(|one| one.first())
        .map(|piece| piece.unquoted().to_owned())
        .collect();
    (!names.is_empty()).then_some(names)
}
