//! Markdown as HTML, block by block with the lines each came from: no raw HTML, nothing from elsewhere, only plain links.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};

use crate::words::visible;

/// A rendered block and its lines in the source, the first is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) lines: Range<usize>,
    pub(crate) html: String,
}

/// Blocks deeper than this are shown as text: rendering nests as they do.
const MAX_DEPTH: usize = 64;

/// Renders a text; every line of it belongs to exactly one block.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let starts = line_starts(text);
    let line_at = |offset: usize| starts.partition_point(|start| *start <= offset);
    let mut blocks: Vec<Block> = Vec::new();
    let mut events: Vec<Event<'_>> = Vec::new();
    let (mut depth, mut images, mut links) = (0_usize, 0_usize, Vec::new());
    let mut first_line = 1;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let is_start = matches!(event, Event::Start(_));
        let is_end = matches!(event, Event::End(_));
        if is_start {
            if depth == 0 {
                first_line = line_at(range.start);
            }
            depth += 1;
        }
        if depth <= MAX_DEPTH {
            events.extend(safe(event, &mut images, &mut links));
        } else if let Event::Text(text) | Event::Code(text) = event {
            events.push(Event::Text(text));
        }
        if is_end {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            let mut rendered = String::new();
            html::push_html(&mut rendered, events.drain(..));
            let first = if is_end { first_line } else { line_at(range.start) };
            blocks.push(Block { lines: first..first + 1, html: rendered });
        }
    }
    spread(blocks, starts.len())
}

/// Gives every line to a block: lines between two blocks belong to the one before.
fn spread(mut blocks: Vec<Block>, n_lines: usize) -> Vec<Block> {
    let mut next = n_lines + 1;
    for block in blocks.iter_mut().rev() {
        block.lines = block.lines.start.min(next)..next;
        next = block.lines.start;
    }
    match blocks.first_mut() {
        Some(first) => first.lines.start = 1,
        None if n_lines > 0 => blocks.push(Block { lines: 1..n_lines + 1, html: String::new() }),
        None => {}
    }
    blocks
}

fn line_starts(text: &str) -> Vec<usize> {
    let inner = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(inner).filter(|start| *start < text.len()).collect()
}

/// The event, or what stands for it.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is rendered as it is")]
fn safe<'e>(event: Event<'e>, images: &mut usize, links: &mut Vec<bool>) -> Option<Event<'e>> {
    Some(match event {
        // Raw HTML is shown as it is written.
        Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => Event::Text(shown(text)),
        Event::Code(text) => Event::Code(shown(text)),
        // The page has its own headings above these.
        Event::Start(Tag::Heading { level, id, .. }) => {
            Event::Start(Tag::Heading { level: lowered(level), id, classes: Vec::new(), attrs: Vec::new() })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lowered(level))),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        // An image would be loaded; its description and address are shown.
        Event::Start(Tag::Image { dest_url, .. }) => {
            *images += 1;
            Event::Text(CowStr::from(format!("[image {dest_url}] ")))
        }
        Event::End(TagEnd::Image) => {
            *images = images.saturating_sub(1);
            return None;
        }
        Event::Start(Tag::Link { dest_url, title, id, .. }) => {
            let is_plain = is_plain_link(&dest_url) && *images == 0;
            links.push(is_plain);
            if !is_plain {
                return None;
            }
            Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title, id })
        }
        Event::End(TagEnd::Link) => {
            if !links.pop().unwrap_or_default() {
                return None;
            }
            Event::End(TagEnd::Link)
        }
        other => other,
    })
}

/// Text without characters that change how others are shown.
fn shown(text: CowStr<'_>) -> CowStr<'_> {
    match visible(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown.into(),
    }
}

fn lowered(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

/// A link that a click may follow: to a web page or to a place on this page.
fn is_plain_link(address: &str) -> bool {
    let lower = address.trim().to_ascii_lowercase();
    ["https://", "http://", "mailto:", "#"].iter().any(|start| lower.starts_with(start))
        && !address.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(text: &str) -> String {
        blocks(text).into_iter().map(|block| block.html).collect()
    }

    #[test]
    fn markdown_is_rendered_with_its_lines() {
        let blocks = blocks("# Plan\n\nOne\ntwo.\n\n- a\n- b\n");
        let lines: Vec<_> = blocks.iter().map(|block| block.lines.clone()).collect();
        assert_eq!(lines, [1..3, 3..6, 6..8]);
        assert_eq!(blocks[0].html, "<h3>Plan</h3>\n");
        assert!(blocks[2].html.starts_with("<ul>"));
    }

    #[test]
    fn every_line_belongs_to_one_block() {
        for text in
            ["", "\n\n", "a", "a\n\n\n", "\n\n# x\n", "```\n\n\n```\ntext", "| a |\n|---|\n| b |\n\n---\n"]
        {
            let mut next = 1;
            for block in blocks(text) {
                assert_eq!(block.lines.start, next, "{text:?}");
                next = block.lines.end;
            }
            assert_eq!(next, text.lines().count() + 1, "{text:?}");
        }
    }

    #[test]
    fn nothing_that_a_text_says_becomes_markup() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<a href='javascript:alert(1)'>x</a>",
            "![x](http://evil.example/p.png)",
            "![<script>](x)",
            "```\n</code><script>alert(1)</script>\n```",
            "`<b onclick=x>`",
            "<!-- --><iframe src=x></iframe>",
            "| <img src=x> |\n|---|\n| <svg onload=x> |",
        ] {
            let html = html_of(text);
            for tag in ["<script", "<img", "<iframe", "<svg", "<b ", "<a "] {
                assert!(!html.contains(tag), "{text:?} gives {html}");
            }
        }
    }

    #[test]
    fn only_plain_links_can_be_followed() {
        assert!(html_of("[x](https://example.com/a)").contains("<a href=\"https://example.com/a\">x</a>"));
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "/s/other",
            "file:///etc",
        ] {
            let html = html_of(&format!("[x]({address}) <{address}>"));
            assert!(!html.contains("<a"), "{address}: {html}");
            assert!(html.contains('x'));
        }
    }

    #[test]
    fn deep_nesting_ends() {
        let text = format!("{}x", "> ".repeat(5_000));
        assert!(html_of(&text).contains('x'));
        let text = format!("{}x", "- ".repeat(5_000));
        assert!(html_of(&text).len() < 1_000_000);
    }
}
