# No run gets the home directory as a whole, or the keys in it.
package remit.guardrails.home

open := {"allow", "ask"}

deny contains {"id": "home", "message": message, "rule": probe.rule} if {
	some probe in input.probes
	probe.subject == "home"
	probe.effect in open
	message := sprintf("the whole home directory is granted (%s); grant the directories that are needed", [probe.access])
}

deny contains {"id": "keys", "message": message, "rule": probe.rule} if {
	some probe in input.probes
	probe.subject == "keys"
	probe.effect in open
	message := sprintf("long-lived credentials are within reach: %s", [probe.access])
}
