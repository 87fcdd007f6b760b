//! Files that a tool runs or obeys without being asked: on push, on commit, on `cd`, when a directory is opened.
//!
//! In: the path of a file about to be written. Out: the tool, so that the gate and the diff can name it. Files that
//! only take effect when someone runs them (a `Makefile`, the scripts of a `package.json`) do not count.

use crate::name::folded;

/// Lower-case paths and their tool. A trailing `/` means a directory and everything below it. Both match at any depth,
/// because a project may contain another repository.
const TABLE: &[(&str, &str)] = &[
    // On push.
    (".github/workflows/", "GitHub Actions"),
    (".github/actions/", "GitHub Actions"),
    (".gitea/workflows/", "Gitea Actions"),
    (".forgejo/workflows/", "Forgejo Actions"),
    (".gitlab-ci.yml", "GitLab CI"),
    (".gitlab/ci/", "GitLab CI"),
    (".circleci/", "CircleCI"),
    (".buildkite/", "Buildkite"),
    (".semaphore/", "Semaphore"),
    (".teamcity/", "TeamCity"),
    (".woodpecker/", "Woodpecker CI"),
    (".woodpecker.yml", "Woodpecker CI"),
    (".woodpecker.yaml", "Woodpecker CI"),
    (".drone.yml", "Drone CI"),
    (".travis.yml", "Travis CI"),
    (".cirrus.yml", "Cirrus CI"),
    (".appveyor.yml", "AppVeyor"),
    ("appveyor.yml", "AppVeyor"),
    ("azure-pipelines.yml", "Azure Pipelines"),
    ("bitbucket-pipelines.yml", "Bitbucket Pipelines"),
    ("buildspec.yml", "AWS CodeBuild"),
    ("cloudbuild.yaml", "Google Cloud Build"),
    ("jenkinsfile", "Jenkins"),
    // On commit and other git commands.
    (".husky/", "Husky git hooks"),
    (".githooks/", "git hooks"),
    (".git-hooks/", "git hooks"),
    (".lefthook/", "Lefthook git hooks"),
    ("lefthook.yml", "Lefthook git hooks"),
    ("lefthook.yaml", "Lefthook git hooks"),
    (".lefthook.yml", "Lefthook git hooks"),
    (".pre-commit-config.yaml", "pre-commit git hooks"),
    (".pre-commit-config.yml", "pre-commit git hooks"),
    (".overcommit.yml", "Overcommit git hooks"),
    (".simple-git-hooks.json", "simple-git-hooks"),
    (".simple-git-hooks.js", "simple-git-hooks"),
    (".simple-git-hooks.cjs", "simple-git-hooks"),
    // On entering the directory.
    (".envrc", "direnv"),
    ("mise.toml", "mise"),
    (".mise.toml", "mise"),
    // On opening the directory in an editor or an agent.
    (".vscode/tasks.json", "VS Code"),
    (".vscode/settings.json", "VS Code"),
    (".vscode/mcp.json", "VS Code"),
    (".idea/", "JetBrains IDEs"),
    (".zed/settings.json", "Zed"),
    (".devcontainer/", "Dev Containers"),
    (".devcontainer.json", "Dev Containers"),
    (".gitpod.yml", "Gitpod"),
    (".exrc", "Vim"),
    (".nvimrc", "Neovim"),
    (".nvim.lua", "Neovim"),
    (".dir-locals.el", "Emacs"),
    (".mcp.json", "MCP clients"),
    (".claude/settings.json", "Claude Code"),
    (".claude/settings.local.json", "Claude Code"),
    (".claude/hooks/", "Claude Code"),
    (".codex/", "Codex"),
    (".gemini/settings.json", "Gemini CLI"),
    (".cursor/mcp.json", "Cursor"),
    (".cursor/hooks.json", "Cursor"),
    // On every command of a build tool or package manager.
    (".cargo/config", "Cargo"),
    (".cargo/config.toml", "Cargo"),
    ("build.rs", "Cargo and Rust editors"),
    (".npmrc", "npm"),
    (".yarnrc.yml", "Yarn"),
    (".pnpmfile.cjs", "pnpm"),
    (".mvn/", "Maven"),
    ("sitecustomize.py", "Python"),
];

