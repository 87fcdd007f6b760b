//! Writes a component as a standalone page.

use std::fmt::Write as _;

use super::ComponentPreview;
use super::lexer::{TokenKind, highlight};

const STYLE: &str = include_str!("page.css");

/// The page: no scripts, nothing loaded, and all text from the files is escaped.
pub(super) fn page(preview: &ComponentPreview) -> String {
    let title = escaped(&preview.component);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    props(preview, &mut html);
    let _ = write!(html, "<h2>{}</h2>\n{}", escaped(&preview.file), source(&preview.source));
    for (path, content) in &preview.other_files {
        let path = escaped(path);
        let _ = write!(html, "<details>\n<summary>{path}</summary>\n{}</details>\n", source(content));
    }
    html.push_str("</body>\n</html>\n");
    html
}

fn props(preview: &ComponentPreview, html: &mut String) {
    if preview.props.is_empty() {
        html.push_str("<p>No props of its own.</p>\n");
    } else {
        html.push_str(
            "<table>\n<thead><tr><th scope=\"col\">Prop</th><th scope=\"col\">Type</th>\
             <th scope=\"col\">Required</th><th scope=\"col\">Default</th><th scope=\"col\">Description</th></tr></thead>\n<tbody>\n",
        );
        for prop in &preview.props {
            let code = |text: &str| {
                if text.is_empty() { String::new() } else { format!("<code>{}</code>", escaped(text)) }
            };
            let _ = writeln!(
                html,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                code(&prop.name),
                code(&prop.type_text),
                if prop.is_required { "yes" } else { "no" },
                code(prop.default.as_deref().unwrap_or_default()),
                escaped(prop.help.as_deref().unwrap_or_default()),
            );
        }
        html.push_str("</tbody>\n</table>\n");
    }
    for other in &preview.also_takes {
        let _ = writeln!(html, "<p>Also takes the props of <code>{}</code>.</p>", escaped(other));
    }
}

fn source(text: &str) -> String {
    let mut html = String::from("<pre><code>");
    for (kind, token) in highlight(text) {
        let class = match kind {
            TokenKind::Comment => "comment",
            TokenKind::Text => "text",
            TokenKind::Number => "number",
            TokenKind::Keyword => "keyword",
            TokenKind::Type => "type",
            TokenKind::Blank | TokenKind::Name | TokenKind::Sign => {
                html.push_str(&escaped(token));
                continue;
            }
        };
        let _ = write!(html, "<span class=\"{class}\">{}</span>", escaped(token));
    }
    html.push_str("</code></pre>\n");
    html
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // HTML does not allow other control characters.
            '\n' | '\t' => escaped.push(character),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
