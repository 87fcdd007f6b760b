//! Cuts TypeScript and JavaScript into tokens, well enough to highlight it and to find declarations.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Blanks and line ends.
    Blank,
    /// `// …` or `/* … */`
    Comment,
    /// A text in quotes or backticks.
    Text,
    Number,
    /// A word of the language.
    Keyword,
    /// A name that starts with a capital letter: a type or a component.
    Type,
    /// Any other name.
    Name,
    Sign,
}

const KEYWORDS: [&str; 48] = [
    "as",
    "async",
    "await",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "from",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "number",
    "of",
    "readonly",
    "return",
    "satisfies",
    "static",
    "string",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "var",
    "while",
];

/// The tokens of a source, in order; together they are the source, byte for byte.
pub fn highlight(source: &str) -> Vec<(TokenKind, &str)> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = token(rest, first);
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.push((kind, text));
        rest = after;
    }
    tokens
}

fn token(rest: &str, first: char) -> (TokenKind, usize) {
    let until = |is_end: fn(char) -> bool| rest.find(is_end).unwrap_or(rest.len());
    if first.is_whitespace() {
        (TokenKind::Blank, until(|c| !c.is_whitespace()))
    } else if rest.starts_with("//") {
        (TokenKind::Comment, until(|c| c == '\n'))
    } else if let Some(comment) = rest.strip_prefix("/*") {
        (TokenKind::Comment, comment.find("*/").map_or(rest.len(), |end| end + 4))
    } else if matches!(first, '"' | '\'' | '`') {
        (TokenKind::Text, quoted(rest, first))
    } else if first.is_ascii_digit() {
        (TokenKind::Number, until(|c| !c.is_ascii_alphanumeric() && c != '.' && c != '_'))
    } else if is_name(first) {
        let length = until(|c| !is_name(c));
        let word = rest.get(..length).unwrap_or_default();
        let kind = if KEYWORDS.contains(&word) {
            TokenKind::Keyword
        } else if first.is_uppercase() {
            TokenKind::Type
        } else {
            TokenKind::Name
        };
        (kind, length)
    } else if rest.starts_with("...") {
        (TokenKind::Sign, 3)
    } else if ["=>", "?.", "??", "==", "!=", "&&", "||", "</", "/>"].iter().any(|sign| rest.starts_with(sign))
    {
        (TokenKind::Sign, 2)
    } else {
        (TokenKind::Sign, first.len_utf8())
    }
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// The length of a text in quotes; only one in backticks goes over the end of a line.
fn quoted(rest: &str, quote: char) -> usize {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '\n' if quote != '`' => return 1,
            _ if character == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    // An apostrophe in the text of an element opens nothing.
    if quote == '`' { rest.len() } else { 1 }
}
