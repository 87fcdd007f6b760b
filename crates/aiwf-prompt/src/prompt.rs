//! A prompt: the fitted sections, ready to be rendered, measured and reported.
//!
//! The same object renders what is shown and what is sent, so a preview cannot differ from the request.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, Write};

use crate::budget::{self, Item};
use crate::capability::{Capability, Format};
use crate::digest::Sha256Hex;
use crate::error::PromptError;
use crate::layout::{MessageLayout, Owner, Stretch, Style, lay_out};
use crate::recipe::Recipe;
use crate::section::{
    Attached, LeftOutSource, Need, PartBody, Problem, Role, Section, Stability, Text, WhyLeftOut,
};
use crate::tokens::{CountTokens, Tokens, is_boundary};
use crate::xml;

/// How to turn a request into a prompt.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub format: Format,
    pub capability: Capability,
    pub budget: Option<Tokens>,
    /// Counts the tokens.
    pub counter: &'a dyn CountTokens,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Options")
            .field("format", &self.format)
            .field("capability", &self.capability)
            .field("budget", &self.budget)
            .field("counter", &self.counter.name())
            .finish()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub content: String,
}

/// A stretch of a message and the section it belongs to, including separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedText {
    pub section: String,
    pub source: String,
    pub role: Role,
    pub text: String,
    /// Whether the section is the same in every call of a task.
    pub is_stable: bool,
}

/// The metadata of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionReport {
    pub id: String,
    /// The component that made it.
    pub name: String,
    pub title: String,
    pub role: Role,
    pub order: i32,
    pub source: String,
    /// Its size without frames.
    pub bytes: usize,
    /// Its size in tokens, with frames, once the prompt is measured; zero if it was cut.
    pub tokens: Option<Tokens>,
    pub need: Need,
    /// Whether the stable prefix of the prompt extends at least this far.
    pub stability: Stability,
    /// SHA-256 of its content.
    pub sha256: Sha256Hex,
    /// Whether it is in the prompt.
    pub is_kept: bool,
    /// Why it is not.
    pub reason: Option<String>,
    /// The tokens it would need, if it was cut to fit a budget.
    pub cut_tokens: Option<Tokens>,
    /// Its files, if it has several.
    pub parts: Vec<PartReport>,
}

/// The metadata of one file of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartReport {
    pub id: String,
    pub source: String,
    /// Its size without frames.
    pub bytes: usize,
    /// Its size in tokens, once the prompt is measured.
    pub tokens: Option<Tokens>,
    /// Whether it is in the prompt.
    pub is_kept: bool,
    /// Why it is not.
    pub reason: Option<String>,
    /// The tokens it would need, if it was cut to fit a budget.
    pub cut_tokens: Option<Tokens>,
}

/// The metadata of a whole prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The mode or phase of the request.
    pub mode: String,
    /// The command-line tool of the receiver, in the mode that has one.
    pub cli_tool: Option<String>,
    pub token_estimate: Tokens,
    pub tokenizer: String,
    pub is_exact: bool,
    /// The number of components with at least one section.
    pub component_count: usize,
    /// SHA-256 of the printed text.
    pub sha256: Sha256Hex,
}

/// A prompt shown before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Whether the prompt could be built.
    pub is_success: bool,
    /// The printed text; empty on an error.
    pub prompt: String,
    /// The mode or phase of the request.
    pub mode: String,
    /// The command-line tool of the receiver, in the mode that has one.
    pub cli_tool: Option<String>,
    pub sections: Vec<SectionReport>,
    /// Its metadata, if there is a prompt.
    pub metadata: Option<Metadata>,
    pub error: Option<String>,
}

/// The fitted sections of a request.
#[derive(Clone, Debug)]
pub struct Prompt {
    recipe: Recipe,
    style: Style,
    mode: String,
    cli_tool: Option<String>,
    sections: Vec<Section>,
    problems: Vec<Problem>,
    measured: Option<Measured>,
    cut_tokens: BTreeMap<Owner, Tokens>,
}

#[derive(Clone, Debug)]
struct Measured {
    by_owner: BTreeMap<Owner, Tokens>,
    total: Tokens,
    tokenizer: String,
    is_exact: bool,
}

