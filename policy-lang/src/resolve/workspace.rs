//! `workspace`: where a run works, and what becomes of its changes.

use super::layer::Facts;
use super::{Place, Resolver};
use crate::ast::{Item, KeepClause, Text, WorkspaceStatement};
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::PathPattern;
use crate::policy::{Keep, Workspace, WorkspaceMode};

/// What a layer says, with places. What it does not say, its ceilings do.
#[derive(Debug, Default)]
pub(super) struct SaidWorkspace {
    /// The first block.
    at: Option<Place>,
    from: Option<(Place, Option<String>)>,
    mode: Option<(Place, Option<WorkspaceMode>)>,
    keep: Option<(Place, Option<Keep>)>,
}

impl SaidWorkspace {
    fn mode(&self) -> Option<WorkspaceMode> {
        self.mode.as_ref().and_then(|(_, mode)| *mode)
    }

    fn keep(&self) -> Option<&Keep> {
        self.keep.as_ref().and_then(|(_, keep)| keep.as_ref())
    }
}

impl Resolver<'_> {
    /// What the `workspace` blocks say together.
    pub(super) fn workspace(&mut self, items: &[Item]) -> SaidWorkspace {
        let mut said = SaidWorkspace::default();
        for item in items {
            let Item::Workspace(block, statements) = item else {
                continue;
            };
            let here = self.here(*block);
            said.at.get_or_insert(here);
            for statement in statements {
                match statement {
                    WorkspaceStatement::From(span, text) => {
                        let found = self.literal_path(text, "a workspace");
                        let at = self.here(*span);
                        self.once(
                            &mut said.from,
                            at,
                            found,
                            "a workspace is made from one directory",
                        );
                    }
                    WorkspaceStatement::Mode(span, word) => {
                        let at = self.here(*span);
                        self.once(&mut said.mode, at, Some(*word), "a workspace has one mode");
                    }
                    WorkspaceStatement::Keep(span, clause) => {
                        let found = self.keep(clause);
                        let at = self.here(*span);
                        self.once(&mut said.keep, at, found, "`keep` is said already");
                    }
                }
            }
        }
        said
    }

    /// What all layers say together: what the innermost says, where no ceiling is stricter.
    pub(super) fn joined_workspace(&mut self, layers: &[Facts]) -> Option<Workspace> {
        let (inner, ceilings) = layers.split_first()?;
        let at = layers.iter().find_map(|layer| layer.workspace.at)?;
        let said = layers.iter().map(|layer| &layer.workspace);
        let ephemeral = ceilings
            .iter()
            .any(|ceiling| ceiling.workspace.mode() == Some(WorkspaceMode::Ephemeral));
        let unsaid = if ephemeral {
            WorkspaceMode::Ephemeral
        } else {
            WorkspaceMode::InPlace
        };
        let mode = inner.workspace.mode().unwrap_or(unsaid);
        let strictest = ceilings.iter().filter_map(|ceiling| ceiling.workspace.keep());
        let strictest = strictest.min_by_key(|keep| laxity(keep));
        let keep = inner.workspace.keep().or(strictest).cloned().unwrap_or_default();
        let workspace = Workspace {
            from: said
                .filter_map(|said| said.from.as_ref())
                .find_map(|(_, path)| path.clone()),
            mode,
            keep,
            origin: self.origin_at(at),
        };
        if mode == WorkspaceMode::InPlace
            && let Some((at, _)) = &inner.workspace.keep
        {
            self.report_in(
                at.file,
                Diagnostic::error(
                    Code::BadWorkspace,
                    at.span,
                    "a run that works in place has changed the files already",
                )
                .label("nothing is left to keep or to drop")
                .help("add `mode ephemeral`, or remove this"),
            );
        }
        for ceiling in ceilings {
            self.workspace_within(&inner.workspace, &workspace, &ceiling.workspace);
        }
        Some(workspace)
    }

    fn workspace_within(&mut self, said: &SaidWorkspace, joined: &Workspace, ceiling: &SaidWorkspace) {
        let refused = |at: Place, there: Place, label: &str| {
            Diagnostic::error(
                Code::CeilingRefuses,
                at.span,
                "a ceiling does not permit this workspace",
            )
            .label(label)
            .also_in(there.file, there.span, "the ceiling says this")
            .help("remove it, and what the ceiling says holds; or write something stricter")
        };
        if let (Some((at, _)), Some((there, Some(WorkspaceMode::Ephemeral)))) = (&said.mode, &ceiling.mode)
            && joined.mode == WorkspaceMode::InPlace
        {
            self.report_in(at.file, refused(*at, *there, "works on the files themselves"));
        }
        if let (Some((at, _)), Some((there, Some(outer)))) = (&said.keep, &ceiling.keep)
            && !keeps_no_more(&joined.keep, outer)
        {
            self.report_in(at.file, refused(*at, *there, "keeps more than the ceiling does"));
        }
    }

    fn once<T>(&mut self, slot: &mut Option<(Place, Option<T>)>, at: Place, found: Option<T>, message: &str) {
        match slot {
            Some((first, _)) => {
                let first = *first;
                self.repeated(at.span, first, message);
            }
            None => *slot = Some((at, found)),
        }
    }

    fn keep(&mut self, clause: &KeepClause) -> Option<Keep> {
        Some(match clause {
            KeepClause::None => Keep::None,
            KeepClause::Review => Keep::Review,
            KeepClause::All => Keep::All,
            KeepClause::Matching(globs) => {
                Keep::Matching(globs.iter().filter_map(|glob| self.kept(glob)).collect())
            }
        })
    }

    /// A glob relative to the workspace.
    fn kept(&mut self, text: &Text) -> Option<String> {
        let written = self.fixed(text, "what is kept")?;
        let mistake = if written.starts_with(['/', '~']) {
            Some("what is kept is named from the workspace on".to_owned())
        } else if written.split('/').any(|part| part == "..") {
            Some("what is kept lies inside the workspace: `..` cannot stand here".to_owned())
        } else if written.split('/').any(|part| matches!(part, "" | ".")) {
            Some("write the names alone, without `.` and doubled slashes".to_owned())
        } else {
            PathPattern::parse(&format!("/{written}"))
                .err()
                .map(|error| error.to_string())
        };
        let Some(message) = mistake else {
            return Some(written);
        };
        self.report(
            Diagnostic::error(Code::BadWorkspace, text.span, message)
                .label("not a path of the workspace")
                .help("write a glob like `\"src/**\"` or `\"*.lock\"`"),
        );
        None
    }
}

const fn laxity(keep: &Keep) -> u8 {
    match keep {
        Keep::None => 0,
        Keep::Review => 1,
        Keep::Matching(_) => 2,
        Keep::All => 3,
    }
}

/// Whether everything that is kept is kept by the ceiling too, or asked for.
fn keeps_no_more(own: &Keep, ceiling: &Keep) -> bool {
    match (own, ceiling) {
        (Keep::None, _) | (_, Keep::All) => true,
        (Keep::Matching(own), Keep::Matching(outer)) => own.iter().all(|glob| outer.contains(glob)),
        (own, ceiling) => own == ceiling,
    }
}
