//! The kinds of findings: their names, how bad they are, and what to do about each.

use crate::finding::Severity;

/// Makes the kinds and everything there is to say about each, so that none can be without.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $severity:ident, $advice:literal;)+) => {
        /// What kind of finding it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FindingCode {
            $($(#[$doc])* $variant,)+
        }

        impl FindingCode {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// A name that stays the same between versions.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// How bad it is.
            pub(crate) fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)+
                }
            }

            /// What to do about it, when nothing more is known.
            pub fn advice(self) -> &'static str {
                match self {
                    $(Self::$variant => $advice,)+
                }
            }
        }
    };
}

codes! {
    /// A file that is named, or that every package has, is not there.
    MissingFile = "missing-file", Error, "add the file, or correct the path: paths are relative to the package";
    /// A file is not text.
    NotText = "not-text", Error, "save the file as UTF-8";
    /// A file is not JSON.
    InvalidJson = "invalid-json", Error, "correct the JSON at that place";
    /// A file does not fit its schema.
    Schema = "schema", Error, "correct the value";
    /// The front matter of a Markdown file cannot be read.
    FrontMatter = "front-matter", Error, "correct the front matter: YAML between two lines `---`, at the start of the file";
    /// A manifest names a hash that nobody can check.
    IntegrityNotChecked = "integrity-not-checked", Warning, "leave `integrity` out";
    /// Two workflows have one id.
    DuplicateWorkflow = "duplicate-workflow", Error, "give each workflow an id of its own";
    /// Two agents have one id.
    DuplicateAgent = "duplicate-agent", Error, "give each agent an id of its own";
    /// Two prompts of an agent have one id.
    DuplicatePrompt = "duplicate-prompt", Warning, "give each prompt of an agent an id of its own";
    /// Two nodes have one id.
    DuplicateNode = "duplicate-node", Error, "give each node an id of its own";
    /// Two edges are the same.
    DuplicateEdge = "duplicate-edge", Warning, "remove one of the two, or give it a label of its own";
    /// A time is there and empty.
    EmptyTimestamp = "empty-timestamp", Warning, "leave the key out: a run sets its own times";
    /// An agent is named that the package does not have.
    UnknownAgent = "unknown-agent", Error, "name an agent of the package";
    /// A node is of a kind that is not run as such.
    Subworkflow = "subworkflow", Warning, "make it a `step`, or put its nodes into this graph";
    /// The graph begins at a node it does not have.
    UnknownEntry = "unknown-entry", Error, "set `entryNodeId` to the id of a node";
    /// An edge leads from or to a node that is not there.
    DanglingEdge = "dangling-edge", Error, "correct the id, or add the node";
    /// A condition of an edge cannot be evaluated.
    UnusableCondition = "unusable-condition", Warning, "correct the condition, or leave it out";
    /// The graph has no end.
    NoEnd = "no-end", Warning, "add a node of type `end`";
    /// A node that no way leads to.
    Unreachable = "unreachable", Warning, "add an edge to it, or remove the node";
    /// More than one edge of a node is the default.
    SeveralDefaults = "several-defaults", Warning, "keep `isDefault` on one of them";
    /// An end has an edge out of it.
    EndGoesOn = "end-goes-on", Warning, "remove the edge, or make the node a `step`";
    /// A decision has fewer than two ways.
    NoChoice = "no-choice", Warning, "add an edge out of it, or make the node a `step`";
    /// A decision has no default.
    NoDefault = "no-default", Warning, "add an edge with `isDefault`";
    /// A node has no way out and is no end.
    DeadEnd = "dead-end", Warning, "add an edge out of it, or make the node an `end`";
    /// A step file is of another node than the graph says.
    NodeMismatch = "node-mismatch", Error, "correct `nodeId` here, or the `file` of the node in the graph";
    /// A step file says other things than the graph.
    StepDisagrees = "step-disagrees", Warning, "say the same here as in the graph, or leave it out";
    /// The entry document stands at a node that is not there.
    UnknownCurrentNode = "unknown-current-node", Warning, "leave `currentNodeId` empty, or name a node of the graph";
    /// The entry document links to a file that is not there.
    BrokenLink = "broken-link", Warning, "correct the link, or add the file";
    /// A menu item that nobody sees.
    MenuHidden = "menu-hidden", Warning, "remove one of the two";
    /// A menu item starts a workflow that is not there.
    MenuUnknownWorkflow = "menu-unknown-workflow", Warning, "name a workflow of the package";
    /// A menu item says a text that is not there.
    MenuExec = "menu-exec", Warning, "correct the path: it is relative to the package";
    /// A menu item gives data along that is not there.
    MenuData = "menu-data", Warning, "correct the path: it is relative to the package";
    /// A trigger of a menu item does nothing.
    MenuTrigger = "menu-trigger", Warning, "complete the trigger, or remove it";
    /// A menu item uses a prompt that the agent does not have.
    MenuUnknownPrompt = "menu-unknown-prompt", Warning, "name a prompt of the agent, or give it one of that id";
}

#[cfg(test)]
#[path = "finding_code_tests.rs"]
mod tests;