impl Prompt {
    pub(crate) fn new(
        recipe: Recipe,
        mode: String,
        cli_tool: Option<String>,
        sections: Vec<Section>,
        options: &Options<'_>,
    ) -> Result<Self, PromptError> {
        let style = Style {
            format: options.format,
            separator: recipe.separator(),
            has_system_role: options.capability.supports_system_prompt,
        };
        let problems = sections.iter().flat_map(|section| section.problems.iter().cloned()).collect();
        let mut prompt = Self {
            recipe,
            style,
            mode,
            cli_tool,
            sections,
            problems,
            measured: None,
            cut_tokens: BTreeMap::new(),
        };
        if options.format == Format::Xml {
            prompt.replace_what_xml_forbids();
        }
        if let Some(budget) = options.budget {
            prompt.fit(budget, options.counter)?;
        }
        Ok(prompt)
    }

    pub fn recipe(&self) -> Recipe {
        self.recipe
    }

    pub fn format(&self) -> Format {
        self.style.format
    }

    /// Warnings for the user.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Warnings about one section.
    pub fn problems_of(&self, section: &str) -> &[Problem] {
        let section = self.sections.iter().find(|known| known.id.as_str() == section);
        section.map_or(&[], |section| section.problems.as_slice())
    }

    /// The mode or phase of the request.
    pub fn mode(&self) -> &str {
        &self.mode
    }

    /// The command-line tool of the receiver, in the mode that has one.
    pub fn cli_tool(&self) -> Option<&str> {
        self.cli_tool.as_deref()
    }

    /// The printed text in the chosen format.
    pub fn full_prompt(&self) -> String {
        let mut text = Vec::new();
        match self.write_to(&mut text) {
            Ok(()) => String::from_utf8_lossy(&text).into_owned(),
            // Writing to memory cannot fail.
            Err(_) => String::new(),
        }
    }

