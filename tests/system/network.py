"""
A network of one cable: a namespace of its own, joined to this machine by a pair of interfaces.

A program inside reaches this machine at `address`, and nothing else. `cut` takes the cable out:
nothing is refused and nothing is closed, packets are just gone, as when a switch has died.
"""

import os
import subprocess
from types import TracebackType
from typing import Self

from tests.system.packages import provide

__all__ = ["Cable"]


class Cable:
    """Use it as a context manager; leaving it takes the namespace away."""

    def __init__(self) -> None:
        self._ip = provide("ip", "iproute2")
        number = os.getpid()
        self._space, self._near, self._far = f"gnomon-{number}", f"gn{number}", f"gf{number}"
        net = f"198.18.{number % 250 + 1}"  # of the networks that are kept for such tests
        self.address, self._there = f"{net}.1", f"{net}.2"

    def __enter__(self) -> Self:
        try:
            self._do("netns", "add", self._space)
            self._do("link", "add", self._near, "type", "veth", "peer", "name", self._far)
            self._do("link", "set", self._far, "netns", self._space)
            self._do("address", "add", f"{self.address}/24", "dev", self._near)
            self._do("link", "set", self._near, "up")
            self._inside("address", "add", f"{self._there}/24", "dev", self._far)
            self._inside("link", "set", self._far, "up")
            self._inside("link", "set", "lo", "up")
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def inside(self, command: list[str]) -> list[str]:
        return [self._ip, "netns", "exec", self._space, *command]

    def cut(self) -> None:
        self._do("link", "set", self._near, "down")

    def mend(self) -> None:
        self._do("link", "set", self._near, "up")

    def _inside(self, *arguments: str) -> None:
        self._do("-netns", self._space, *arguments)

    def _do(self, *arguments: str) -> None:
        command = [self._ip, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(
                f"`{' '.join(command)}` failed: {done.stderr.strip()}; these tests need root and "
                "a kernel that permits network namespaces and veth interfaces"
            )

    def _remove(self) -> None:
        for what in (["link", "delete", self._near], ["netns", "delete", self._space]):
            subprocess.run([self._ip, *what], check=False, capture_output=True)
