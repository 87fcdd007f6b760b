//! Reads the props of a component from its types, its `propTypes` or its parameters.
//!
//! Reviewers who decide on a component by its interface, and tools that read `props` of `preview --json`, need it: where
//! aiwf runs there is often no TypeScript compiler.

use super::Prop;
use super::lexer::{TokenKind, highlight};

/// A token that means something, with the comment right before it and whether it starts a line.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: TokenKind,
    text: &'a str,
    start: usize,
    comment: Option<&'a str>,
    is_on_new_line: bool,
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut comment = None;
    let mut is_on_new_line = true;
    for (kind, text) in highlight(source) {
        match kind {
            TokenKind::Blank => is_on_new_line |= text.contains('\n'),
            TokenKind::Comment => {
                comment = Some(text);
                is_on_new_line |= text.contains('\n');
            }
            TokenKind::Text
            | TokenKind::Number
            | TokenKind::Keyword
            | TokenKind::Type
            | TokenKind::Name
            | TokenKind::Sign => {
                tokens.push(Token { kind, text, start, comment: comment.take(), is_on_new_line });
                is_on_new_line = false;
            }
        }
        start += text.len();
    }
    tokens
}

impl Token<'_> {
    fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != TokenKind::Text
    }

    fn is_name(&self) -> bool {
        matches!(self.kind, TokenKind::Name | TokenKind::Type | TokenKind::Keyword)
    }
}

/// Tells whether a source declares something with that name.
pub(super) fn declares(source: &str, name: &str) -> bool {
    declaration(&tokens(source), name).is_some()
}

/// The first component that a source exports: a name with a capital letter.
pub(super) fn exported_component(source: &str) -> Option<String> {
    let tokens = tokens(source);
    tokens.windows(2).find_map(|window| match window {
        [keyword, name]
            if (keyword.is("function") || keyword.is("const") || keyword.is("class"))
                && name.kind == TokenKind::Type =>
        {
            Some(name.text.to_owned())
        }
        _ => None,
    })
}

