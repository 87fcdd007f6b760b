//! Names of branches.

/// The longest slug, in characters.
const MAX_CHARS: usize = 50;

/// The branch for a title when the user gives none.
pub fn default_branch(title: &str) -> String {
    format!("aiwf/{}", branch_slug(title))
}

/// A title as part of a branch name: its letters and digits in lower case, words joined by `-`.
pub fn branch_slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    let mut n_chars = 0;
    for word in words {
        let word: String = word.chars().flat_map(char::to_lowercase).collect();
        let n = word.chars().count();
        if slug.is_empty() {
            slug.extend(word.chars().take(MAX_CHARS));
            n_chars = n.min(MAX_CHARS);
        } else if n_chars + 1 + n <= MAX_CHARS {
            slug.push('-');
            slug.push_str(&word);
            n_chars += 1 + n;
        } else {
            break;
        }
    }
    if slug.is_empty() { "change".to_owned() } else { slug }
}
