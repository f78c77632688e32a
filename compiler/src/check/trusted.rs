//! Files that somebody executes or obeys later, outside the run, and that the run can write.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{FileAccess, Keep, WorkspaceMode};
use policy_lang::source::Span;

use super::context::{Grant, some_of};
use super::{Context, workspace};

/// Executed without anybody looking at them first: what to ask about, and what it is called.
const EXECUTED: &[(&str, &str)] = &[
    (".git/hooks/pre-commit", ".git/hooks"),
    (".git/config", ".git/config"),
    (".husky/pre-commit", ".husky"),
    (".envrc", ".envrc"),
    (".vscode/tasks.json", ".vscode"),
    (".idea/workspace.xml", ".idea"),
];

/// Obeyed by other agents and by CI. A review shows them, if there is one.
const OBEYED: &[(&str, &str)] = &[
    (".github/workflows/ci.yml", ".github/workflows"),
    (".gitlab-ci.yml", ".gitlab-ci.yml"),
    (".circleci/config.yml", ".circleci"),
    ("CLAUDE.md", "CLAUDE.md"),
    ("AGENTS.md", "AGENTS.md"),
    ("GEMINI.md", "GEMINI.md"),
    (".claude/settings.json", ".claude"),
    (".cursor/rules/a.mdc", ".cursor"),
    (".mcp.json", ".mcp.json"),
];

/// Read by each shell and each login.
const AT_HOME: &[(&str, &str)] = &[
    (".bashrc", "~/.bashrc"),
    (".profile", "~/.profile"),
    (".zshrc", "~/.zshrc"),
    (".ssh/authorized_keys", "~/.ssh/authorized_keys"),
    (".gitconfig", "~/.gitconfig"),
    (".config/autostart/a.desktop", "~/.config/autostart"),
    (".config/systemd/user/a.service", "~/.config/systemd"),
    (".config/fish/config.fish", "~/.config/fish"),
    (".local/bin/git", "~/.local/bin"),
    (".claude/CLAUDE.md", "~/.claude"),
];

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for grant in workspace::all(context) {
        found.extend(in_a_checkout(context, &grant));
    }
    for grant in context.grants() {
        if !grant.accesses.contains(&FileAccess::Write) {
            continue;
        }
        let written = |(path, shown): &(&str, &'static str)| {
            let rule = context.granted_file(FileAccess::Write, &context.at_home(path))?;
            let here = grant.target.covers(&context.at_home(path)) && rule.id == grant.rule.id;
            here.then_some(*shown)
        };
        let names: Vec<&str> = AT_HOME.iter().filter_map(written).collect();
        if !names.is_empty() {
            found.push(context.target(grant.rule, grant.index).found(|span| {
                Diagnostic::warning(
                    Code::TrustedFilesWritable,
                    span,
                    format!("the run can change what shells and logins run: {}", some_of(&names)),
                )
                .label("what it writes there, its user executes outside the run")
                .help("grant the directories that the task needs, not the home directory; or `forbid write` on these")
            }));
        }
    }
}

fn in_a_checkout(context: &Context<'_>, grant: &Grant<'_>) -> Option<Diagnostic> {
    let root = grant.literal()?.trim_end_matches('/');
    let writable = |list: &[(&str, &'static str)]| -> Vec<&'static str> {
        list.iter()
            .filter(|(path, _)| {
                context
                    .granted_file(FileAccess::Write, &format!("{root}/{path}"))
                    .is_some()
            })
            .map(|(_, shown)| *shown)
            .collect()
    };
    let executed = writable(EXECUTED);
    let obeyed = writable(OBEYED);
    let names: Vec<&str> = executed.iter().chain(&obeyed).copied().collect();
    if names.is_empty() {
        return None;
    }
    // In a copy whose changes a person looks at, nothing of this reaches anybody by itself.
    let reviewed = context.policy.workspace.as_ref().is_some_and(|workspace| {
        workspace.mode == WorkspaceMode::Ephemeral && matches!(workspace.keep, Keep::None | Keep::Review)
    });
    let message = format!(
        "the run can write files that others execute or obey later: {}",
        some_of(&names)
    );
    let target = context.written_target(grant);
    let finding = context.target(grant.rule, grant.index).found(|span| {
        let finding = if executed.is_empty() || reviewed {
            Diagnostic::remark(Code::TrustedFilesWritable, span, message)
        } else {
            Diagnostic::warning(Code::TrustedFilesWritable, span, message)
        };
        finding.label("what it leaves there acts outside the run")
    });
    let refused: Vec<String> = names.iter().map(|name| format!("\"{target}/{name}\"")).collect();
    let rule = format!(
        "forbid write {} if present because \"what others run is not the run's to write\"",
        refused.join(", ")
    );
    let finding = finding.help("refuse writing those that the task does not need; a path that does not exist yet can still be made where its directory is writable, so prefer `mode ephemeral` with `keep review`");
    Some(match context.places.statement(&grant.rule.origin) {
        Some(statement) if grant.rule.via.is_none() => {
            let end = statement.span.end;
            finding.suggest(Span::new(end, end), format!("\n        {rule}"))
        }
        _ => finding,
    })
}
