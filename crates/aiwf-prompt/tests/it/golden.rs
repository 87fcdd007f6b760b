//! Whole prompts as snapshot files: a change of any byte that is sent shows up as a diff to review.
//!
//! A file is named after recipe, format and capability. Carriage returns are shown as `␍`, because a snapshot does not
//! keep them.

use aiwf_prompt::{
    Capability, ChangeRequest, CodeFile, DataContext, Format, FsAbility, Intent, ItemKind, Mode, PartBody,
    PromptAggregator, PromptComposer, ReplyMode, ReplyRequest, Request, SessionPhase, SessionRequest, Source,
    Text, ToolSchema, WorkflowRequest,
};

use crate::fixtures::{
    PLAIN, artifact, change, code, decision, full_reply, item, object, options, roots, search_tool, session,
    shown, workflow,
};

fn full_prompt(request: &Request, format: Format, capability: Capability) -> String {
    PromptAggregator::new().aggregate(request, &options(format, capability)).unwrap().full_prompt()
}

#[track_caller]
fn check(name: &str, request: &Request, format: Format, capability: Capability) {
    let prompt = full_prompt(request, format, capability);
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, prompt.replace('\r', "␍"));
    });
}

/// Every format, with and without a system role. Only a session can refer to files instead of including them.
#[track_caller]
fn check_formats(name: &str, request: &Request) {
    for format in Format::ALL {
        for supports_system_prompt in [false, true] {
            let capability = Capability { supports_system_prompt, ..PLAIN };
            check(&file_name(name, format, supports_system_prompt), request, format, capability);
            let with_files = Capability {
                supports_file_attachments: true,
                fs_ability: Some(FsAbility::LocalWrite),
                ..capability
            };
            assert_eq!(
                full_prompt(request, format, with_files),
                full_prompt(request, format, capability),
                "what a receiver does with files changes nothing here"
            );
        }
    }
}

fn file_name(name: &str, format: Format, supports_system_prompt: bool) -> String {
    let system = if supports_system_prompt { "system-prompt" } else { "no-system-prompt" };
    format!("{name}.{}.{system}", format.as_str())
}

fn revising() -> Request {
    Request::Session(SessionRequest {
        plan: artifact("plan.md", "# Plan\n\n1. Keep `Order` small.\n2. Write `a < b && c`.\n"),
        standards: artifact(
            "standards-bundle.md",
            "# Standards\r\n\r\n- Names in English, texts in 日本語.\r\n",
        ),
        code: vec![
            code("web/index.html", "<p title=\"a & b\">]]></p>\n"),
            code("README.md", "Run it:\n\n````sh\n```\n````\n"),
            code("entity/Order.java", "class Order {\r\n\tint größe;\r\n}"),
            code("notes.xyz", ""),
            CodeFile {
                body: PartBody::Note("not UTF-8 text: 4 bytes, sha256 0f1e".to_owned()),
                ..code("web/logo.png", "")
            },
        ],
        review: artifact(
            "iteration-1/review-response.md",
            "@@@REVIEW_META\nverdict: FAIL\n@@@\n\nUse `Money` → not `int`.",
        ),
        comments: None,
        notes: None,
        feedback: Some(Text::from("Too many comments.\n\n---\n\nAnd no tests 🙁")),
        rejected_reply: None,
        profile_prompt: Text::from("Revise the code.\n\nReturn each file as <<<FILE: name>>>."),
        ..session(SessionPhase::Revising)
    })
}

#[test]
fn session_prompts_per_format_and_capability() {
    for format in Format::ALL {
        for supports_system_prompt in [false, true] {
            for supports_file_attachments in [false, true] {
                let attachments = if supports_file_attachments { "attachments" } else { "inline" };
                let name = file_name("session-revising", format, supports_system_prompt);
                let capability = Capability {
                    fs_ability: Some(FsAbility::LocalWrite),
                    supports_system_prompt,
                    supports_file_attachments,
                    sends_files: false,
                };
                check(&format!("{name}.{attachments}"), &revising(), format, capability);
            }
        }
    }
}

#[test]
fn session_prompts_per_fs_ability() {
    let request = |phase| {
        Request::Session(SessionRequest {
            plan: artifact("plan.md", "# Plan\n\nDo X."),
            standards: artifact("standards-bundle.md", "# Standards\n\nRule 1"),
            ..session(phase)
        })
    };
    for ability in FsAbility::ALL {
        let capability = Capability { fs_ability: Some(ability), ..PLAIN };
        let name = format!("session-generating.text.{}", ability.as_str());
        check(&name, &request(SessionPhase::Generating), Format::Text, capability);
    }
    check(
        "session-generating.text.unknown-fs-ability",
        &request(SessionPhase::Generating),
        Format::Text,
        PLAIN,
    );
    let capability = Capability { fs_ability: Some(FsAbility::LocalWrite), ..PLAIN };
    check("session-planning.text.local-write", &request(SessionPhase::Planning), Format::Text, capability);
}

