"""The screens that pages are looked at on, and when a page has come to rest."""

import pytest

from tests.every import choose

ANIMATED = """await Promise.all(document.getAnimations()
    .filter((one) => one.effect.getTiming().iterations === 1)
    .map((one) => one.finished.catch(() => null)));  // one that is called off rests too
"""
PAINTED = f"async () => {{ await new Promise(requestAnimationFrame); {ANIMATED} }}"
SETTLED = f"""async () => {{
  {ANIMATED}
  for (let still = 0, at = -1; still < 8; await new Promise(requestAnimationFrame)) {{
    still = at === scrollY ? still + 1 : 0;
    at = scrollY;
  }}
}}"""
SCREENS = [  # what colours may break is looked for on each of them in light and dark (test_axe, test_office_axe)
    pytest.param({"width": 360, "height": 740, "dark": True}, id="phone-dark"),
    pytest.param({"width": 1280, "height": 800}, id="desk-light"),
]
# A journey of several pages runs on one of them each time, and on both by `packaging/test every`.
ON_A_PHONE, ON_A_DESK = (choose([here], [there]) for here, there in (SCREENS, SCREENS[::-1]))