/// Where `function Name`, `const Name` or `class Name` stands.
fn declaration(tokens: &[Token<'_>], name: &str) -> Option<usize> {
    tokens.windows(2).position(|window| match window {
        [keyword, declared] => {
            ["function", "const", "let", "var", "class"].iter().any(|word| keyword.is(word))
                && declared.is(name)
        }
        _ => false,
    })
}

/// The props of a component, and the types whose props it takes as well.
pub(super) fn read_props(source: &str, component: &str) -> (Vec<Prop>, Vec<String>) {
    let tokens = tokens(source);
    let defaults = defaults(source, &tokens, component);
    let (mut props, also_takes) = typed_props(source, &tokens, component)
        .or_else(|| Some((prop_types(source, &tokens, component)?, Vec::new())))
        .unwrap_or_else(|| {
            let named = defaults.iter().map(|(name, default)| Prop {
                name: name.clone(),
                is_required: default.is_none(),
                ..Prop::default()
            });
            (named.collect(), Vec::new())
        });
    for prop in &mut props {
        if let Some((_, Some(default))) = defaults.iter().find(|(name, _)| *name == prop.name) {
            prop.default = Some(default.clone());
            prop.is_required = false;
        }
    }
    (props, also_takes)
}

/// Reads `interface NameProps`, `type NameProps =`, or the only type that is called `…Props`.
fn typed_props(source: &str, tokens: &[Token<'_>], component: &str) -> Option<(Vec<Prop>, Vec<String>)> {
    let own = format!("{component}Props");
    let at = |is_wanted: &dyn Fn(&str) -> bool| {
        tokens.windows(2).position(|window| match window {
            [keyword, name] => (keyword.is("interface") || keyword.is("type")) && is_wanted(name.text),
            _ => false,
        })
    };
    let at = at(&|name| name == own).or_else(|| at(&|name| name.ends_with("Props")));
    let Some(at) = at else { return inline_props(source, tokens, component) };
    let is_interface = tokens.get(at).is_some_and(|token| token.is("interface"));
    let mut also_takes = Vec::new();
    let mut props = Vec::new();
    let mut idx = at + 2;
    let mut part_start = None;
    // Walks over `extends A, B<C> {` or over `= A & { … } & B;`.
    while let Some(token) = tokens.get(idx) {
        if token.is("{") {
            let inside = block(tokens, idx);
            if part_start.is_none() || is_interface {
                props.extend(members(source, inside));
            }
            idx += inside.len() + 2;
            if is_interface {
                push_type(source, tokens, part_start.take(), idx - inside.len() - 2, &mut also_takes);
                break;
            }
            continue;
        }
        let is_end = token.is(";") || (token.is_on_new_line && starts_statement(token));
        if token.is("&") || token.is(",") || token.is("extends") || token.is("=") || is_end {
            push_type(source, tokens, part_start.take(), idx, &mut also_takes);
            if is_end {
                break;
            }
        } else if part_start.is_none() {
            part_start = Some(idx);
            idx = after_generics(tokens, idx + 1);
            continue;
        }
        idx += 1;
    }
    push_type(source, tokens, part_start, idx, &mut also_takes);
    Some((props, also_takes))
}

fn starts_statement(token: &Token<'_>) -> bool {
    ["export", "const", "function", "import", "type", "interface", "class"].iter().any(|word| token.is(word))
}

fn push_type(source: &str, tokens: &[Token<'_>], start: Option<usize>, end: usize, types: &mut Vec<String>) {
    if let Some(text) = start.and_then(|start| text_of(source, tokens.get(start..end)?)) {
        types.push(text);
    }
}

/// The place after `<…>` when one starts at `idx`.
fn after_generics(tokens: &[Token<'_>], idx: usize) -> usize {
    if !tokens.get(idx).is_some_and(|token| token.is("<")) {
        return idx;
    }
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(idx) {
        if token.is("<") {
            depth += 1;
        } else if token.is(">") {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

/// Reads the type that stands with the parameters: `({ a }: { a: string })`.
fn inline_props(source: &str, tokens: &[Token<'_>], component: &str) -> Option<(Vec<Prop>, Vec<String>)> {
    let open = parameters(tokens, component)?;
    let after = open + block(tokens, open).len() + 2;
    let is_typed = tokens.get(after)?.is(":") && tokens.get(after + 1)?.is("{");
    is_typed.then(|| (members(source, block(tokens, after + 1)), Vec::new()))
}

/// Where the `{` of the destructured parameters stands.
fn parameters(tokens: &[Token<'_>], component: &str) -> Option<usize> {
    let start = declaration(tokens, component)?;
    let pair = tokens.get(start..)?.windows(2).position(|window| match window {
        [open, brace] => open.is("(") && brace.is("{"),
        _ => false,
    })?;
    Some(start + pair + 1)
}

/// The tokens inside the bracket at `open`.
fn block<'t, 'a>(tokens: &'t [Token<'a>], open: usize) -> &'t [Token<'a>] {
    let inside = tokens.get(open + 1..).unwrap_or_default();
    let mut depth = 1_usize;
    let end = inside.iter().position(|token| {
        if ["{", "(", "["].iter().any(|sign| token.is(sign)) {
            depth += 1;
        } else if ["}", ")", "]"].iter().any(|sign| token.is(sign)) {
            depth -= 1;
        }
        depth == 0
    });
    inside.get(..end.unwrap_or(inside.len())).unwrap_or_default()
}

/// The members of a type's body.
fn members(source: &str, inside: &[Token<'_>]) -> Vec<Prop> {
    let mut props = Vec::new();
    let mut rest = inside;
    while let Some(first) = rest.first() {
        let is_modifier = first.is("readonly")
            && rest.get(1).is_some_and(|next| next.is_name() || next.kind == TokenKind::Text);
        let skipped = usize::from(is_modifier);
        let end = member_end(rest);
        let member = rest.get(skipped..end).unwrap_or_default();
        if let Some(mut prop) = member_prop(source, member) {
            prop.help = first.comment.and_then(comment_text);
            props.push(prop);
        }
        rest = rest.get(end.max(1)..).unwrap_or_default();
    }
    props
}

/// Where a member ends: after `;` or `,`, or before a line that starts another one.
fn member_end(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    let mut last: Option<&Token<'_>> = None;
    for (idx, token) in tokens.iter().enumerate() {
        let is_continued =
            |token: &Token<'_>| ["|", "&", "=>", ":", "?", ".", "<", "="].iter().any(|sign| token.is(sign));
        if depth == 0
            && idx > 0
            && token.is_on_new_line
            && !is_continued(token)
            && !last.is_some_and(is_continued)
        {
            return idx;
        }
        if ["{", "(", "[", "<"].iter().any(|sign| token.is(sign)) {
            depth += 1;
        } else if ["}", ")", "]", ">"].iter().any(|sign| token.is(sign)) {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && (token.is(";") || token.is(",")) {
            return idx + 1;
        }
        last = Some(token);
    }
    tokens.len()
}

fn member_prop(source: &str, member: &[Token<'_>]) -> Option<Prop> {
    let (name, rest) = member.split_first()?;
    if !name.is_name() && name.kind != TokenKind::Text {
        return None;
    }
    let is_optional = rest.first().is_some_and(|token| token.is("?"));
    let rest = rest.get(usize::from(is_optional)..)?;
    let rest = match rest.split_last() {
        Some((last, before)) if last.is(";") || last.is(",") => before,
        _ => rest,
    };
    let type_text = match rest.split_first() {
        Some((colon, declared)) if colon.is(":") => text_of(source, declared)?,
        // A method: its parameters are its type.
        Some((open, _)) if open.is("(") || open.is("<") => text_of(source, rest)?,
        _ => return None,
    };
    let name = name.text.trim_matches(['"', '\'']).to_owned();
    Some(Prop { name, type_text, is_required: !is_optional, ..Prop::default() })
}

/// Reads `Name.propTypes = { … }`.
fn prop_types(source: &str, tokens: &[Token<'_>], component: &str) -> Option<Vec<Prop>> {
    let open = assigned_object(tokens, component, "propTypes")?;
    let props = entries(tokens, open).into_iter().filter_map(|entry| {
        let (name, rest) = entry.split_first()?;
        let value = rest.split_first().filter(|(colon, _)| colon.is(":"))?.1;
        let text = text_of(source, value)?;
        let type_text = text.strip_suffix(".isRequired").unwrap_or(&text);
        let type_text = type_text.strip_prefix("PropTypes.").unwrap_or(type_text).to_owned();
        let is_required = text.ends_with(".isRequired");
        let help = name.comment.and_then(comment_text);
        Some(Prop { name: name.text.to_owned(), type_text, is_required, default: None, help })
    });
    Some(props.collect())
}

/// Where the object of `Name.key = {` starts.
fn assigned_object(tokens: &[Token<'_>], component: &str, key: &str) -> Option<usize> {
    let at = tokens.windows(5).position(|window| match window {
        [name, dot, assigned, sign, open] => {
            name.is(component) && dot.is(".") && assigned.is(key) && sign.is("=") && open.is("{")
        }
        _ => false,
    })?;
    Some(at + 4)
}

/// The parts of the bracket at `open` that commas separate.
fn entries<'t, 'a>(tokens: &'t [Token<'a>], open: usize) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0_usize;
    block(tokens, open)
        .split(|token| {
            if ["{", "(", "["].iter().any(|sign| token.is(sign)) {
                depth += 1;
            } else if ["}", ")", "]"].iter().any(|sign| token.is(sign)) {
                depth = depth.saturating_sub(1);
            }
            depth == 0 && token.is(",")
        })
        .filter(|entry| !entry.is_empty())
        .collect()
}

/// The destructured parameters and their defaults, and what `defaultProps` says.
fn defaults(source: &str, tokens: &[Token<'_>], component: &str) -> Vec<(String, Option<String>)> {
    let mut defaults = Vec::new();
    for entry in parameters(tokens, component).map(|open| entries(tokens, open)).unwrap_or_default() {
        let Some(name) = entry.first().filter(|name| name.is_name() || name.kind == TokenKind::Text) else {
            continue;
        };
        let equals = entry.iter().position(|token| token.is("="));
        let value = equals.and_then(|at| text_of(source, entry.get(at + 1..)?));
        defaults.push((name.text.trim_matches(['"', '\'']).to_owned(), value));
    }
    if let Some(open) = assigned_object(tokens, component, "defaultProps") {
        for entry in entries(tokens, open) {
            if let [name, colon, value @ ..] = entry
                && colon.is(":")
            {
                let text = text_of(source, value);
                match defaults.iter_mut().find(|(known, _)| known == name.text) {
                    Some((_, default)) => *default = text,
                    None => defaults.push((name.text.to_owned(), text)),
                }
            }
        }
    }
    defaults
}

/// The source from the first to the last of some tokens, on one line.
fn text_of(source: &str, tokens: &[Token<'_>]) -> Option<String> {
    let first = tokens.first()?;
    let last = tokens.last()?;
    let text = source.get(first.start..last.start + last.text.len())?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A union may start with its sign when each of its parts has a line.
    Some(text.strip_prefix("| ").map_or_else(|| text.clone(), str::to_owned))
}

/// The first sentence-like line of a comment.
fn comment_text(comment: &str) -> Option<String> {
    let inside = comment.trim_start_matches(['/', '*']).trim_end_matches(['/', '*']);
    let lines = inside.lines().map(|line| line.trim().trim_start_matches('*').trim());
    let text = lines.take_while(|line| !line.starts_with('@')).collect::<Vec<_>>().join(" ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
#[path = "props_tests.rs"]
mod tests;
