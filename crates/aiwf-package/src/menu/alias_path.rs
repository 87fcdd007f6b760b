//! Paths in menus, and the files of the package behind them.
//!
//! A path never reveals the location of a package or project. Files of the package are already loaded; those of the
//! project and of a run are identified by alias, and read by callers with access to them.

use serde::de::IgnoredAny;

use super::menu_error::MenuError;
use crate::files::Files;
use crate::schema::short;

/// Maximum size of a file preview in a command, in bytes.
pub const MAX_PREVIEW_BYTES: usize = 4096;

/// The roots of paths, in the syntax of menus and in ours.
const TEMPLATES: [(&str, &str); 4] = [
    ("{project-root}", "@project"),
    ("{artifacts-root}", "@project/artifacts"),
    ("{package-root}", "@pkg"),
    ("{state-root}", "@state"),
];

/// The format of a data file, by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    Json,
    /// `.yaml` or `.yml`.
    Yaml,
    Csv,
    Xml,
    Text,
}

impl DataFormat {
    fn of(path: &str) -> Self {
        match extension(path).as_deref() {
            Some("json") => Self::Json,
            Some("yaml" | "yml") => Self::Yaml,
            Some("csv") => Self::Csv,
            Some("xml") => Self::Xml,
            _ => Self::Text,
        }
    }
}

/// A data file of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuData {
    pub label: String,
    /// The file, by alias: `@pkg/…`, `@project/…` or `@state/…`.
    pub path: String,
    pub format: DataFormat,
    /// The beginning of the file; `None` if it is outside the package and must be read first.
    pub preview: Option<String>,
    /// Number of bytes that the preview omits.
    pub n_cut_bytes: u64,
}

/// The root of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mount {
    Project,
    Package,
    State,
}

/// A path without `.` and `..`, below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AliasPath {
    pub(super) mount: Mount,
    pub(super) relative: String,
}

impl AliasPath {
    /// The path as shown to users and models.
    pub(super) fn shown(&self) -> String {
        let mount = match self.mount {
            Mount::Project => "@project",
            Mount::Package => "@pkg",
            Mount::State => "@state",
        };
        if self.relative.is_empty() { mount.to_owned() } else { format!("{mount}/{}", self.relative) }
    }

    /// The name of the file.
    pub(super) fn name(&self) -> &str {
        self.relative.rsplit('/').next().unwrap_or(&self.relative)
    }

    /// The text of a file of the package; `None` for a file outside the package.
    pub(super) fn text<'a>(&self, files: &'a Files) -> Result<Option<&'a str>, MenuError> {
        let not_loaded =
            |reason: &str| MenuError::NotLoaded { path: short(&self.shown()), reason: reason.to_owned() };
        if self.relative.is_empty() {
            return Err(not_loaded("it is not a file"));
        }
        match self.mount {
            Mount::Project | Mount::State => Ok(None),
            Mount::Package => {
                let bytes =
                    files.get(&self.relative).ok_or_else(|| not_loaded("it is not in the package"))?;
                let text = std::str::from_utf8(bytes).map_err(|error| {
                    not_loaded(&format!("it is not UTF-8 text: byte {} is wrong", error.valid_up_to()))
                })?;
                Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(text)))
            }
        }
    }
}

/// The path in a menu, with its root.
///
/// Without a root, `artifacts/` belongs to the project and everything else to the package. `..` is refused even where
/// it would stay inside, because no menu needs it.
pub(super) fn alias_path(written: &str) -> Result<AliasPath, MenuError> {
    let denied = |reason| MenuError::Denied { path: short(written), reason };
    let path = expand(written.trim()).replace('\\', "/");
    if path.contains('\0') {
        return Err(denied("contains a NUL"));
    }
    let is_drive =
        path.as_bytes().get(1) == Some(&b':') && path.starts_with(|c: char| c.is_ascii_alphabetic());
    if path.starts_with(['/', '~']) || is_drive {
        return Err(denied("is absolute"));
    }
    let (mount, rest) = if path.starts_with('@') {
        let (root, rest) = path.split_once('/').unwrap_or((path.as_str(), ""));
        let mount = match root {
            "@project" => Mount::Project,
            "@pkg" => Mount::Package,
            "@state" => Mount::State,
            _ => return Err(denied("starts with an unknown root")),
        };
        (mount, rest)
    } else {
        (Mount::Package, path.as_str())
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(denied("contains `..`"));
    }
    let is_artifact = !path.starts_with('@') && parts.first() == Some(&"artifacts");
    Ok(AliasPath { mount: if is_artifact { Mount::Project } else { mount }, relative: parts.join("/") })
}

/// A text with every root in our syntax.
pub(super) fn expand(text: &str) -> String {
    TEMPLATES.iter().fold(text.to_owned(), |text, (template, alias)| text.replace(template, alias))
}

/// The extension of a path, in lower case.
pub(super) fn extension(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase())
}

/// The data file of an item: read if it is in the package, otherwise only named.
pub(crate) fn data(files: &Files, written: &str) -> Result<MenuData, MenuError> {
    let path = alias_path(written)?;
    let format = DataFormat::of(&path.relative);
    let text = path.text(files)?;
    if let (DataFormat::Json, Some(text)) = (format, text)
        && let Err(error) = serde_json::from_str::<IgnoredAny>(text)
    {
        let reason = format!("it is not JSON: {error}");
        return Err(MenuError::NotLoaded { path: short(&path.shown()), reason });
    }
    let cut = text.map(|text| text.get(..text.floor_char_boundary(MAX_PREVIEW_BYTES)).unwrap_or(text));
    Ok(MenuData {
        label: path.name().to_owned(),
        path: path.shown(),
        format,
        n_cut_bytes: text.map_or(0, str::len).saturating_sub(cut.map_or(0, str::len)) as u64,
        preview: cut.map(str::to_owned),
    })
}
