//! The kinds of findings: their names, severities and advice.

use crate::finding::Severity;

/// Declares each kind with its name, severity and advice, so that none can lack them.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $severity:ident, $advice:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FindingCode {
            $($(#[$doc])* $variant,)+
        }

        impl FindingCode {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// A name that is stable between versions.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            pub(crate) fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)+
                }
            }

            /// The default advice, when nothing more specific is known.
            pub fn advice(self) -> &'static str {
                match self {
                    $(Self::$variant => $advice,)+
                }
            }
        }
    };
}

codes! {
    /// A required file, or one that another file refers to, is missing.
    MissingFile = "missing-file", Error, "add the file, or correct the path: paths are relative to the package";
    NotText = "not-text", Error, "save the file as UTF-8";
    /// A file is not JSON.
    InvalidJson = "invalid-json", Error, "correct the JSON at that place";
    /// A file does not match its schema.
    Schema = "schema", Error, "correct the value";
    /// The front matter of a Markdown file is invalid.
    FrontMatter = "front-matter", Error, "correct the front matter: YAML between two lines `---`, at the start of the file";
    /// The manifest contains a hash that cannot be checked.
    IntegrityNotChecked = "integrity-not-checked", Warning, "remove `integrity`";
    /// Two workflows have the same id.
    DuplicateWorkflow = "duplicate-workflow", Error, "give each workflow a unique id";
    /// Two agents have the same id.
    DuplicateAgent = "duplicate-agent", Error, "give each agent a unique id";
    /// Two prompts of an agent have the same id.
    DuplicatePrompt = "duplicate-prompt", Warning, "give each prompt of an agent a unique id";
    /// Two nodes have the same id.
    DuplicateNode = "duplicate-node", Error, "give each node a unique id";
    /// Two edges are the same.
    DuplicateEdge = "duplicate-edge", Warning, "remove one of the two, or give it a different label";
    /// A time is present but empty.
    EmptyTimestamp = "empty-timestamp", Warning, "remove the key: a run sets its own times";
    /// An agent that the package does not have.
    UnknownAgent = "unknown-agent", Error, "use an agent of the package";
    /// A node of type `subworkflow`, which runs as an ordinary step.
    Subworkflow = "subworkflow", Warning, "make it a `step`, or put its nodes into this graph";
    /// The entry node does not exist.
    UnknownEntry = "unknown-entry", Error, "set `entryNodeId` to the id of a node";
    /// An edge from or to a node that does not exist.
    DanglingEdge = "dangling-edge", Error, "correct the id, or add the node";
    /// A condition that cannot be evaluated.
    UnusableCondition = "unusable-condition", Warning, "correct the condition, or remove it";
    /// The graph has no end node.
    NoEnd = "no-end", Warning, "add a node of type `end`";
    /// A node that no path leads to.
    Unreachable = "unreachable", Warning, "add an edge to it, or remove the node";
    /// A node with more than one default edge.
    SeveralDefaults = "several-defaults", Warning, "keep `isDefault` on one of them";
    /// An end node with an outgoing edge.
    EndGoesOn = "end-goes-on", Warning, "remove the edge, or make the node a `step`";
    /// A decision with fewer than two edges.
    NoChoice = "no-choice", Warning, "add an outgoing edge, or make the node a `step`";
    /// A decision without a default edge.
    NoDefault = "no-default", Warning, "add an edge with `isDefault`";
    /// A node without outgoing edges that is not an end.
    DeadEnd = "dead-end", Warning, "add an outgoing edge, or make the node an `end`";
    /// A step file that belongs to another node than the graph says.
    NodeMismatch = "node-mismatch", Error, "correct `nodeId` here, or the `file` of the node in the graph";
    /// A step file that contradicts the graph.
    StepDisagrees = "step-disagrees", Warning, "make it match the graph, or remove it";
    /// The entry document has an unknown current node.
    UnknownCurrentNode = "unknown-current-node", Warning, "leave `currentNodeId` empty, or use a node of the graph";
    /// The entry document links to a missing file.
    BrokenLink = "broken-link", Warning, "correct the link, or add the file";
    /// A menu item that is never shown.
    MenuHidden = "menu-hidden", Warning, "remove one of the two";
    /// A menu item that starts an unknown workflow.
    MenuUnknownWorkflow = "menu-unknown-workflow", Warning, "use a workflow of the package";
    /// A menu item that runs a missing file.
    MenuExec = "menu-exec", Warning, "correct the path: it is relative to the package";
    /// A menu item with a missing data file.
    MenuData = "menu-data", Warning, "correct the path: it is relative to the package";
    /// A trigger of a menu item that does nothing.
    MenuTrigger = "menu-trigger", Warning, "complete the trigger, or remove it";
    /// A menu item that uses a prompt the agent does not have.
    MenuUnknownPrompt = "menu-unknown-prompt", Warning, "use a prompt of the agent, or add one with this id";
}

#[cfg(test)]
#[path = "finding_code_tests.rs"]
mod tests;
