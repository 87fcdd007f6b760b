//! Lays sections out in a format: the position and the owner of every byte.
//!
//! In: sections, some of them cut. Out: messages made of stretches, one for each section or part, whose concatenation
//! is the prompt. Frames and separators belong to the section next to them, so every byte has an owner. Bodies are
//! borrowed: laying out a prompt copies no file.

use std::borrow::Cow;

use crate::capability::Format;
use crate::fence::{fence_for, one_line};
use crate::language::language_of;
use crate::section::{Part, PartBody, Role, Section, SectionKind};
use crate::xml;

/// The section, and the part of it, that owns a stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner {
    pub(crate) section: usize,
    pub(crate) part: Option<usize>,
}

/// The text of one owner: a prefix, its own pieces, a suffix.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) owner: Owner,
    pub(crate) before: String,
    pub(crate) own: Vec<Cow<'a, str>>,
    pub(crate) after: String,
    /// Printed after the stretch, but part of no message: separates the system text from the user's.
    pub(crate) printed_after: &'static str,
}

impl Stretch<'_> {
    /// The pieces in order, which together form the stretch's part of its message.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.before.as_str())
            .chain(self.own.iter().map(AsRef::as_ref))
            .chain(std::iter::once(self.after.as_str()))
            .filter(|piece| !piece.is_empty())
    }

    /// The pieces in order, which together form the stretch's part of the printed text.
    pub(crate) fn printed(&self) -> impl Iterator<Item = &str> {
        self.pieces().chain(std::iter::once(self.printed_after).filter(|piece| !piece.is_empty()))
    }
}

/// The text between the system text and the user's if both are printed.
const APART: &str = "\n\n---\n\n";

#[derive(Debug)]
pub(crate) struct MessageLayout<'a> {
    pub(crate) role: Role,
    pub(crate) stretches: Vec<Stretch<'a>>,
}

/// How the sections of a recipe are joined, and whether system text is separate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) format: Format,
    pub(crate) separator: &'static str,
    pub(crate) has_system_role: bool,
}

/// Lays out the sections that are kept.
pub(crate) fn lay_out(sections: &[Section], style: Style) -> Vec<MessageLayout<'_>> {
    // An empty section leaves no separator and no empty message.
    let kept = || sections.iter().enumerate().filter(|(_, section)| section.is_kept() && !section.is_blank());
    match style.format {
        Format::Text => {
            let mut messages = Vec::new();
            for role in [Role::System, Role::User] {
                let groups: Vec<Group<'_>> = kept()
                    .filter(|(_, section)| style.role(section) == role)
                    .map(|(index, section)| text_group(index, section))
                    .collect();
                if !groups.is_empty() {
                    messages.push(MessageLayout { role, stretches: join(groups, style.separator) });
                }
            }
            if let [first, _user] = messages.as_mut_slice()
                && let Some(last) = first.stretches.last_mut()
            {
                last.printed_after = APART;
            }
            messages
        }
        Format::Messages => {
            let mut messages: Vec<MessageLayout<'_>> = kept()
                .map(|(index, section)| MessageLayout {
                    role: style.role(section),
                    stretches: join(vec![text_group(index, section)], style.separator),
                })
                .collect();
            // Every API takes the system text first; within each role the layers keep their order.
            messages.sort_by_key(|message| message.role == Role::User);
            messages
        }
        Format::Xml => {
            let mut stretches = join(xml_groups(sections, style.separator), "\n");
            match stretches.first_mut() {
                Some(first) => first.before.insert_str(0, "<prompt>\n"),
                None => stretches.push(no_section(sections.len())),
            }
            if let Some(last) = stretches.last_mut() {
                last.after.push_str("\n</prompt>");
            }
            // The whole document is user text, even if the receiver accepts system text.
            vec![MessageLayout { role: Role::User, stretches }]
        }
    }
}

/// The opening of a document without sections.
fn no_section(n_sections: usize) -> Stretch<'static> {
    Stretch {
        owner: Owner { section: n_sections, part: None },
        before: "<prompt>".to_owned(),
        own: Vec::new(),
        after: String::new(),
        printed_after: "",
    }
}

impl Style {
    fn role(self, section: &Section) -> Role {
        if self.has_system_role { section.role } else { Role::User }
    }
}

/// Stretches that share an opening and a closing: a section with its files, an element with its items.
struct Group<'a> {
    open: String,
    items: Vec<(Owner, Vec<Cow<'a, str>>)>,
    joint: &'static str,
    close: &'static str,
}

/// Turns groups into stretches: every frame goes to the adjacent item.
fn join<'a>(groups: Vec<Group<'a>>, separator: &str) -> Vec<Stretch<'a>> {
    let mut stretches: Vec<Stretch<'a>> =
        Vec::with_capacity(groups.iter().map(|group| group.items.len()).sum());
    for group in groups {
        if group.items.is_empty() {
            continue;
        }
        if let Some(previous) = stretches.last_mut() {
            previous.after.push_str(separator);
        }
        let n_items = group.items.len();
        for (position, (owner, own)) in group.items.into_iter().enumerate() {
            let before = if position == 0 { group.open.clone() } else { String::new() };
            let after = if position + 1 == n_items { group.close } else { group.joint };
            stretches.push(Stretch { owner, before, own, after: after.to_owned(), printed_after: "" });
        }
    }
    stretches
}

