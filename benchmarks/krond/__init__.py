"""What krond costs: starting with many jobs, waiting for them, and running many at once."""
