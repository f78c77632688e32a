# No run reaches the services that hand out the machine's credentials.
#
# The floor forbids them; this refuses a policy that opens the floor there.
package remit.guardrails.metadata

deny contains {"id": "metadata", "message": message, "rule": probe.rule} if {
	some probe in input.probes
	probe.subject == "metadata"
	probe.effect in {"allow", "ask"}
	message := sprintf("a cloud metadata service is within reach: %s", [probe.access])
}

deny contains {"id": "metadata-unlock", "message": message} if {
	some unlock in input.unlocks
	unlock.name == "metadata"
	message := sprintf("the floor under cloud metadata services is opened at %s: %s", [unlock.place, unlock.because])
}
