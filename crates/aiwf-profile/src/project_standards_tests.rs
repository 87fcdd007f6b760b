use super::*;

fn rule(name: &str) -> ProjectRule {
    ProjectRule { name: name.to_owned(), source: format!(".aiwf/standards/{name}"), text: "x".to_owned() }
}

#[test]
fn unknown_names_and_clashing_names_are_reported() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let profiles = BTreeMap::from([
        ("jpa".to_owned(), names(&["naming.rules.yml", "java.rules.yml"])),
        ("react".to_owned(), names(&["component.md"])),
    ]);
    let mut project = ProjectStandards {
        files: vec![rule("naming.rules.yml"), rule("component.md"), rule("team.md")],
        replace: names(&["naming.rules.yml", "namimg.rules.yml", "java.rules.yml"]),
        exclude: names(&["team.md", "gone.md"]),
    };
    let shown = |warnings: Vec<ProfileProblem>| {
        warnings.iter().map(|doubt| format!("{doubt} / {}", doubt.hint)).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown(project.warnings(&profiles)), @"
    [standards] replace: no file of a profile's standards is named `namimg.rules.yml` / did you mean `naming.rules.yml`? known: `component.md`, `java.rules.yml`, `naming.rules.yml`
    [standards] replace: no file of the project's standards is named `namimg.rules.yml` / did you mean `naming.rules.yml`? known: `component.md`, `naming.rules.yml`, `team.md`
    [standards] replace: no file of the project's standards is named `java.rules.yml` / did you mean `naming.rules.yml`? known: `component.md`, `naming.rules.yml`, `team.md`
    [standards] exclude: no file of the standards is named `gone.md` / known: `component.md`, `java.rules.yml`, `naming.rules.yml`, `team.md`
    .aiwf/standards/component.md: profile `react` has a file `component.md` too, and both are used / list the name under `[standards] replace` or `exclude`, or give the project's file another name
    ");
    project.replace = names(&["naming.rules.yml", "component.md"]);
    project.exclude = Vec::new();
    assert_eq!(project.warnings(&profiles), Vec::new());
}
