"""
The declarative door: `gnomon.Scheduler`, for callbacks in one's own process.

Pure are `task`, `journal_time`, `registration` and `task_plan`: they decide. `journal_writer`,
`runner`, `session` and `scheduler` carry it out, over the ports Clock and Journal. Here belongs
what seed 000 calls the scheduler; its store is in `shell.store.journal`, and its judge in `theory`.
"""
