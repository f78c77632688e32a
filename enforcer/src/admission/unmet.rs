//! What the language says and no host carries out yet: what happens instead, and what to write.

use artifact::rule::{Lowering, Need, Origin, RuleRecord};
use artifact::{Artifact, Keep, Workspace, WorkspaceMode};

use super::Reason;
use crate::capabilities::Capabilities;

/// What to write when every other way is closed.
const PERMIT: &str = "write `permit degraded` on the rule to run all the same";

/// What a rule does where this is missing and the rule permits degradation.
pub(super) fn instead(lowering: &Lowering, capabilities: &Capabilities) -> Option<&'static str> {
    let unmet = |need: &&Need| capabilities.satisfies(**need).is_err();
    lowering.needs.iter().filter(unmet).find_map(|need| match need {
        Need::Approvals => Some("it refuses"),
        Need::HostNames => Some("what it says of names has no effect"),
        Need::Hide => Some("the names are seen, and every access to them is refused"),
        Need::Broker => Some("the credential is absent"),
        _ => None,
    })
}

/// What to write in place of a rule that is not enforced.
pub(super) fn help(rule: &RuleRecord, capabilities: &Capabilities) -> &'static str {
    let unmet = |need: &&Need| capabilities.satisfies(**need).is_err();
    let needs = rule.lowering.iter().flat_map(|lowering| &lowering.needs);
    needs
        .filter(unmet)
        .find_map(|need| match need {
            Need::Approvals => {
                Some("write `allow` or `deny`, or `permit degraded` on the rule to have it refused")
            }
            Need::HostNames => {
                Some("write addresses, or `permit degraded` on the rule to run without what it says of names")
            }
            Need::Hide => Some("write `deny`, or `permit degraded` on the rule to have it denied"),
            Need::Broker => Some(
                "write `pass` if the run may read it, or `permit degraded` on the rule to run without it",
            ),
            _ => None,
        })
        .unwrap_or(PERMIT)
}

/// Statements that are no rules, and that this host cannot carry out.
pub(super) fn statements(artifact: &Artifact, capabilities: &Capabilities) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut refuse = |need, place: String, statement: String, help| {
        if let Err(missing) = capabilities.satisfies(need) {
            reasons.push(Reason::Statement {
                place,
                statement,
                missing,
                help,
            });
        }
    };
    if let Some(workspace) = &artifact.workspace {
        let place = match &workspace.origin {
            Origin::BuiltIn => String::new(),
            Origin::Policy { file, line, .. } => format!("{file}:{line}: "),
        };
        for statement in copies(workspace) {
            let help = "remove it: the run then works on the files that `filesystem` grants";
            refuse(Need::Workspace, place.clone(), statement, help);
        }
    }
    for (recorded, statement) in [
        (artifact.record.read, "record read"),
        (artifact.record.write, "record write"),
    ] {
        if recorded {
            let help = "remove it: refused accesses are recorded in any case";
            refuse(Need::FileAccessRecords, String::new(), statement.to_owned(), help);
        }
    }
    reasons
}

/// What of a workspace is more than working in place.
fn copies(workspace: &Workspace) -> Vec<String> {
    let mut statements = Vec::new();
    if let Some(from) = &workspace.from {
        statements.push(format!("from \"{from}\""));
    }
    if workspace.mode == WorkspaceMode::Ephemeral {
        statements.push("mode ephemeral".to_owned());
    }
    match &workspace.keep {
        Keep::Review => {}
        Keep::None => statements.push("keep none".to_owned()),
        Keep::All => statements.push("keep all".to_owned()),
        Keep::Matching(globs) => statements.push(format!("keep \"{}\"", globs.join("\", \""))),
    }
    statements
}
