"""KronJob beside CronJob on a real cluster: start-up, rest, and many that are due in one minute."""
