"""What pages load is sent as one script and one style sheet; what cannot be bundled is refused."""

import re

import pytest

from esign.web.bundle import BundleError, bundle_files
from esign.web.pages import Assets

SAMPLE = {
    "entry.js": 'import { $, one as two } from "./part.js";\nimport * as more from "./sub/more.js";\n'
    'export_like();\nconst late = await import("./late.js");\n',
    "part.js": "export const $ = 1;\nexport async function one() {}\n",
    "sub/more.js": 'import {\n$,\none,\n} from "../part.js";\nexport function add() {}\n',
    "late.js": 'import "./sub/more.js";\nexport const LATE = import_of("x");\n',
    "alone.js": "const alone = 1;\n",
}


def test_a_script_carries_all_that_it_imports_now_or_later() -> None:
    bundles = bundle_files(SAMPLE)
    assert bundles.keys() == {"entry.js"}
    text = bundles["entry.js"]
    assert re.findall(r'^"([\w/.]+)": \(\) => \{$', text, re.MULTILINE) == [
        "late.js",
        "part.js",
        "sub/more.js",
    ]
    assert 'const { $, one: two } = _include("part.js");' in text
    assert 'const more = _include("sub/more.js");' in text
    assert 'await Promise.resolve("late.js").then(_include)' in text
    assert "return { $, one };" in text and "return { LATE };" in text
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("part.js", "export let changing = 1;", "cannot be bundled: export let"),
        ("part.js", "export default 1;", "cannot be bundled"),
        ("part.js", "export { one };", "cannot be bundled"),
        ("part.js", "export const { $, one } = {};", "cannot be bundled"),
        ("part.js", 'const early = 1;\nimport "./alone.js";', "cannot be bundled"),
        ("part.js", "import(`./${name}.js`);", "cannot be bundled"),
        ("part.js", 'import all from "./alone.js";', "cannot be bundled"),
        ("part.js", "export const one = 1, $ = 2;", "part.js does not export \\$"),
        ("part.js", 'import { $ } from "./part.js";\nexport const one = 1;', "does not export"),
        (
            "part.js",
            'import "./gone.js";\nexport const $ = 1;\nexport const one = 2;',
            "which does not exist",
        ),
        ("late.js", "import.meta.url;", "only the script that a page names"),
        ("alone.js", "const _include = 1;", "keep for themselves"),
    ],
)
def test_what_a_bundle_would_change_is_refused(name: str, text: str, reason: str) -> None:
    with pytest.raises(BundleError, match=reason):
        bundle_files({**SAMPLE, name: text})


def test_modules_that_import_each_other_are_refused() -> None:
    circle = {
        "a.js": 'import { b } from "./b.js";\nexport const a = b;\n',
        "b.js": 'import { a } from "./a.js";\nexport const b = () => a;\n',
        "entry.js": 'import "./a.js";\n',
    }
    with pytest.raises(BundleError, match=r"a\.js → b\.js → a\.js"):
        bundle_files(circle)


def test_a_style_sheet_carries_those_that_it_imports() -> None:
    sheets = {"all.css": '@import "base.css";\nb { }\n', "base.css": "a { }\n", "other.css": "c { }\n"}
    assert bundle_files(sheets) == {"all.css": "a { }\nb { }\n"}
    for wrong in ('@import "gone.css";\n', 'b { }\n@import "base.css";\n', '@import "all.css";\n'):
        with pytest.raises(BundleError):
            bundle_files({**sheets, "all.css": '@import "other.css";\n' + wrong})


def test_every_script_of_a_page_is_one_file() -> None:
    """Also keeps a page from naming a part of another script, which would then run twice."""
    single, bundled = Assets.load(bundled=False).files, Assets.load().files
    changed = {name for name in single if bundled[name].plain != single[name].plain}
    assert {"signing.js", "editor/main.js", "drafts.js", "signing.css", "office.css"} <= changed
    for name in changed:
        assert not re.search(rb"^(import|export|@import)\b", bundled[name].plain, re.MULTILINE), name
