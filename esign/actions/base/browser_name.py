"""Describes a browser from its `User-Agent` header, in words fit for a certificate page: `Firefox 132 on Windows`."""

import re

# The first match counts: most browsers also name the browsers they descend from.
BROWSERS = (
    ("Edge", re.compile(r"Edg(?:e|A|iOS)?/(\d+)")),
    ("Opera", re.compile(r"OPR/(\d+)")),
    ("Samsung Internet", re.compile(r"SamsungBrowser/(\d+)")),
    ("Firefox", re.compile(r"(?:Firefox|FxiOS)/(\d+)")),
    ("Chrome", re.compile(r"(?:HeadlessChrome|Chrome|CriOS)/(\d+)")),
    ("Safari", re.compile(r"Version/(\d+)[\d.]* (?:Mobile/\S+ )?Safari")),
)
SYSTEMS = (
    ("iPhone", re.compile(r"iPhone")),
    ("iPad", re.compile(r"iPad")),
    ("Android", re.compile(r"Android")),
    ("Windows", re.compile(r"Windows")),
    ("macOS", re.compile(r"Mac OS X|Macintosh")),
    ("ChromeOS", re.compile(r"CrOS")),
    ("Linux", re.compile(r"Linux|X11")),
)


def parse_user_agent(user_agent: str) -> tuple[str | None, str | None]:
    """Return the browser with its version, and the operating system. Each is None where it is unknown."""
    browser = next((f"{name} {hit[1]}" for name, form in BROWSERS if (hit := form.search(user_agent))), None)
    return browser, next((name for name, form in SYSTEMS if form.search(user_agent)), None)
