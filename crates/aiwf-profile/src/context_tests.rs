use serde_json::json;

use super::*;
use crate::param::Choice;

fn param(name: &str, kind: ParamKind, is_required: bool, default: Option<Value>) -> Param {
    Param { name: name.to_owned(), help: format!("the {name}"), kind, is_required, default }
}

fn params() -> Vec<Param> {
    let choices = ["domain", "full"].map(|name| Choice {
        name: name.to_owned(),
        set: json!({"kind": name}).as_object().unwrap().clone(),
        ..Choice::default()
    });
    vec![
        param("entity", ParamKind::String { pattern: None }, true, None),
        param("page-size", ParamKind::Integer { minimum: Some(1), maximum: None }, false, None),
        param("schema-file", ParamKind::File { input: "DDL".to_owned() }, true, None),
        param("design", ParamKind::File { input: "NOTES".to_owned() }, false, None),
        param("with-tests", ParamKind::Boolean { negation: None }, false, None),
        param("tag", ParamKind::List { pattern: None }, false, None),
        param(
            "scope",
            ParamKind::Choice { choices: choices.to_vec(), input: Some("SET".to_owned()) },
            false,
            Some(json!("domain")),
        ),
    ]
}

fn scopes() -> Vec<Scope> {
    let scope = |name: &str, layers: &[&str]| Scope {
        name: name.to_owned(),
        help: String::new(),
        layers: layers.iter().map(|layer| (*layer).to_owned()).collect(),
        rules: Vec::new(),
    };
    vec![scope("domain", &["entity"]), scope("full", &["entity", "service"])]
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("not an object") };
    object
}

fn read(files: &[(&str, Result<&str, &str>)]) -> BTreeMap<String, ReadFile> {
    files
        .iter()
        .map(|(key, read)| {
            ((*key).to_owned(), read.map(|text| text.as_bytes().to_vec()).map_err(str::to_owned))
        })
        .collect()
}

fn problems(given: Value, files: &[(&str, Result<&str, &str>)]) -> String {
    let problems = settle(&params(), &object(given), &read(files), &BTreeMap::new()).unwrap_err();
    let shown = |problem: &ParamProblem| match &problem.hint {
        Some(hint) => format!("{problem} / {hint}"),
        None => problem.to_string(),
    };
    problems.iter().map(shown).collect::<Vec<_>>().join("\n")
}

#[test]
fn values_are_taken_by_name_or_key_and_defaults_filled_in() {
    let given = object(json!({"entity": "A", "schema_file": "s.sql", "page-size": "5", "with-tests": null}));
    assert_eq!(
        wanted_files(&params(), &given),
        [WantedFile { key: "schema_file".to_owned(), path: "s.sql".to_owned(), is_given: true }]
    );
    let settled =
        settle(&params(), &given, &read(&[("schema_file", Ok("create table a;"))]), &BTreeMap::new())
            .unwrap();
    insta::assert_snapshot!(
        serde_json::to_string(&settled.context).unwrap(),
        @r#"{"entity":"A","page_size":5,"schema_file":"s.sql","scope":"domain"}"#
    );
    assert_eq!(settled.inputs.get("schema_file").map(String::as_str), Some("create table a;"));
}

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    insta::assert_snapshot!(problems(json!({"entty": "A", "page-size": 0, "scope": "ful", "with-tests": "maybe"}), &[]), @r"
    unknown parameter `entty` / did you mean `entity`? known: `entity`, `page-size`, `schema-file`, `design`, `with-tests`, `tag`, `scope`
    `--entity` is missing / `--entity`: the entity
    `--page-size` is 0, less than 1 / `--page-size`: the page-size
    `--schema-file` is missing / `--schema-file`: the schema-file
    `--with-tests` is `maybe`, not true or false / `--with-tests`: the with-tests
    `--scope` is `ful`, not one of `domain`, `full` / did you mean `full`?
    ");
}