/// The tool that runs or obeys a file by itself; `None` for an ordinary file.
///
/// `path` is relative, with `/` between directories. Case and invisible characters are ignored, because a file system
/// may ignore them too.
pub fn run_by(path: &str) -> Option<&'static str> {
    let parts: Vec<String> = path.split('/').map(folded).collect();
    TABLE.iter().find(|(pattern, _)| is_match(&parts, pattern)).map(|(_, tool)| *tool)
}

fn is_match(parts: &[String], pattern: &str) -> bool {
    let is_directory = pattern.ends_with('/');
    let wanted: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let is_at = |start: usize, window: &[String]| {
        let is_last = start + window.len() == parts.len();
        is_last != is_directory && window.iter().zip(&wanted).all(|(part, wanted)| part == wanted)
    };
    // A Rust crate may have a module named `build` in `src/`.
    let is_module = pattern == "build.rs" && parts.iter().rev().nth(1).is_some_and(|above| above == "src");
    !is_module && parts.windows(wanted.len()).enumerate().any(|(start, window)| is_at(start, window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_tools_run_by_themselves_are_known_in_any_case_and_at_any_depth() {
        for (path, tool) in [
            (".github/workflows/ci.yml", "GitHub Actions"),
            ("services/shop/.GitHub/Workflows/deploy.yaml", "GitHub Actions"),
            (".envrc", "direnv"),
            ("tools/.ENVRC", "direnv"),
            (".vscode/tasks.json", "VS Code"),
            (".husky/pre-commit", "Husky git hooks"),
            (".githooks/post-checkout", "git hooks"),
            ("lefthook.yml", "Lefthook git hooks"),
            (".pre-commit-config.yaml", "pre-commit git hooks"),
            ("Jenkinsfile", "Jenkins"),
            (".cargo/config.toml", "Cargo"),
            ("crates/a/build.rs", "Cargo and Rust editors"),
            (".claude/hooks/a/b.sh", "Claude Code"),
        ] {
            assert_eq!(run_by(path), Some(tool), "{path}");
        }
    }

    #[test]
    fn files_that_run_only_on_demand_are_ordinary() {
        for path in [
            ".gitignore",
            ".editorconfig",
            ".env",
            ".github/CODEOWNERS",
            ".github/workflows",
            ".vscode/extensions.json",
            "Makefile",
            "package.json",
            "src/build.rs",
            "docs/envrc.md",
            "workflows/ci.yml",
        ] {
            assert_eq!(run_by(path), None, "{path}");
        }
    }

    /// The book contains the whole table between two marks; `AIWF_BOOK=write` updates it.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads a page of the book, and writes it when asked to")]
    fn the_book_has_the_table() {
        const MARKS: [&str; 2] = ["<!-- run_by -->\n\n", "<!-- /run_by -->\n"];
        let mut tools: Vec<(&str, Vec<String>)> = Vec::new();
        for (pattern, tool) in TABLE {
            let path = format!("`{pattern}`");
            match tools.iter_mut().find(|(known, _)| known == tool) {
                Some((_, paths)) => paths.push(path),
                None => tools.push((tool, vec![path])),
            }
        }
        let rows: Vec<String> =
            tools.iter().map(|(tool, paths)| format!("| {tool} | {} |\n", paths.join(", "))).collect();
        let table = format!("| tool | files and directories |\n|---|---|\n{}\n", rows.concat());
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/security.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (before, rest) = page.split_once(MARKS[0]).unwrap();
        let (_, after) = rest.split_once(MARKS[1]).unwrap();
        let wanted = [before, MARKS[0], &table, MARKS[1], after].concat();
        if std::env::var_os("AIWF_BOOK").is_some_and(|word| word == "write") {
            std::fs::write(path, &wanted).unwrap();
        } else {
            assert!(
                page == wanted,
                "`AIWF_BOOK=write cargo nextest run the_book_has_the_table` updates the page"
            );
        }
    }

    #[test]
    fn patterns_are_already_folded() {
        for (pattern, _) in TABLE {
            assert!(pattern.split('/').all(|part| folded(part) == part), "{pattern}");
        }
    }
}
