use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::fixture::graph;

#[test]
fn mermaid_shows_kinds_labels_and_defaults() {
    assert_snapshot!(diagram(&graph(), "hello", DiagramFormat::Mermaid), @r#"
    flowchart TD
      n0["Intake"]
      n1{"Decide project type"}
      n2["Greenfield plan"]
      n3["Brownfield plan"]
      n4(["Finish"])
      n0 -->|"next"| n1
      n1 -->|"greenfield"| n2
      n1 ==>|"brownfield"| n3
      n2 -->|"next"| n4
      n3 -->|"next"| n4
      style n0 stroke-width:3px
    "#);
}

#[test]
fn dot_shows_the_same() {
    assert_snapshot!(diagram(&graph(), "hello", DiagramFormat::Dot), @r#"
    digraph "hello" {
      rankdir=TB;
      node [fontname="sans-serif"];
      "step-01-intake" [label="Intake", shape=box, penwidth=3];
      "decide-02-project-type" [label="Decide project type", shape=diamond];
      "step-03a-greenfield" [label="Greenfield plan", shape=box];
      "step-03b-brownfield" [label="Brownfield plan", shape=box];
      "end-99" [label="Finish", shape=oval];
      "step-01-intake" -> "decide-02-project-type" [label="next"];
      "decide-02-project-type" -> "step-03a-greenfield" [label="greenfield"];
      "decide-02-project-type" -> "step-03b-brownfield" [label="brownfield", penwidth=2];
      "step-03a-greenfield" -> "end-99" [label="next"];
      "step-03b-brownfield" -> "end-99" [label="next"];
    }
    "#);
}

#[test]
fn the_picture_has_rows_and_every_node_once() {
    let layout = layout::Layout::of(&graph());
    assert_eq!(layout.rows, [vec![0], vec![1], vec![2, 3], vec![4]]);
    let svg = diagram(&graph(), "hello", DiagramFormat::Svg);
    assert_eq!(svg.matches("<g id=").count(), 5);
    assert_eq!(svg.matches("class=\"edge").count(), 5);
    assert_eq!(svg, diagram(&graph(), "hello", DiagramFormat::Svg));
}

#[test]
fn loops_and_hostile_names_can_be_drawn() {
    let name = "a\"]-->x;<script>&\n\\`#";
    let graph = Graph::from_value(json!({ "entryNodeId": "a", "nodes": [
        { "id": "a", "type": "step", "file": "a", "title": name }, { "id": "b", "type": "decision", "file": "b" }],
        "edges": [{ "from": "a", "to": "b", "label": name }, { "from": "b", "to": "a", "label": "again" },
            { "from": "a", "to": "a", "label": "self" }] })).unwrap();
    assert_eq!(layout::Layout::of(&graph).rows, [vec![0], vec![1]]);
    let svg = diagram(&graph, name, DiagramFormat::Svg);
    assert!(!svg.contains("<script>"));
    assert_snapshot!(diagram(&graph, name, DiagramFormat::Mermaid), @r##"
    flowchart TD
      n0["a#34;]--#62;x#59;#60;script#62;#38; #92;#96;#35;"]
      n1{"b"}
      n0 -->|"a#34;]--#62;x#59;#60;script#62;#38; #92;#96;#35;"| n1
      n1 -->|"again"| n0
      n0 -->|"self"| n0
      style n0 stroke-width:3px
    "##);
}

#[test]
fn a_chain_of_a_thousand_nodes_has_a_thousand_rows() {
    let nodes: Vec<_> =
        (0..1000).map(|n| json!({ "id": n.to_string(), "type": "step", "file": "x" })).collect();
    let edges: Vec<_> = (1..1000)
        .map(|n| json!({ "from": (n - 1).to_string(), "to": n.to_string(), "label": "next" }))
        .collect();
    let graph = Graph::from_value(json!({ "entryNodeId": "0", "nodes": nodes, "edges": edges })).unwrap();
    assert_eq!(layout::Layout::of(&graph).rows.len(), 1000);
}

#[test]
fn the_picture_of_a_run_shows_where_it_is_and_what_each_way_needs() {
    let mut value = json!({ "entryNodeId": "a", "nodes": [
        { "id": "a", "type": "decision", "file": "a", "title": "Which kind?" },
        { "id": "b", "type": "step", "file": "b" }, { "id": "c", "type": "end", "file": "c" }],
        "edges": [{ "from": "a", "to": "b", "label": "bug", "conditionText": "kind == '<bug>'" },
            { "from": "a", "to": "c", "label": "other", "isDefault": true }, { "from": "b", "to": "c", "label": "next" }] });
    let status = |id: &str| match id {
        "a" => NodeStatus::Completed,
        "b" => NodeStatus::Current,
        _ => NodeStatus::Pending,
    };
    let svg = progress_picture(&Graph::from_value(value.take()).unwrap(), "A \"run\"", &status);
    assert_eq!(svg.matches("class=\"node done\"").count(), 1);
    assert_eq!(svg.matches("class=\"node current\"").count(), 1);
    assert_eq!(svg.matches("class=\"edge taken\"").count(), 1);
    assert!(svg.contains("<text class=\"condition\"") && svg.contains("kind == '&lt;bug&gt;'"));
    assert!(svg.contains("c: not reached yet") && svg.contains("aria-label=\"A &quot;run&quot;\""));
    // A way that is the only one has no name, and a page allows no style of its own.
    assert!(!svg.contains(">next</text>") && !svg.contains("style"));
}
