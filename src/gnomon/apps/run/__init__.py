"""
`gnomon run FILE`: a file of schedules becomes the schedules of a ledger.

Here belongs what such a file may hold, how it is read and saved, and what is said about its
periods. How the process is put together does not belong here.
"""