fn text_group(index: usize, section: &Section) -> Group<'_> {
    if section.parts.is_empty() {
        let own = vec![with_heading(section), section.body.as_str().into()];
        return Group {
            open: String::new(),
            items: vec![(Owner { section: index, part: None }, own)],
            joint: "",
            close: "",
        };
    }
    let open = section.heading.as_ref().map_or_else(String::new, |heading| format!("{heading}\n\n"));
    Group { open, items: kept_parts(index, section, text_part), joint: "\n\n", close: "" }
}

fn with_heading(section: &Section) -> Cow<'_, str> {
    match &section.heading {
        None => "".into(),
        Some(heading) if section.body.is_empty() => heading.as_str().into(),
        Some(heading) => format!("{heading}\n\n").into(),
    }
}

fn kept_parts<'a>(
    index: usize,
    section: &'a Section,
    write: impl Fn(&'a Part) -> Vec<Cow<'a, str>>,
) -> Vec<(Owner, Vec<Cow<'a, str>>)> {
    section
        .parts
        .iter()
        .enumerate()
        .filter(|(_, part)| part.cut.is_none())
        .map(|(part_index, part)| (Owner { section: index, part: Some(part_index) }, write(part)))
        .collect()
}

fn text_part(part: &Part) -> Vec<Cow<'_, str>> {
    let label = match part.kind {
        SectionKind::File | SectionKind::Instructions => "",
        SectionKind::Artifact => "Artifact: ",
        SectionKind::Thought => "Thought: ",
    };
    let name = one_line(&part.name);
    match &part.body {
        PartBody::Inline(content) => {
            let fence = fence_for(content);
            let tag = if part.kind == SectionKind::File { language_of(&part.name) } else { "" };
            let newline = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            vec![
                format!("### {label}{name}\n\n{fence}{tag}\n").into(),
                content.as_str().into(),
                format!("{newline}{fence}").into(),
            ]
        }
        PartBody::Reference(path) => vec![format!("### {label}{name}\n\n@{}", one_line(path)).into()],
        PartBody::Note(note) => vec![format!("### {label}{name}\n\n{note}").into()],
    }
}

fn xml_groups<'a>(sections: &'a [Section], separator: &'static str) -> Vec<Group<'a>> {
    let mut system = Vec::new();
    let mut items = Vec::new();
    let mut instructions = Vec::new();
    for (index, section) in sections.iter().enumerate().filter(|(_, section)| section.is_kept()) {
        let owner = Owner { section: index, part: None };
        if !section.parts.is_empty() {
            items.extend(kept_parts(index, section, xml_part));
        } else if section.role == Role::System {
            system.push((owner, section));
        } else if section.kind == SectionKind::Instructions {
            instructions.push((owner, section));
        } else {
            items.push((owner, xml_item(section.kind, &section.title, &section.body)));
        }
    }
    for sections in [&mut system, &mut instructions] {
        // An element with a single blank section is still written; next to others, a blank section is omitted.
        if sections.iter().any(|(_, section)| !section.is_blank()) {
            sections.retain(|(_, section)| !section.is_blank());
        } else {
            sections.truncate(1);
        }
    }
    let group = |open: &str, items, joint, close| Group { open: open.to_owned(), items, joint, close };
    vec![
        group("<system_prompt>", xml_prose(&system), separator, "</system_prompt>"),
        group("<context>\n", items, "\n", "\n</context>"),
        group("<instructions>", xml_prose(&instructions), separator, "</instructions>"),
    ]
}

/// Sections that share an element: headings distinguish them; a single one needs none.
fn xml_prose<'a>(sections: &[(Owner, &'a Section)]) -> Vec<(Owner, Vec<Cow<'a, str>>)> {
    let is_alone = sections.len() == 1;
    let prose = |section: &'a Section| {
        let mut pieces = Vec::new();
        if !is_alone {
            pieces.extend(into_owned(xml::content(&with_heading(section))));
        }
        pieces.extend(xml::content(&section.body));
        pieces
    };
    sections.iter().map(|(owner, section)| (*owner, prose(section))).collect()
}

fn xml_part(part: &Part) -> Vec<Cow<'_, str>> {
    match &part.body {
        PartBody::Inline(text) => xml_item(part.kind, &part.name, text),
        PartBody::Reference(path) => into_owned(xml_item(part.kind, &part.name, &format!("@{path}"))),
        PartBody::Note(note) => xml_item(part.kind, &part.name, note),
    }
}

fn into_owned(pieces: Vec<Cow<'_, str>>) -> Vec<Cow<'static, str>> {
    pieces.into_iter().map(|piece| piece.into_owned().into()).collect()
}

fn xml_item<'a>(kind: SectionKind, name: &str, content: &'a str) -> Vec<Cow<'a, str>> {
    let (open, close) = match kind {
        SectionKind::File => (format!("<file path=\"{}\">", xml::attribute(name)), "</file>"),
        SectionKind::Thought => (format!("<thought name=\"{}\">", xml::attribute(name)), "</thought>"),
        SectionKind::Artifact | SectionKind::Instructions => {
            (format!("<artifact name=\"{}\">", xml::attribute(name)), "</artifact>")
        }
    };
    let mut pieces = vec![Cow::from(open)];
    pieces.extend(xml::content(content));
    pieces.push(close.into());
    pieces
}