    /// Writes the printed text without copying files.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let messages = self.layout();
        if self.style.format == Format::Messages {
            return write_messages(&messages, out);
        }
        write_pieces(messages.iter().flat_map(|message| &message.stretches).flat_map(Stretch::printed), out)
    }

    /// The stretches of the messages with their owners, in order.
    pub fn owned(&self) -> Vec<OwnedText> {
        self.blocks().into_iter().flatten().collect()
    }

    /// The messages, each as the texts of its sections.
    pub fn blocks(&self) -> Vec<Vec<OwnedText>> {
        let mut messages = Vec::new();
        for message in self.layout() {
            let mut owned: Vec<OwnedText> = Vec::new();
            for stretch in &message.stretches {
                let Some(section) = self.sections.get(stretch.owner.section) else { continue };
                let text: String = stretch.pieces().collect();
                match owned.last_mut() {
                    // The files of a section are adjacent and belong to it together.
                    Some(last) if last.section == section.id.as_str() && last.role == message.role => {
                        last.text.push_str(&text);
                    }
                    _ => owned.push(OwnedText {
                        section: section.id.to_string(),
                        source: section.source.to_string(),
                        role: message.role,
                        text,
                        is_stable: section.stability == Stability::Stable,
                    }),
                }
            }
            messages.push(owned);
        }
        messages
    }

    /// The printed text with the owner of every byte: joined, the texts are [`Self::full_prompt`].
    pub fn printed(&self) -> Vec<OwnedText> {
        let messages = self.layout();
        let is_json = self.style.format == Format::Messages;
        let mut printed: Vec<OwnedText> = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let last = message.stretches.len().saturating_sub(1);
            for (position, stretch) in message.stretches.iter().enumerate() {
                let section = self.sections.get(stretch.owner.section);
                // Without sections, the document's own element is all there is.
                let id = section.map_or("prompt", |section| section.id.as_str());
                let mut text = String::new();
                if is_json {
                    if position == 0 {
                        text.push_str(if index == 0 { "[\n" } else { ",\n" });
                        text.push_str(&message_head(message.role));
                        text.push('"');
                    }
                    stretch.pieces().for_each(|piece| push_escaped(&mut text, piece));
                    if position == last {
                        text.push_str(MESSAGE_END);
                        text.push_str(if index + 1 == messages.len() { "\n]" } else { "" });
                    }
                } else {
                    stretch.printed().for_each(|piece| text.push_str(piece));
                }
                match printed.last_mut() {
                    Some(before) if before.section == id && before.role == message.role => {
                        before.text.push_str(&text);
                    }
                    _ => printed.push(OwnedText {
                        section: id.to_owned(),
                        source: section.map(|section| section.source.to_string()).unwrap_or_default(),
                        role: message.role,
                        text,
                        is_stable: section.is_some_and(|section| section.stability == Stability::Stable),
                    }),
                }
            }
        }
        printed
    }

    /// The payload as messages, whatever the format.
    pub fn messages(&self) -> Vec<Message> {
        self.layout()
            .iter()
            .map(|message| Message { role: message.role, content: text_of(message) })
            .collect()
    }

    /// The system text, joined from all system messages; `None` if there is none.
    pub fn system_prompt(&self) -> Option<String> {
        self.text_by_role(Role::System)
    }

    /// The user's text, joined from all user messages.
    pub fn user_prompt(&self) -> String {
        self.text_by_role(Role::User).unwrap_or_default()
    }

    fn text_by_role(&self, role: Role) -> Option<String> {
        let texts: Vec<String> =
            self.layout().iter().filter(|message| message.role == role).map(text_of).collect();
        (!texts.is_empty()).then(|| texts.join(self.style.separator))
    }

    /// Counts every section, unless that is done already.
    pub fn measure(&mut self, counter: &dyn CountTokens) {
        if self.measured.as_ref().is_none_or(|measured| measured.tokenizer != counter.name()) {
            self.measured = Some(self.count(counter, &mut BTreeMap::new()));
        }
    }

    /// The metadata of each section, kept or cut.
    pub fn sections(&self) -> Vec<SectionReport> {
        self.sections.iter().enumerate().map(|(index, section)| self.report(index, section)).collect()
    }

    /// The metadata of the prompt; counts with `counter` unless that is done already.
    pub fn metadata(&mut self, counter: &dyn CountTokens) -> Metadata {
        self.measure(counter);
        let (token_estimate, is_exact) =
            self.measured.as_ref().map_or((Tokens(0), false), |measured| (measured.total, measured.is_exact));
        Metadata {
            mode: self.mode.clone(),
            cli_tool: self.cli_tool.clone(),
            token_estimate,
            tokenizer: counter.name().to_owned(),
            is_exact,
            component_count: self.component_count(),
            sha256: self.sha256(),
        }
    }

    /// SHA-256 of the printed text.
    pub fn sha256(&self) -> Sha256Hex {
        if self.style.format == Format::Messages {
            return Sha256Hex::of([self.full_prompt().as_str()]);
        }
        Sha256Hex::of(self.layout().iter().flat_map(|message| &message.stretches).flat_map(Stretch::printed))
    }

    fn component_count(&self) -> usize {
        let mut names: Vec<&str> = self
            .sections
            .iter()
            .filter(|section| section.is_kept() && !section.is_blank())
            .map(|section| section.component.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }

    fn layout(&self) -> Vec<MessageLayout<'_>> {
        lay_out(&self.sections, self.style)
    }

    fn report(&self, index: usize, section: &Section) -> SectionReport {
        let tokens_of = |part: Option<usize>| {
            let measured = self.measured.as_ref()?;
            let owner = Owner { section: index, part };
            Some(measured.by_owner.get(&owner).copied().unwrap_or_default())
        };
        let parts: Vec<PartReport> = section
            .parts
            .iter()
            .enumerate()
            .map(|(part_index, part)| PartReport {
                id: part.name.clone(),
                source: part.source.to_string(),
                bytes: part.body.bytes(),
                tokens: tokens_of(Some(part_index)),
                is_kept: part.cut.is_none(),
                reason: part.cut.clone(),
                cut_tokens: self.cut_tokens.get(&Owner { section: index, part: Some(part_index) }).copied(),
            })
            .collect();
        let tokens = if parts.is_empty() {
            tokens_of(None)
        } else {
            self.measured.as_ref().map(|_| parts.iter().filter_map(|part| part.tokens).sum())
        };
        SectionReport {
            id: section.id.to_string(),
            name: section.component.clone(),
            title: section.title.clone(),
            role: if self.style.has_system_role { section.role } else { Role::User },
            order: section.order,
            source: section.source.to_string(),
            bytes: section.bytes(),
            tokens,
            need: section.need,
            stability: section.stability,
            sha256: section_sha256(section),
            is_kept: section.is_kept(),
            reason: section.cut.clone(),
            cut_tokens: self.cut_tokens.get(&Owner { section: index, part: None }).copied(),
            parts,
        }
    }

    fn replace_what_xml_forbids(&mut self) {
        let problems = &mut self.problems;
        let mut report = |source: &crate::section::Source, n_replaced: usize| {
            let noun = if n_replaced == 1 { "character" } else { "characters" };
            problems.push(Problem {
                source: source.clone(),
                message: format!("{n_replaced} {noun} not allowed in XML replaced by U+FFFD"),
                left_out: Some(LeftOutSource { why: WhyLeftOut::Encoding, bytes: Some(n_replaced as u64) }),
            });
        };
        for section in &mut self.sections {
            if let Some((replaced, n)) = xml::replace_forbidden(&section.body) {
                section.body = Text::from(replaced);
                report(&section.source, n);
            }
            for field in [Some(&mut section.title), section.heading.as_mut()].into_iter().flatten() {
                if let Some((replaced, n)) = xml::replace_forbidden(field) {
                    *field = replaced;
                    report(&section.source, n);
                }
            }
            for part in &mut section.parts {
                if let Some((replaced, n)) = xml::replace_forbidden(&part.name) {
                    part.name = replaced;
                    report(&part.source, n);
                }
                let body = match &part.body {
                    PartBody::Inline(text) => text.as_str(),
                    PartBody::Reference(text) | PartBody::Note(text) => text.as_str(),
                };
                if let Some((replaced, n)) = xml::replace_forbidden(body) {
                    part.body = match &part.body {
                        PartBody::Inline(_) => PartBody::Inline(Text::from(replaced)),
                        PartBody::Reference(_) => PartBody::Reference(replaced),
                        PartBody::Note(_) => PartBody::Note(replaced),
                    };
                    report(&part.source, n);
                }
            }
        }
    }

    /// Cuts parts until the prompt has at most `budget` tokens.
    ///
    /// Tokens are counted in the text as laid out, and a cut changes the surroundings of its neighbours, so the rest is
    /// measured again until it fits. Every round cuts at least one part, so the number of rounds is bounded.
    fn fit(&mut self, budget: Tokens, counter: &dyn CountTokens) -> Result<(), PromptError> {
        // No text has more tokens than bytes, so a small text need not be counted.
        if self.bytes() <= budget.0 {
            return Ok(());
        }
        let mut known = BTreeMap::new();
        loop {
            let measured = self.count(counter, &mut known);
            if measured.total <= budget {
                self.measured = Some(measured);
                return Ok(());
            }
            let owners: Vec<(Owner, Tokens)> = measured.by_owner.iter().map(|(o, t)| (*o, *t)).collect();
            let items: Vec<Item> = owners
                .iter()
                .map(|(owner, tokens)| Item { need: self.need(*owner), tokens: *tokens })
                .collect();
            // Required sections that exceed the budget next to optional ones may just fit without their separators.
            let cuts = budget::fit(&items, budget).unwrap_or_else(|_too_large| budget::cut_all(&items));
            if cuts.is_empty() {
                return Err(self.too_large(&measured, budget));
            }
            for cut in cuts {
                let Some((owner, tokens)) = owners.get(cut.index) else { continue };
                let reason = format!("cut to fit {budget} tokens: optional, priority {}", cut.priority);
                self.cut_tokens.insert(*owner, *tokens);
                self.cut(*owner, reason);
            }
        }
    }

    /// The size of the printed text and of the attached files.
    fn bytes(&self) -> u64 {
        let printed: usize = self
            .layout()
            .iter()
            .flat_map(|message| &message.stretches)
            .flat_map(Stretch::printed)
            .map(str::len)
            .sum();
        let attached: usize = self.attached().iter().map(|file| file.text.len()).sum();
        (printed + attached) as u64
    }

    fn need(&self, owner: Owner) -> Need {
        let Some(section) = self.sections.get(owner.section) else { return Need::Required };
        owner.part.and_then(|part| section.parts.get(part)).map_or(section.need, |part| part.need)
    }

    fn cut(&mut self, owner: Owner, reason: String) {
        let Some(section) = self.sections.get_mut(owner.section) else { return };
        match owner.part.and_then(|part| section.parts.get_mut(part)) {
            Some(part) => part.cut = Some(reason),
            None => section.cut = Some(reason),
        }
        if !section.is_kept() && section.cut.is_none() {
            section.cut = Some("every part of it was cut".to_owned());
        }
    }

    fn too_large(&self, measured: &Measured, budget: Tokens) -> PromptError {
        let largest =
            measured.by_owner.iter().max_by_key(|(owner, tokens)| (**tokens, std::cmp::Reverse(**owner)));
        let (largest, largest_tokens) = largest.map_or_else(Default::default, |(owner, tokens)| {
            let section = self.sections.get(owner.section);
            let name = section.map(|section| {
                owner
                    .part
                    .and_then(|part| section.parts.get(part))
                    .map_or_else(|| section.id.to_string(), |part| part.name.clone())
            });
            // Without sections, the document's own element is all there is.
            (name.unwrap_or_else(|| "<prompt>".to_owned()), *tokens)
        });
        PromptError::RequiredSectionsTooLarge { needed: measured.total, budget, largest, largest_tokens }
    }

    /// Counts the text as laid out; a stretch with unchanged surroundings is not counted again.
    fn count(&self, counter: &dyn CountTokens, known: &mut BTreeMap<Owner, Counted>) -> Measured {
        let messages = self.layout();
        let runs = self.runs(&messages, counter.is_exact());
        let mut texts: Vec<Vec<&str>> = Vec::new();
        let mut wanted: Vec<&[&Stretch<'_>]> = Vec::new();
        let mut by_owner = BTreeMap::new();
        for run in &runs {
            match run.as_slice() {
                [only] => match known.get(&only.owner) {
                    Some(earlier) if earlier.is_for(only) => {
                        by_owner.insert(only.owner, earlier.tokens);
                    }
                    _ => {
                        texts.push(only.printed().collect());
                        wanted.push(run);
                    }
                },
                several => {
                    texts.extend(several.iter().map(|stretch| stretch.printed().collect()));
                    texts.push(several.iter().flat_map(|stretch| stretch.printed()).collect());
                    wanted.push(run);
                }
            }
        }
        let mut counts = counter.count(&texts).into_iter();
        let mut next = || counts.next().unwrap_or_default();
        for run in wanted {
            let alone: Vec<Tokens> = run.iter().map(|_| next()).collect();
            for (stretch, tokens) in run.iter().zip(&alone) {
                by_owner.insert(stretch.owner, *tokens);
            }
            match run {
                [only] => {
                    let tokens = alone.first().copied().unwrap_or_default();
                    known.insert(only.owner, Counted::new(only, tokens));
                }
                several => share_difference(several, &alone, next(), &mut by_owner),
            }
        }
        self.add_attached(counter, &mut by_owner);
        let total = by_owner.values().copied().sum();
        Measured { by_owner, total, tokenizer: counter.name().to_owned(), is_exact: counter.is_exact() }
    }

    /// Attached files count with the text that names them.
    fn add_attached(&self, counter: &dyn CountTokens, by_owner: &mut BTreeMap<Owner, Tokens>) {
        let attached: Vec<(Owner, &Attached)> =
            by_owner.keys().filter_map(|owner| Some((*owner, self.attached_to(*owner)?))).collect();
        if attached.is_empty() {
            return;
        }
        let texts: Vec<Vec<&str>> = attached.iter().map(|(_, file)| vec![file.text.as_str()]).collect();
        for ((owner, _), tokens) in attached.iter().zip(counter.count(&texts)) {
            if let Some(known) = by_owner.get_mut(owner) {
                *known += tokens;
            }
        }
    }

    fn attached_to(&self, owner: Owner) -> Option<&Attached> {
        let section = self.sections.get(owner.section)?;
        match owner.part {
            Some(part) => section.parts.get(part)?.attached.as_ref(),
            None => section.attached.as_ref(),
        }
    }

    /// The attached files, in the order of the prompt.
    pub fn attached(&self) -> Vec<&Attached> {
        let kept = self.sections.iter().filter(|section| section.is_kept());
        kept.flat_map(|section| {
            let parts = section.parts.iter().filter(|part| part.cut.is_none());
            section.attached.iter().chain(parts.filter_map(|part| part.attached.as_ref()))
        })
        .collect()
    }

    /// Groups stretches so that the counts of the groups add up to the count of the whole.
    fn runs<'l>(&self, messages: &'l [MessageLayout<'l>], is_exact: bool) -> Vec<Vec<&'l Stretch<'l>>> {
        let mut runs: Vec<Vec<&Stretch<'_>>> = Vec::new();
        for message in messages {
            let starts_apart = self.style.format == Format::Messages;
            for (position, stretch) in message.stretches.iter().enumerate() {
                let previous = runs.last().and_then(|run| run.last());
                let joins_previous = is_exact
                    && !(starts_apart && position == 0)
                    && previous.is_some_and(|previous| {
                        let before = previous.printed().last().unwrap_or_default();
                        let after = stretch.printed().next().unwrap_or_default();
                        !is_boundary(before, after)
                    });
                match runs.last_mut() {
                    Some(run) if joins_previous => run.push(stretch),
                    _ => runs.push(vec![stretch]),
                }
            }
        }
        runs
    }
}

