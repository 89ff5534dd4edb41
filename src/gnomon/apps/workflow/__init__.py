"""
The workflow door: long-lived automations whose mutations are never made twice and never lost.

Pure are `phase`, `failure`, `timing`, `next_step`, `run_changes`, `recovery`, `mutation_changes`,
`command_changes` and `deployment`: they say what follows from facts and one `now`. `definition` and
`context` are what authors write with. `handler_calls`, `driver` and `host` carry it out, over the
ports Clock and WorkflowLog. Here belongs what seed 004 calls the scheduler.
"""
