# Every way out of the machine has an owner: a rule that lets a run connect beyond loopback is labelled
# "owner:TEAM", perhaps with "/PURPOSE" behind it.
package remit.guardrails.egress

owner := `^owner:[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)?$`

loopback := {"127.0.0.0/8", "::1/128"}

leaves(rule) if {
	some to in rule.addresses
	not local(to)
}

leaves(rule) if count(rule.hosts) > 0

local(to) if {
	some own in loopback
	net.cidr_contains(own, to.cidr)
}

owned(rule) if {
	rule.label != null
	regex.match(owner, rule.label)
}

# A group cannot know who uses it, so its rules are not asked.
deny contains {"id": "egress-owner", "message": message, "rule": rule.rule} if {
	some rule in input.rules
	rule.kind == "network"
	rule.via == null
	not rule.built_in
	rule.effect in {"allow", "ask"}
	"connect" in rule.accesses
	leaves(rule)
	not owned(rule)
	message := sprintf("nobody answers for `%s`: label it \"owner:TEAM\"", [rule.text])
}

# In a comparison every new destination is shown, owned or not.
warn contains {"id": "new-egress", "message": message, "rule": grant.after.rule, "grant": index} if {
	input.difference != null
	some index, grant in input.difference.added
	grant.domain == "network"
	message := sprintf("a new way out: %s, by `%s`", [grant.witness, grant.after.text])
}
