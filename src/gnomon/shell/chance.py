"""
The one place where chance comes in: texts that were never drawn before.

They tell apart what nothing else tells apart, such as a store and its copy.
"""

import secrets

__all__ = ["draw_token"]


def draw_token() -> str:
    """Sixteen hex digits from the system's own source of chance; no two draws agree."""
    return secrets.token_hex(8)
