"""
One adapter per contender. Each module imports what it adapts, so only that worker imports it.
"""
