//! The language tag of a fence, by file name.

/// Extensions and tags, in any order.
const LANGUAGES: &[(&str, &str)] = &[
    ("java", "java"),
    ("py", "python"),
    ("js", "javascript"),
    ("ts", "typescript"),
    ("md", "markdown"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("json", "json"),
    ("xml", "xml"),
    ("sql", "sql"),
    ("rs", "rust"),
    ("go", "go"),
    ("kt", "kotlin"),
    ("kts", "kotlin"),
    ("c", "c"),
    ("h", "c"),
    ("cpp", "cpp"),
    ("cc", "cpp"),
    ("cxx", "cpp"),
    ("hpp", "cpp"),
    ("cs", "csharp"),
    ("rb", "ruby"),
    ("php", "php"),
    ("swift", "swift"),
    ("sh", "bash"),
    ("bash", "bash"),
    ("html", "html"),
    ("htm", "html"),
    ("css", "css"),
    ("scss", "scss"),
    ("toml", "toml"),
    ("tsx", "tsx"),
    ("jsx", "jsx"),
    ("mjs", "javascript"),
    ("cjs", "javascript"),
    ("vue", "vue"),
    ("svelte", "svelte"),
    ("scala", "scala"),
    ("groovy", "groovy"),
    ("gradle", "groovy"),
    ("lua", "lua"),
    ("pl", "perl"),
    ("r", "r"),
    ("dart", "dart"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("erl", "erlang"),
    ("hs", "haskell"),
    ("ml", "ocaml"),
    ("clj", "clojure"),
    ("zig", "zig"),
    ("proto", "protobuf"),
    ("graphql", "graphql"),
    ("tf", "hcl"),
    ("ini", "ini"),
    ("properties", "properties"),
    ("ps1", "powershell"),
    ("bat", "batch"),
    ("diff", "diff"),
    ("patch", "diff"),
    ("jinja", "jinja"),
];

/// The language tag for a path; empty if the extension is unknown.
pub(crate) fn language_of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "Dockerfile" => return "dockerfile",
        "Makefile" => return "makefile",
        _ => {}
    }
    let Some((stem, extension)) = name.rsplit_once('.') else { return "" };
    if stem.is_empty() {
        return "";
    }
    LANGUAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map_or("", |(_, tag)| tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_supported_extensions() {
        for (extension, tag) in [
            ("java", "java"),
            ("py", "python"),
            ("js", "javascript"),
            ("ts", "typescript"),
            ("md", "markdown"),
            ("yaml", "yaml"),
            ("yml", "yaml"),
            ("json", "json"),
            ("xml", "xml"),
            ("sql", "sql"),
            ("rs", "rust"),
            ("go", "go"),
            ("kt", "kotlin"),
            ("c", "c"),
            ("h", "c"),
            ("cpp", "cpp"),
            ("cs", "csharp"),
            ("rb", "ruby"),
            ("php", "php"),
            ("swift", "swift"),
            ("sh", "bash"),
            ("html", "html"),
            ("css", "css"),
            ("toml", "toml"),
            ("tsx", "tsx"),
            ("jsx", "jsx"),
        ] {
            assert_eq!(language_of(&format!("dir.d/file.{extension}")), tag);
        }
    }

    #[test]
    fn unknown_extension_no_language() {
        assert_eq!(language_of("config.xyz"), "");
        assert_eq!(language_of("LICENSE"), "");
        assert_eq!(language_of(".md"), "");
    }

    #[test]
    fn the_case_of_an_extension_does_not_matter() {
        assert_eq!(language_of("A.JAVA"), "java");
    }
}
