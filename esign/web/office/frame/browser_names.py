"""Names of browsers, in the language of their reader."""

from esign.actions.base.browser_name import parse_user_agent
from esign.web.office.frame.words import OfficeWords


def name_browser(user_agent: str | None, t: OfficeWords) -> str | None:
    """Return a browser and its system, or None without a `User-Agent`. The raw header is never returned."""
    if not user_agent:
        return None
    browser, system = parse_user_agent(user_agent)
    if browser and system:
        return t("frame.browser.named", browser=browser, system=system)
    return browser or system or t("frame.browser.unknown")
