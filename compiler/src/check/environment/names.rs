//! Names and values that are known to be secrets.

/// Variables in which long-lived secrets usually lie.
pub(super) const SECRETS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "ANTHROPIC_API_KEY",
    "AZURE_CLIENT_SECRET",
    "CARGO_REGISTRY_TOKEN",
    "DATABASE_URL",
    "DOCKER_AUTH_CONFIG",
    "GEMINI_API_KEY",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HF_TOKEN",
    "KUBECONFIG",
    "NODE_AUTH_TOKEN",
    "NPM_TOKEN",
    "OPENAI_API_KEY",
    "PGPASSWORD",
    "SENTRY_AUTH_TOKEN",
    "SLACK_BOT_TOKEN",
    "SSH_AUTH_SOCK",
    "STRIPE_SECRET_KEY",
    "TWINE_PASSWORD",
    "VAULT_TOKEN",
];

/// How names of other secrets end.
const ENDINGS: &[&str] = &[
    "_TOKEN",
    "_API_KEY",
    "_APIKEY",
    "_SECRET",
    "_SECRET_KEY",
    "_ACCESS_KEY",
    "_PRIVATE_KEY",
    "_PASSWORD",
    "_PASSWD",
    "_CREDENTIALS",
    "_PAT",
];

/// Variables that name code.
pub(super) const LOADERS: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH_COMMAND",
    "JAVA_TOOL_OPTIONS",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYOPT",
    "RUSTC_WRAPPER",
];

/// How tokens of well-known issuers begin.
const TOKENS: &[&str] = &[
    "AKIA",
    "AIza",
    "ASIA",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pypi-",
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "xoxb-",
    "xoxp-",
    "-----BEGIN",
];

pub(super) fn is_secret(name: &str) -> bool {
    SECRETS.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

pub(super) fn looks_like_a_token(value: &str) -> bool {
    value.len() >= 16 && TOKENS.iter().any(|beginning| value.starts_with(beginning))
}

/// Whether a value may be one at all: not a path, a switch or nothing.
pub(super) fn could_be_one(value: &str) -> bool {
    let switch = ["", "0", "1", "true", "false", "none", "dummy", "unset"].contains(&value);
    !switch && !value.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_by_their_endings() {
        for name in ["AWS_SECRET_ACCESS_KEY", "MY_TOKEN", "X_API_KEY", "DB_PASSWORD"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "TOKENIZERS_PARALLELISM", "KEYBOARD", "HOME", "TOKEN_FILE"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn values_are_told_by_their_beginnings() {
        assert!(looks_like_a_token("ghp_0123456789abcdef"));
        assert!(!looks_like_a_token("eyJ"));
        assert!(!could_be_one("/run/secrets/token"));
        assert!(!could_be_one("true"));
    }
}
