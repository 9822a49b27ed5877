"""A browser's own description in words fit for a certificate page: `Firefox 132 on Windows`."""

import re

# The first that matches counts: most browsers also claim to be their ancestors.
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


def parts(user_agent: str) -> tuple[str | None, str | None]:
    """The browser with its version, and the system, as far as they are known."""
    browser = next((f"{name} {hit[1]}" for name, form in BROWSERS if (hit := form.search(user_agent))), None)
    return browser, next((name for name, form in SYSTEMS if form.search(user_agent)), None)


def in_words(user_agent: str | None) -> str | None:
    """None where nothing is known; never the raw text."""
    if not user_agent:
        return None
    browser, system = parts(user_agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "Other device"
