"""
The service: schedules that others register, and runs that an executor carries out.

`Registrar` is what people and programs ask, `ServiceWorker` starts what is due, `RunLauncher`
fetches a DAG and hands it to an executor; the names are those of seed 002. Requests become values
in `schedule_input`; what they come to is written to the ledger in one transaction, together with
who asked. `http` is the outside of it.

Here belongs what a service knows beyond a ledger: tenants, DAGs, executors, expectations.
"""
