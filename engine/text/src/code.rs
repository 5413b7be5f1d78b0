//! Owns which files are program code by their name. It opens none.

/// Extensions of code, in order.
const EXTENSIONS: &[&str] = &[
    "asm", "bash", "bat", "c", "cc", "cfg", "clj", "cmake", "cpp", "cs", "css", "cxx", "dart", "ex", "exs",
    "fish", "go", "gradle", "h", "hcl", "hh", "hpp", "hs", "html", "ini", "java", "jl", "js", "json", "jsx",
    "kt", "kts", "less", "lua", "m", "mjs", "ml", "mm", "nim", "php", "pl", "pm", "proto", "ps1", "py",
    "pyi", "r", "rb", "rs", "sass", "scala", "scss", "sh", "sql", "svelte", "swift", "tf", "toml", "ts",
    "tsx", "vb", "vue", "xml", "yaml", "yml", "zig", "zsh",
];

/// Whole names of code files, in order.
const NAMES: &[&str] = &[
    "build",
    "cmakelists.txt",
    "containerfile",
    "dockerfile",
    "gemfile",
    "gnumakefile",
    "jenkinsfile",
    "justfile",
    "makefile",
    "procfile",
    "rakefile",
    "vagrantfile",
    "workspace",
];

/// Whether a file's name, with or without the folders before it, is that of program code or configuration.
#[must_use]
pub fn is_code_file(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
    if NAMES.binary_search(&name.as_str()).is_ok() {
        return true;
    }
    // A hidden file has no extension: ".sh" is a name.
    match name.rsplit_once('.') {
        Some((stem, extension)) => !stem.is_empty() && EXTENSIONS.binary_search(&extension).is_ok(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_order() {
        assert!(EXTENSIONS.is_sorted() && NAMES.is_sorted());
    }

    #[test]
    fn code_is_told_by_extension_or_name() {
        for name in ["main.rs", "src/lib.RS", "a\\b\\x.py", "Dockerfile", "CMakeLists.txt", "config.yaml"] {
            assert!(is_code_file(name), "{name}");
        }
        for name in ["notes.md", "rs", ".sh", "readme", "a.txt", "", "talk.rs.txt", "dir.rs/notes"] {
            assert!(!is_code_file(name), "{name}");
        }
    }
}
