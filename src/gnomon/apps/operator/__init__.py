"""
The operator: KronJobs on Kubernetes, each period once.

The truth about a KronJob is its status, which is written under the version it was decided from. A
Job is made suspended, its uid is written into the status, and only that uid is released. What is
decided here is decided from one view of a KronJob, as a question to the API server and what its
answer leads to (`one_pass`); `controller` watches, keeps the time and asks. No library of
Kubernetes is imported here, and no other door.
"""
