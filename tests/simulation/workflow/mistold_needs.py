"""Deliberate mistakes in what the person is told of: each is made by replacing one piece."""

import asyncio
from contextlib import AbstractContextManager
from unittest.mock import patch

from gnomon.apps.workflow import alarm
from gnomon.apps.workflow.alarm import Alarms

__all__ = ["each_look", "each_try", "no_outage", "no_script"]

Patch = AbstractContextManager[object]


def each_try() -> Patch:
    return patch.object(Alarms, "_forget", lambda self, facts: self._told.clear())


def no_outage() -> Patch:
    return patch.object(alarm, "_lasts", lambda facts, run: False)


def no_script() -> Patch:
    return patch.object(Alarms, "script", lambda self, facts: asyncio.sleep(0))


def each_look() -> Patch:
    return patch.object(
        Alarms, "_unloadable", property(lambda _: None, lambda *_: None), create=True
    )