#[test]
fn change_prompts_per_format_and_capability() {
    let request = ChangeRequest {
        phase: Some("review".to_owned()),
        system_prompt: Some((
            Text::from("# Review\n\nEnd with <review>PASS</review> or <review>NEEDS_CHANGES</review>.\n"),
            Source::Template("built-in:BASE-review.md".to_owned()),
        )),
        context: vec![
            item(
                ItemKind::File,
                "src/größe.rs",
                "fn less(a: u8, b: u8) -> bool {\r\n    a < b && b > 0\r\n}\r\n",
            ),
            item(ItemKind::File, "docs/\"odd\" <name>.md", "```\ncode\n```\n"),
            item(ItemKind::Artifact, "plan", "1. Compare\n2. Escape `]]>`"),
            item(ItemKind::Thought, "first idea", "Könnte an `<` liegen… 🤔"),
        ],
        ..change("Is `a < b` right?\nAnswer in a table: | a | b |")
    };
    check_formats("change-review", &Request::Change(request));
}

/// A run in progress, with paths and texts that need care.
fn run() -> WorkflowRequest {
    WorkflowRequest {
        roots: roots(),
        intent: Some(Intent::Continue),
        current_node_id: Some("decide-02".to_owned()),
        steps_completed: vec!["step-01-intake".to_owned()],
        variables: object(serde_json::json!({
            "projectType": "greenfield",
            "readme": "/home/me/shop/README.md",
            "log": "/var/log/app.log says \"a < b\"",
            "names": ["Zoë", "山田"],
        })),
        artifacts: vec!["artifacts/intake.md".to_owned()],
        node_brief: Some(decision()),
        effective_agent_id: Some("pm".to_owned()),
        is_autopilot: true,
        user_input: Some("New.\r\n```\nRUN_DIRECTIVE\n```\nSee /home/me/shop/docs <here> & there".to_owned()),
        data_context: Some(DataContext {
            n_cut_bytes: 0,
            label: "Style".to_owned(),
            path: "/home/me/.aiwf/packages/hello/data/style.md".to_owned(),
            preview: "# Style\n\nKeep /etc/hosts & </tags> as they are.".to_owned(),
        }),
        ..workflow(Mode::Run)
    }
}

#[test]
fn workflow_prompts_per_format_and_capability() {
    check_formats("workflow-run", &Request::Workflow(Box::new(run())));
}

#[test]
fn workflow_prompts_per_mode() {
    let capability = Capability { supports_system_prompt: true, ..PLAIN };
    for (name, mode, is_completed) in
        [("run-completed", Mode::Run, true), ("agent", Mode::Agent, false), ("chat", Mode::Chat, false)]
    {
        let request = Request::Workflow(Box::new(WorkflowRequest { mode, is_completed, ..run() }));
        let name = file_name(&format!("workflow-{name}"), Format::Messages, true);
        check(&name, &request, Format::Messages, capability);
    }
}

/// The messages of a turn as the engine uses them, one file for each situation of a conversation.
#[test]
fn composed_messages_per_mode() {
    let said = |text: &str| Some(text.to_owned());
    let turns = [
        ("run-start", workflow(Mode::Run)),
        ("run-continue", WorkflowRequest { data_context: None, ..run() }),
        (
            "run-without-tools-of-its-own",
            WorkflowRequest { tools: vec![search_tool()], ..workflow(Mode::Run) },
        ),
        ("run-completed", WorkflowRequest { is_completed: true, ..run() }),
        ("agent", WorkflowRequest { user_input: said("Who are you?"), ..workflow(Mode::Agent) }),
        ("chat", WorkflowRequest { user_input: said("What is in the project?"), ..workflow(Mode::Chat) }),
    ];
    for (name, request) in turns {
        let messages = PromptComposer::compose(&request).unwrap();
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("compose-{name}"), shown(&messages));
        });
    }
}

#[test]
fn reply_prompts_per_mode_format_and_capability() {
    for mode in ReplyMode::ALL {
        let request = ReplyRequest {
            ai_message: Text::from("Done:\r\n\r\n```rust\nfn a() -> Option<&'static str> { None }\n```\n"),
            user_context: Some(Text::from("Bitte auf Deutsch – kurz & klar.")),
            tool_results: Some(Text::from("- search: SUCCESS\n  <hit>a ]]> b</hit>\n````\n")),
            tools: vec![
                search_tool(),
                ToolSchema {
                    name: "files__read".to_owned(),
                    description: Some("Reads a file.\n\n## Not a heading".to_owned()),
                    input_schema: None,
                },
            ],
            ..full_reply(mode)
        };
        check_formats(&format!("reply-{}", mode.as_str()), &Request::Reply(request));
    }
}
