"""Crontabs as people write them, with what they get wrong, drawn from a seed."""

from random import Random

__all__ = ["USERS", "crontab"]

USERS = ("root", "www-data", "nobody", "deploy")
_MINUTES = (
    "*", "*/5", "*/15", "0", "00", "17", "0,30", "0/5", "5-59/10", "1-5,10", "59", "*/7,3",
    "7/20,9", "60", "5-1", "*/90", "0~30", "L",
)  # fmt: skip
_HOURS = ("*", "*/2", "3", "03", "0-6", "9-17/2", "22,23", "0", "8/4", "24", "H")
_DAYS = ("*", "*", "*", "1", "*/2", "*/10", "1,15", "1-7", "31", "10-20/3", "L", "15W", "0", "?")
_MONTHS = ("*", "*", "*", "jan", "Jan,JUL", "*/3", "1-6", "12", "2", "jan-mar", "13")
_WEEKDAYS = (
    "*", "*", "*", "mon", "1-5", "0,6", "7", "*/2", "5-7", "sun", "Mon-Fri", "1#2", "5L", "8",
    "1/2",
)  # fmt: skip
_COMMANDS = (
    "/usr/bin/backup --full", "cd /srv && ./run.sh > /dev/null 2>&1", "date +\\%F", "echo a%b%c",
    "[ -x /usr/bin/x ] && /usr/bin/x", "php -q /var/www/cron.php", "sleep $((RANDOM % 230)); go",
    "echo 'it is 50\\% done'", "mail -s hi root%Hello%", "cat%%", "tar czf /b/$(date +%Y).tgz /s",
    "run-parts --report /etc/cron.daily", "MODE=a run | wc -l", 'echo "a\\\\b"', "true",
    "x \\\\% y",
)  # fmt: skip
_SETTINGS = (
    "SHELL=/bin/bash", "SHELL = /bin/sh", "PATH=/usr/bin:/bin", 'PATH="/usr/local/bin:/bin"',
    "MAILTO=root", "MAILTO=root HOME=/", 'MAILTO=""', "MAILTO='ops@example.org,root'", "HOME=/srv",
    "FOO=bar # x", "  A=1", "LANG=C", "B = two words ", "LOGNAME=me", "EMPTY=",
)  # fmt: skip
_MACROS = ("@daily", "@Hourly", "@midnight", "@reboot", "@weekly", "@annually", "@fortnightly")
_ODD = (
    "# comment",
    "",
    "   ",
    "#0 2 * * * off",
    "nonsense",
    "* * * * *",
    "0 2 * *",
    "=x",
    "\t# tab",
)


def crontab(random: Random, *, system: bool) -> str:
    """The text of a crontab."""
    return "\n".join(_line(random, system) for _ in range(random.randrange(1, 12)))


def _line(random: Random, system: bool) -> str:
    roll = random.random()
    if roll < 0.15:
        return random.choice(_SETTINGS)
    if roll < 0.25:
        return random.choice(_ODD)
    blank = random.choice((" ", "\t", "  ", " \t"))
    if roll < 0.32:
        when = random.choice(_MACROS)
    else:
        usual = random.random() < 0.7
        fields = [
            random.choice(choices[: len(choices) - 5] if usual else choices)
            for choices in (_MINUTES, _HOURS, _DAYS, _MONTHS, _WEEKDAYS)
        ]
        when = blank.join(fields)
    user = f"{random.choice(USERS)}{blank}" if system else ""
    lead = random.choice(("", "", "", " ", "\t", "-"))
    return f"{lead}{when}{blank}{user}{random.choice(_COMMANDS)}"
