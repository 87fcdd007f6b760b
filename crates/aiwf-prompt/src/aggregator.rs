//! The registry of components, which turns a request into a prompt.
//!
//! One instance serves all four recipes. It uses no clock, file or environment: the result depends only on the request
//! and the registered components.

use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::capability::Capability;
use crate::error::PromptError;
use crate::nearest::nearest;
use crate::prompt::{Options, Preview, Prompt};
use crate::recipe::{Recipe, Request};
use crate::reply::ComponentSetting;
use crate::section::Section;
use crate::{change, reply, session, workflow};

/// Makes the sections (none, one or many) for a request.
pub trait Component: Send + Sync {
    /// The name it is registered under; another component with the same name replaces it.
    fn id(&self) -> &str;
    /// Its position among the components of a recipe.
    fn order(&self) -> i32;
    /// Whether it takes part in a recipe; by default in every one.
    fn takes_part_in(&self, _recipe: Recipe) -> bool {
        true
    }
    /// The sections it adds, adjacent to each other; empty if the request has nothing for it.
    fn sections(&self, request: &Request, capability: &Capability) -> Result<Vec<Section>, PromptError>;
}

/// A built-in component: a name, a position and a function of its recipe's request.
pub(crate) struct BuiltIn<R: 'static> {
    pub(crate) id: &'static str,
    pub(crate) recipe: Recipe,
    pub(crate) order: i32,
    pub(crate) request: fn(&Request) -> Option<&R>,
    pub(crate) sections: fn(&R, Capability) -> Result<Vec<Section>, PromptError>,
}

impl<R> Component for BuiltIn<R> {
    fn id(&self) -> &str {
        self.id
    }

    fn order(&self) -> i32 {
        self.order
    }

    fn takes_part_in(&self, recipe: Recipe) -> bool {
        recipe == self.recipe
    }

    fn sections(&self, request: &Request, capability: &Capability) -> Result<Vec<Section>, PromptError> {
        (self.request)(request)
            .map_or_else(|| Ok(Vec::new()), |request| (self.sections)(request, *capability))
    }
}

/// A component and its position in a prompt.
type Placed = (i32, Arc<dyn Component>);

/// The components, sorted by order, and the pipeline from a request to a prompt.
pub struct PromptAggregator {
    components: RwLock<Vec<Arc<dyn Component>>>,
}

impl fmt::Debug for PromptAggregator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.all().iter().map(|component| component.id().to_owned())).finish()
    }
}

impl Default for PromptAggregator {
    fn default() -> Self {
        Self::new()
    }
}

impl PromptAggregator {
    /// A registry with the built-in components of all recipes.
    pub fn new() -> Self {
        let mut components = session::components();
        components.extend(change::components());
        components.extend(workflow::components());
        components.extend(reply::components());
        Self { components: RwLock::new(components) }
    }

    /// The instance shared by the whole program.
    pub fn global() -> &'static Self {
        static GLOBAL: LazyLock<PromptAggregator> = LazyLock::new(PromptAggregator::new);
        &GLOBAL
    }

    /// Adds a component; one with the same id is replaced.
    pub fn register(&self, component: Arc<dyn Component>) {
        let mut components = self.components.write().unwrap_or_else(PoisonError::into_inner);
        match components.iter_mut().find(|known| known.id() == component.id()) {
            Some(known) => *known = component,
            None => components.push(component),
        }
    }

    /// Removes a component; returns whether there was one.
    pub fn unregister(&self, id: &str) -> bool {
        let mut components = self.components.write().unwrap_or_else(PoisonError::into_inner);
        let n_before = components.len();
        components.retain(|component| component.id() != id);
        components.len() < n_before
    }

    /// The ids and orders of a recipe's components, sorted.
    pub fn components(&self, recipe: Recipe) -> Vec<(String, i32)> {
        let mut ordered: Vec<(String, i32)> = self
            .all()
            .iter()
            .filter(|component| component.takes_part_in(recipe))
            .map(|component| (component.id().to_owned(), component.order()))
            .collect();
        ordered.sort_by_key(|(_, order)| *order);
        ordered
    }

    /// Builds the prompt for a request.
    pub fn aggregate(&self, request: &Request, options: &Options<'_>) -> Result<Prompt, PromptError> {
        let sections = self.compose(request, options.capability)?;
        let cli_tool = request.cli_tool().map(str::to_owned);
        Prompt::new(request.recipe(), request.mode().to_owned(), cli_tool, sections, options)
    }

    /// The prompt for a request with its metadata, or why there is none.
    pub fn preview(&self, request: &Request, options: &Options<'_>) -> Preview {
        let mode = request.mode().to_owned();
        let cli_tool = request.cli_tool().map(str::to_owned);
        match self.aggregate(request, options) {
            Ok(mut prompt) => {
                let metadata = Some(prompt.metadata(options.counter));
                Preview {
                    is_success: true,
                    prompt: prompt.full_prompt(),
                    mode,
                    cli_tool,
                    sections: prompt.sections(),
                    metadata,
                    error: None,
                }
            }
            Err(error) => Preview {
                is_success: false,
                prompt: String::new(),
                mode,
                cli_tool,
                sections: Vec::new(),
                metadata: None,
                error: Some(error.to_string()),
            },
        }
    }

    /// Lets every component of the recipe add its sections, in order.
    fn compose(&self, request: &Request, capability: Capability) -> Result<Vec<Section>, PromptError> {
        let settings = match request {
            Request::Reply(request) => request.components.as_slice(),
            Request::Session(_) | Request::Change(_) | Request::Workflow(_) => &[],
        };
        let mut sections = Vec::new();
        for (order, component) in self.ordered(request.recipe(), settings)? {
            for mut section in component.sections(request, &capability)? {
                component.id().clone_into(&mut section.component);
                section.order = order;
                sections.push(section);
            }
        }
        if let Request::Workflow(request) = request {
            workflow::hide_roots(&mut sections, &request.roots);
        }
        Ok(sections)
    }

    /// The components of a recipe with the order from the request, without disabled ones.
    fn ordered(&self, recipe: Recipe, settings: &[ComponentSetting]) -> Result<Vec<Placed>, PromptError> {
        let mut components = self.all();
        components.retain(|component| component.takes_part_in(recipe));
        let known: Vec<&str> = components.iter().map(|component| component.id()).collect();
        if let Some(unknown) = settings.iter().find(|setting| !known.contains(&setting.id.as_str())) {
            return Err(PromptError::UnknownComponent {
                id: unknown.id.clone(),
                nearest: nearest(&unknown.id, known.iter().copied()).map(str::to_owned),
                known: known.into_iter().map(str::to_owned).collect(),
            });
        }
        let mut ordered: Vec<Placed> = components
            .into_iter()
            .filter_map(|component| {
                let setting = settings.iter().rev().find(|setting| setting.id == component.id());
                let is_enabled = setting.and_then(|setting| setting.is_enabled).unwrap_or(true);
                let order = setting.and_then(|setting| setting.order).unwrap_or_else(|| component.order());
                is_enabled.then_some((order, component))
            })
            .collect();
        ordered.sort_by_key(|(order, _)| *order);
        Ok(ordered)
    }

    /// A copy of the list, so that a component may use the registry while it makes its sections.
    fn all(&self) -> Vec<Arc<dyn Component>> {
        self.components.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
