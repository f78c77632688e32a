//! Cedar reading as many policies as we have rules: parsing, and validation against a schema.
//!
//! The two languages do not say the same things. What is compared is the work of a compiler's front end over as many
//! statements of about the same length: one action, one resource, one condition each.

use std::fmt::Write as _;
use std::str::FromStr as _;

use cedar_policy::{PolicySet, Schema, ValidationMode, Validator};

use super::Stages;

const SCHEMA: &str = r#"
entity User;
entity Directory;
entity File in [Directory] = { owner: User, path: String };
action read, write, execute appliesTo { principal: [User], resource: [File] };
"#;

/// One pass.
pub(crate) fn chain(policies: u32, stages: &mut Stages) {
    let text = policies_text(policies);
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA).expect("a schema");
    let validator = Validator::new(schema);
    let set = stages
        .time("cedar parse", || PolicySet::from_str(&text))
        .expect("it parses");
    let result = stages.time("cedar validate", || {
        validator.validate(&set, ValidationMode::Strict)
    });
    assert!(result.validation_passed(), "{result}");
}

fn policies_text(policies: u32) -> String {
    let mut text = String::new();
    for number in 0..policies {
        let project = number / 20;
        let _ = match number % 4 {
            0 => writeln!(
                text,
                "permit (principal, action in [Action::\"read\", Action::\"write\"], resource in Directory::\"/srv/project{project}\");"
            ),
            1 => writeln!(
                text,
                "forbid (principal, action == Action::\"read\", resource) when {{ resource.path like \"/srv/project{project}/*/.env*\" }};"
            ),
            2 => writeln!(
                text,
                "forbid (principal, action == Action::\"write\", resource) when {{ resource.path like \"/srv/project{project}/*.lock\" }};"
            ),
            _ => writeln!(
                text,
                "permit (principal, action == Action::\"execute\", resource == File::\"/srv/project{project}/tools/bin{number}\");"
            ),
        };
    }
    text
}
