"""
One adapter per library. Each module imports the library it adapts, so only that library's worker
imports it.
"""
