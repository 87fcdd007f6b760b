//! Adds a custom component, whose section then appears in every prompt of a recipe.
//!
//! Run it: `cargo run -p aiwf-prompt --example house_rules`.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::sync::Arc;

use aiwf_prompt::{
    Capability, ChangeRequest, Component, Format, Options, PromptAggregator, PromptError, Recipe, Request,
    Role, Section, Source, Text, Tokenizer,
};

struct HouseRules;

impl Component for HouseRules {
    fn id(&self) -> &'static str {
        "house-rules"
    }

    fn order(&self) -> i32 {
        5
    }

    fn takes_part_in(&self, recipe: Recipe) -> bool {
        recipe == Recipe::Change
    }

    fn sections(&self, _: &Request, _: &Capability) -> Result<Vec<Section>, PromptError> {
        let source = Source::Component("house-rules".to_owned());
        let section = Section::new("house-rules", "House Rules", source, "Small functions, whole words.");
        Ok(vec![Section { role: Role::System, ..section }])
    }
}

fn main() -> Result<(), PromptError> {
    PromptAggregator::global().register(Arc::new(HouseRules));
    let request = Request::Change(ChangeRequest {
        phase: None,
        system_prompt: None,
        context: Vec::new(),
        instructions: Text::from("Add login"),
        instructions_source: Source::Input("instructions".to_owned()),
    });
    let options = Options {
        format: Format::Xml,
        capability: Capability {
            fs_ability: None,
            supports_system_prompt: false,
            supports_file_attachments: false,
            sends_files: false,
        },
        budget: None,
        counter: &Tokenizer::Estimate,
    };
    // Equal requests and components always give equal bytes.
    let prompt = PromptAggregator::global().aggregate(&request, &options)?;
    println!("{}", prompt.full_prompt());
    Ok(())
}
