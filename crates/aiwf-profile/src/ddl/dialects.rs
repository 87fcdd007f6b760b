//! The SQL dialects in the order they are tried, and parsing one statement in one of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sqlparser::ast;
use sqlparser::dialect::{
    Dialect, GenericDialect, MsSqlDialect, MySqlDialect, OracleDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::problem::excerpt;

/// Recursion limit of the parser.
const MAX_RECURSION: usize = 50;

/// All dialects, most likely first.
pub(super) fn dialects(sql: &str) -> Vec<Box<dyn Dialect>> {
    let upper = sql.to_ascii_uppercase();
    let mut dialects: Vec<Box<dyn Dialect>> = vec![
        Box::new(GenericDialect {}),
        Box::new(PostgreSqlDialect {}),
        Box::new(MySqlDialect {}),
        Box::new(MsSqlDialect {}),
        Box::new(OracleDialect {}),
        Box::new(SQLiteDialect {}),
    ];
    let signs: [(usize, &[&str]); 4] = [
        (2, &["`", "ENGINE=", "AUTO_INCREMENT"]),
        (3, &["NVARCHAR", "IDENTITY(", "[DBO]"]),
        (4, &["VARCHAR2"]),
        (1, &["CHARACTER VARYING", "TIMESTAMPTZ", "JSONB"]),
    ];
    let is_likely = |(_, signs): &&(usize, &[&str])| signs.iter().any(|sign| upper.contains(sign));
    let likely = signs.iter().find(is_likely).map_or(0, |(idx, _)| *idx);
    if let Some(started) = dialects.get_mut(..=likely) {
        started.rotate_right(1);
    }
    dialects
}

/// Parses one statement; the error is a short reason.
pub(super) fn parse_with(dialect: &dyn Dialect, text: &str) -> Result<ast::Statement, String> {
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let mut parser = Parser::new(dialect)
            .with_recursion_limit(MAX_RECURSION)
            .try_with_sql(text)
            .map_err(|error| error.to_string())?;
        let statement = parser.parse_statement().map_err(|error| error.to_string())?;
        let next = parser.peek_token().token;
        if matches!(next, Token::EOF | Token::SemiColon) {
            Ok(statement)
        } else {
            Err(format!("unexpected `{}`", excerpt(&next.to_string())))
        }
    }));
    let result = parsed.unwrap_or_else(|_| Err("the SQL parser failed".to_owned()));
    result.map_err(|reason| short_reason(&reason))
}

/// The parser's message without its kind and position, which is relative to the statement.
fn short_reason(reason: &str) -> String {
    let reason = reason.strip_prefix("sql parser error: ").unwrap_or(reason);
    let reason = reason.split(" at Line: ").next().unwrap_or(reason);
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    excerpt(&first.into_iter().chain(letters).collect::<String>())
}