#[test]
fn files_that_cannot_be_inputs_are_reported() {
    let given = json!({"entity": "A", "schema-file": "s.sql", "design": "d.md"});
    insta::assert_snapshot!(problems(given.clone(), &[("schema_file", Err("no such file")), ("design", Ok(" \n"))]), @r"
    `--schema-file` names `s.sql`, which cannot be read: no such file
    `--design` names `d.md`, which is empty
    ");
    insta::assert_snapshot!(problems(given.clone(), &[("design", Ok("x"))]), @"`--schema-file` names `s.sql`, which was not read");
    let mut files = read(&[("design", Ok("x"))]);
    files.insert("schema_file".to_owned(), Ok(vec![0xff, 0xfe]));
    let problems = settle(&params(), &object(given), &files, &BTreeMap::new()).unwrap_err();
    insta::assert_snapshot!(problems[0].to_string(), @"`--schema-file` names `s.sql`, which is not UTF-8 text");
}

#[test]
fn every_variable_exists_even_without_a_value() {
    let given = object(json!({"entity": "A", "schema-file": "s.sql"}));
    let settled =
        settle(&params(), &given, &read(&[("schema_file", Ok("```ddl````"))]), &BTreeMap::new()).unwrap();
    let variables = variables(&params(), &scopes(), &settled.context, &settled.inputs);
    assert_eq!(variables.keys().cloned().collect::<Vec<_>>(), variable_names(&params(), &scopes()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&variables).unwrap(), @r#"
    {
      "DDL": "```ddl````",
      "DESIGN": "",
      "ENTITY": "A",
      "FENCE": "`````",
      "LAYERS": [
        "entity"
      ],
      "NOTES": "",
      "PAGE_SIZE": null,
      "SCHEMA_FILE": "s.sql",
      "SCOPE": "domain",
      "SET": {
        "kind": "domain"
      },
      "TAG": [],
      "WITH_TESTS": false
    }
    "#);
}

#[test]
fn a_byte_order_mark_is_not_part_of_an_input() {
    let given = object(json!({"entity": "A", "schema-file": "s.sql"}));
    let settled =
        settle(&params(), &given, &read(&[("schema_file", Ok("\u{feff}ddl"))]), &BTreeMap::new()).unwrap();
    assert_eq!(settled.inputs.get("schema_file").map(String::as_str), Some("ddl"));
}

#[test]
fn files_are_inputs_by_path_and_their_paths_are_the_value() {
    let params = [
        param("request", ParamKind::Text, true, None),
        param("file", ParamKind::Files, false, None),
        param("other", ParamKind::Files, false, Some(json!(["docs/*.md"]))),
    ];
    let given = object(json!({"request": "Add\r\na flag\n\n", "file": ["src/*.py"]}));
    let wanted: Vec<(String, Vec<String>)> =
        wanted_patterns(&params, &given).into_iter().map(|wanted| (wanted.key, wanted.patterns)).collect();
    let of = |key: &str, pattern: &str| (key.to_owned(), vec![pattern.to_owned()]);
    assert_eq!(wanted, [of("file", "src/*.py"), of("other", "docs/*.md")]);
    let file = |path: &str| MatchedFile { path: path.to_owned(), text: format!("text of {path}") };
    let matched = BTreeMap::from([("file".to_owned(), vec![file("src/a.py"), file("src/b.py")])]);
    let settled = settle(&params, &given, &BTreeMap::new(), &matched).unwrap();
    assert_eq!(
        Value::Object(settled.context.clone()),
        json!({"request": "Add\na flag", "file": ["src/a.py", "src/b.py"], "other": []})
    );
    assert_eq!(settled.inputs.keys().collect::<Vec<_>>(), ["file/src/a.py", "file/src/b.py"]);
    let variables = variables(&params, &[], &settled.context, &settled.inputs);
    assert_eq!(variables["FILE"], json!(["src/a.py", "src/b.py"]));
}

#[test]
fn text_of_several_lines_has_limits_of_its_own() {
    let text = param("request", ParamKind::Text, true, None);
    let fault = |given: Value| text.read(&given).unwrap_err().message;
    assert_eq!(fault(json!(" \n ")), "is empty");
    assert_eq!(fault(json!("a\u{1b}[2J")), "has a control character");
    assert_eq!(fault(json!(7)), "is a number, not text");
    assert_eq!(fault(json!("x".repeat(65 * 1024))), "has 66560 bytes, more than 65536");
    assert_eq!(text.read(&json!("a\tb\n\nc")).unwrap(), json!("a\tb\n\nc"));
}
