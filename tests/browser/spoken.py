"""A page as a screen reader reads it: one line for each thing it says, in order, with role, name and state.

The lines come from the accessibility tree of the browser. What has no name and is no landmark, as most boxes are, is
left out, and its contents stand in its place.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from playwright.sync_api import Page

SILENT = {"LineBreak", "ListMarker", "generic", "none", "sectionheader", "strong"}
LABELS = {"LabelText", "Legend"}  # their words are the name of a control
WHOLE = {
    "button",
    "link",
    "image",
    "radio",
    "checkbox",
    "tab",
    "progressbar",
    "textbox",
}  # said by their name alone
# States that are said, by their names in the tree; a value of False or "false" says nothing but for those that toggle.
STATES = ("live", "modal", "required", "invalid", "disabled", "readonly", "expanded", "selected")
TOGGLES = ("checked", "pressed")
VALUED = {"textbox", "combobox", "spinbutton"}


def read_aloud(page: Page) -> str:
    """The whole page, or only the dialog that lies on it."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    by_id = {node["nodeId"]: node for node in nodes}
    [root] = [node for node in nodes if "parentId" not in node]
    return "\n".join(join_texts(say(root, by_id))) + "\n"


def say(
    node: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]], depth: int = 0, *, labels: bool = False
) -> Iterator[tuple[int, str]]:
    """The lines of a node and of all in it, with their depth; within `labels` only controls are said."""
    role, name = str(get_value(node, "role")), str(get_value(node, "name") or "").strip()
    if role == "InlineTextBox":
        return
    if role == "StaticText":
        if name and not labels:
            yield depth, f"“{' '.join(name.split())}”"
        return
    spoken = not node.get("ignored") and role not in SILENT | LABELS
    if spoken:
        yield depth, describe(node, role, name)
        if role in WHOLE:
            return
    inner = labels or role in LABELS
    children = [by_id[id] for id in node.get("childIds", ()) if id in by_id]
    lines = [line for child in children for line in say(child, by_id, depth + spoken, labels=inner)]
    texts = "".join(text[1:-1] for _, text in lines if text.startswith("“"))
    if len(lines) and name and spoken and "".join(texts.split()) == "".join(name.split()):
        lines = [line for line in lines if not line[1].startswith("“")]  # the name is what stands in it
    yield from lines


def describe(node: Mapping[str, Any], role: str, name: str) -> str:
    states = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
    shown = [f"level {states['level']}"] if role == "heading" else []
    shown += [
        name_state(key, states[key]) for key in STATES if states.get(key) not in (None, False, "false", "off")
    ]
    shown += [f"{'' if states[key] == 'true' else 'not '}{key}" for key in TOGGLES if key in states]
    value = get_value(node, "value")
    if role in VALUED and value not in (None, ""):
        shown.append(f"value “{states.get('valuetext') or value}”")
    if description := get_value(node, "description"):
        shown.append(f"described as “{description}”")
    return " ".join([role, *([f"“{name}”"] if name else []), *([f"({', '.join(shown)})"] if shown else [])])


def name_state(key: str, value: Any) -> str:
    return key if value in (True, "true") else f"{key} {value}"


def get_value(node: Mapping[str, Any], key: str) -> Any:
    return node.get(key, {}).get("value")


def join_texts(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    """The lines with their depth as indentation; texts that follow each other are one."""
    held: tuple[int, str] | None = None
    for depth, text in lines:
        if held and text.startswith("“") and held[1].startswith("“") and depth == held[0]:
            held = depth, f"{held[1][:-1]} {text[1:]}"
            continue
        if held:
            yield "  " * held[0] + held[1]
        held = depth, text
    if held:
        yield "  " * held[0] + held[1]
