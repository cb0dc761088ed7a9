//! Files that decide what runs next time. Nothing writes them without being asked, in any mode.

use std::path::Path;

use falconer_rule::Place;

/// Directories whose contents are protected, wherever they are.
const DIRECTORIES: &[&str] = &[
    ".claude",
    ".config/fish",
    ".config/git",
    ".devcontainer",
    ".git",
    ".gnupg",
    ".husky",
    ".idea",
    ".ssh",
    ".vscode",
];

/// Files that are protected, wherever they are.
const FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".claude.json",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".inputrc",
    ".mcp.json",
    ".npmrc",
    ".pam_environment",
    ".profile",
    ".pypirc",
    ".ripgreprc",
    ".xinitrc",
    ".xprofile",
    ".xsessionrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    ".netrc",
    ".wgetrc",
    ".curlrc",
];

/// Whether writing there needs a question whatever the rules say.
pub(crate) fn is_protected(place: &Place) -> bool {
    !place.is_clear || place.names().any(is_protected_path)
}

fn is_protected_path(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .map(|name| plain(&name.as_os_str().to_string_lossy()))
        .collect();
    let is_file = names.iter().any(|name| FILES.contains(&name.as_str()));
    is_file
        || DIRECTORIES.iter().any(|directory| {
            let directory: Vec<&str> = directory.split('/').collect();
            names.windows(directory.len()).any(|window| {
                window
                    .iter()
                    .zip(&directory)
                    .all(|(name, part)| name == part)
            })
        })
}

/// Small letters, and without what some disks ignore at the end of a name.
fn plain(name: &str) -> String {
    name.trim_end_matches(['.', ' ']).to_lowercase()
}

/// Whether a text that could not be taken apart mentions such a file.
pub(crate) fn mentions_protected(text: &str) -> bool {
    let text = text.to_lowercase();
    let names = DIRECTORIES.iter().chain(FILES);
    names.into_iter().any(|name| text.contains(name))
}
