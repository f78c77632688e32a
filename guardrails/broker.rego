# Credentials are brokered: a run uses them and never holds them.
package remit.guardrails.broker

# Parts of names that say that the value is a secret.
secret := `(?i)(^|_)(token|secret|password|passwd|credentials?|apikey|api_key|access_key|private_key|auth)(_|$)`

holds := {"pass", "set"}

deny contains {"id": "broker-only", "message": message, "rule": rule.rule} if {
	some rule in input.rules
	rule.kind in holds
	rule.effect in {"allow", "ask"}
	some name in rule.variables
	regex.match(secret, name)
	message := sprintf("%s is given to the run itself; use `broker` for it", [name])
}

deny contains {"id": "everything-passed", "message": message, "rule": rule.rule} if {
	some rule in input.rules
	rule.kind == "pass"
	rule.effect in {"allow", "ask"}
	some name in rule.variables
	trim(name, "*") == ""
	message := "the whole environment of the caller is passed, secrets too; name what is needed"
}

warn contains {"id": "broker-without-end", "message": message, "rule": broker.rule} if {
	some broker in input.brokers
	broker.ttl_seconds == null
	message := sprintf("the credential %s has no `ttl`, so it is good for as long as the run lasts", [broker.name])
}
