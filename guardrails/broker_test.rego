package remit.guardrails.broker_test

import data.remit.guardrails.broker

rule(kind, effect, names) := {
	"rules": [{"rule": 7, "kind": kind, "effect": effect, "variables": names}],
	"brokers": [],
}

test_plain_variables_pass if {
	names := ["PATH", "LANG", "TERM", "AUTHOR", "TOKENIZERS", "SECRETARY_DESK"]
	broker.deny == set() with input as rule("pass", "allow", names)
}

test_names_of_secrets_are_denied if {
	every name in ["NPM_TOKEN", "github_token", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD_FILE_PASSWORD", "API_KEY", "X_AUTH"] {
		some finding in broker.deny with input as rule("pass", "allow", [name])
		finding.id == "broker-only"
		finding.rule == 7
	}
}

test_a_fixed_secret_is_denied if {
	count(broker.deny) == 1 with input as rule("set", "allow", ["DB_PASSWORD"])
}

test_a_refusal_of_a_secret_passes if {
	broker.deny == set() with input as rule("pass", "deny", ["AWS_SECRET_ACCESS_KEY"])
}

test_the_whole_environment_is_denied if {
	some finding in broker.deny with input as rule("pass", "allow", ["*"])
	finding.id == "everything-passed"
}

test_a_credential_without_end_is_a_warning if {
	endless := {"rules": [], "brokers": [{"name": "NPM_TOKEN", "rule": 7, "ttl_seconds": null}]}
	count(broker.warn) == 1 with input as endless
	ends := {"rules": [], "brokers": [{"name": "NPM_TOKEN", "rule": 7, "ttl_seconds": 900}]}
	broker.warn == set() with input as ends
}
