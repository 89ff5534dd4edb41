"""
Does a crontab name a user on each line, as those of the system do?

Its lines tell: in a crontab of the system the sixth word of every line is a user, and in that of a
user it is a program. Some names are both; then the lines do not tell, and the place of the file
does, or its reader.

Spec: KRONTAB-41.
"""

import re
from collections.abc import Collection, Iterator

from gnomon.importers.crontab_time import looks_like_a_field

__all__ = ["JOB", "SETTING", "is_known_user", "is_only_user", "is_system", "may_be_user"]

SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|\"[^\"]*\"|'[^']*')\s*=\s*(.*)")
"""A line that sets a variable."""
JOB = re.compile(r"\s*-?(@\S+|(?:\S+\s+){4}\S+)(?:\s+(.*))?")
"""A line with five fields or a macro, and what follows."""

_ACCOUNT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?", re.ASCII)
_ON_MANY_MACHINES = (
    "root daemon bin sys nobody www-data www apache nginx httpd lighttpd http postgres mysql redis"
    " rabbitmq tomcat jenkins gitlab gitea zabbix nagios icinga munin smmsp list logcheck mailman"
    " amavis clamav debian-spamd vmail asterisk ubuntu debian admin ec2-user vagrant pi user"
    " mythtv ntp snort git mail man sync backup news proxy games uucp lp operator svn"
)
_ALSO_PROGRAMS = "git mail man sync backup news svn mysql admin user list"
_USUAL = frozenset(_ON_MANY_MACHINES.split())
_PROGRAMS_TOO = frozenset(_ALSO_PROGRAMS.split())


def may_be_user(word: str) -> bool:
    """Whether a word could name a user at all."""
    return _ACCOUNT.fullmatch(word) is not None


def is_known_user(word: str, users: Collection[str]) -> bool:
    """Whether a word names a user of this machine, or one that many machines have."""
    return word in users or word in _USUAL


def is_only_user(word: str, users: Collection[str]) -> bool:
    """The same, of a word that is no usual program either."""
    return is_known_user(word, users) and word not in _PROGRAMS_TOO


def is_system(text: str, users: Collection[str]) -> bool:
    """Whether each line names a user before its command; no when that cannot be told."""
    words = [line for line in _commands(text) if not looks_like_a_field(line[0])]
    if not words or any(len(line) < 2 or not is_known_user(line[0], users) for line in words):
        return False
    return any(is_only_user(line[0], users) for line in words)


def _commands(text: str) -> Iterator[list[str]]:
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#") or SETTING.fullmatch(line):
            continue
        found = JOB.fullmatch(line)
        if found is not None and found[2] and found[2].split():
            yield found[2].split()
