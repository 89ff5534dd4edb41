"""
YAML without its surprises: plain values, no aliases, no key twice.

Needs the extra `yaml`; a module imports this only for a file that is YAML.

Spec: CLI-17.
"""

from collections.abc import Hashable, Iterator

import yaml
from yaml import YAMLError

__all__ = ["YAMLError", "load", "load_all"]


class _PlainLoader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not taken")
        return super().compose_node(parent, index)

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue  # refused below
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands here twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load(text: str) -> object:
    """What the text holds: mappings, lists, texts, numbers, instants and None."""
    loader = _PlainLoader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def load_all(text: str) -> Iterator[object]:
    """What each document of the text holds."""
    loader = _PlainLoader(text)
    try:
        while loader.check_node():
            yield loader.get_data()
    finally:
        loader.dispose()