/// The count of a stretch, and its surroundings at that time.
struct Counted {
    before: String,
    after: String,
    printed_after: &'static str,
    tokens: Tokens,
}

impl Counted {
    fn new(stretch: &Stretch<'_>, tokens: Tokens) -> Self {
        Self {
            before: stretch.before.clone(),
            after: stretch.after.clone(),
            printed_after: stretch.printed_after,
            tokens,
        }
    }

    /// Whether the count is still valid: a cut changes the surroundings of its neighbours, never their own text.
    fn is_for(&self, stretch: &Stretch<'_>) -> bool {
        self.before == stretch.before
            && self.after == stretch.after
            && self.printed_after == stretch.printed_after
    }
}

/// Distributes the count of a run over its stretches so that they add up.
fn share_difference(
    run: &[&Stretch<'_>],
    alone: &[Tokens],
    together: Tokens,
    by_owner: &mut BTreeMap<Owner, Tokens>,
) {
    let sum: Tokens = alone.iter().copied().sum();
    let mut surplus = sum.0.saturating_sub(together.0);
    for stretch in run.iter().rev() {
        let Some(tokens) = by_owner.get_mut(&stretch.owner) else { continue };
        let taken = surplus.min(tokens.0);
        tokens.0 -= taken;
        surplus -= taken;
    }
    if let Some(last) = run.last().and_then(|stretch| by_owner.get_mut(&stretch.owner)) {
        last.0 += together.0.saturating_sub(sum.0);
    }
}

fn text_of(message: &MessageLayout<'_>) -> String {
    let size = message.stretches.iter().flat_map(Stretch::pieces).map(str::len).sum();
    let mut text = String::with_capacity(size);
    message.stretches.iter().flat_map(Stretch::pieces).for_each(|piece| text.push_str(piece));
    text
}

fn section_sha256(section: &Section) -> Sha256Hex {
    let parts = section.parts.iter().flat_map(|part| {
        let body = match &part.body {
            PartBody::Inline(text) => text.as_str(),
            PartBody::Reference(text) | PartBody::Note(text) => text.as_str(),
        };
        // NUL separates the files, so that two files cannot be mistaken for one.
        [part.name.as_str(), "\0", body, "\0"]
    });
    Sha256Hex::of(std::iter::once(section.body.as_str()).chain(parts))
}

/// Number of pieces per write; systems accept about a thousand.
const PIECES_AT_ONCE: usize = 512;

/// Writes pieces in few calls, directly from where they are: a buffered writer need not copy them.
fn write_pieces<'a>(pieces: impl Iterator<Item = &'a str>, out: &mut impl Write) -> io::Result<()> {
    let mut pieces = pieces.map(|piece| IoSlice::new(piece.as_bytes()));
    loop {
        let mut some: Vec<IoSlice<'a>> = pieces.by_ref().take(PIECES_AT_ONCE).collect();
        if some.is_empty() {
            return Ok(());
        }
        let mut left = some.as_mut_slice();
        // Empty pieces are skipped, so that writing zero bytes means that writing failed.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match out.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n_bytes) => IoSlice::advance_slices(&mut left, n_bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Writes messages as an indented JSON array.
fn write_messages(messages: &[MessageLayout<'_>], out: &mut impl Write) -> io::Result<()> {
    if messages.is_empty() {
        return out.write_all(b"[]");
    }
    out.write_all(b"[\n")?;
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            out.write_all(b",\n")?;
        }
        out.write_all(message_head(message.role).as_bytes())?;
        serde_json::to_writer(&mut *out, &text_of(message))?;
        out.write_all(b"\n  }")?;
    }
    out.write_all(b"\n]")
}

/// What stands before the content of a message in the JSON array.
fn message_head(role: Role) -> String {
    format!("  {{\n    \"role\": \"{}\",\n    \"content\": ", role.as_str())
}

/// What follows the escaped content of a message.
const MESSAGE_END: &str = "\"\n  }";

/// Appends a piece of a JSON string. Characters are escaped one by one, so pieces together are the whole.
fn push_escaped(text: &mut String, piece: &str) {
    let quoted = serde_json::to_string(piece).unwrap_or_default();
    text.push_str(quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default());
}
