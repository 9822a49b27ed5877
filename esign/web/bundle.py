"""Bundles scripts and style sheets: the file that a page names, with all that it imports, is sent as one.

A page of 14 modules takes 14 requests in three rounds; on a phone each round costs a fifth of a second. This is no
compiler: it takes modules written as ours are, and raises BundleError for any other, so that a test finds it and no
browser does. Development needs no bundle: the single files are the same program (`ESIGN_UNBUNDLED`).

Each imported module becomes a function that runs once, when it is first imported, and returns what it exports.
Imports read these values once. That equals the live bindings of ECMAScript as long as no exported name is assigned
again and no modules import each other in a circle: exports are `const` and functions, and a circle is refused.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

WITHIN = re.compile(
    r'import (?:(\{[^{}]*\}|\* as [\w$]+) from )?"(\.\.?/[\w./-]+\.js)";[ \t]*(?://[^\n]*)?\n+'
)
LATER = re.compile(r'\bimport\("(\.\.?/[\w./-]+\.js)"\)')
EXPORT = re.compile(r"^export (?=(?:const|function|async function) ([\w$]+)(?![\w$]))", re.MULTILINE)
LEFT = re.compile(r"^(?:import\b(?!\.meta)|export\b)|\bimport\s*\(", re.MULTILINE)
OWN_ADDRESS = "import.meta"
SHEET = re.compile(r'@import "([\w-]+\.css)";\n')
OURS = ("_modules", "_include")  # names in a bundle that no module uses

HEAD = """\
const _found = {{}}, _modules = {{
{modules}
}};
const _include = (name) => (_found[name] ??= _modules[name]());
"""


class BundleError(ValueError):
    """A file that cannot be bundled: it uses a form of import or export that is not known here."""


@dataclass(frozen=True, slots=True)
class Import:
    """An import at the head of a module: `names` are those it takes, `binding` is the code that takes them."""

    name: str
    names: tuple[str, ...]
    binding: str


@dataclass(frozen=True, slots=True)
class Module:
    """A script. `later` are the modules that it imports when it runs."""

    name: str
    imports: tuple[Import, ...]
    exports: tuple[str, ...]
    later: tuple[str, ...]
    body: str

    @property
    def needed(self) -> tuple[str, ...]:
        """Return the names of all modules that this one imports, now or later."""
        return (*(one.name for one in self.imports), *self.later)


def bundle_files(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files that pages name and that import others, by name, with all that they import.

    `files` are the texts of all scripts and style sheets by name, without comments before their imports.
    Raise BundleError if a file cannot be bundled.
    """
    scripts = {name: read_module(name, text) for name, text in files.items() if name.endswith(".js")}
    check_imports(scripts)
    imported = {name for module in scripts.values() for name in module.needed}
    entries = {
        name: join_modules(scripts, name) for name in scripts.keys() - imported if scripts[name].needed
    }
    sheets = {
        name: join_sheets(files, name, text)
        for name, text in files.items()
        if name.endswith(".css") and SHEET.match(text.lstrip())
    }
    return {**entries, **sheets}


def read_module(name: str, text: str) -> Module:
    """Take a script apart. Raise BundleError for a form of import or export that is not known."""
    text = text.lstrip()
    imports, at = [], 0
    while found := WITHIN.match(text, at):
        imports.append(read_import(name, found[1], found[2]))
        at = found.end()
    body = text[at:]
    exports = tuple(EXPORT.findall(body))
    later = tuple(resolve(name, target) for target in LATER.findall(body))
    body = EXPORT.sub("", body)
    body = LATER.sub(lambda found: f'Promise.resolve("{resolve(name, found[1])}").then(_include)', body)
    if left := LEFT.search(body):
        line = body[left.start() :].partition("\n")[0]
        raise BundleError(f"{name}: this import or export cannot be bundled: {line[:80]}")
    if any(word in text for word in OURS):
        raise BundleError(f"{name} uses a name that bundles keep for themselves: {', '.join(OURS)}")
    return Module(name, tuple(imports), exports, later, body)


def read_import(name: str, taken: str | None, target: str) -> Import:
    """Return an import as code. `taken` is what stands between `import` and `from`, or None."""
    module = resolve(name, target)
    code = f'_include("{module}")'
    if taken is None:
        return Import(module, (), f"{code};")
    if taken.startswith("*"):
        return Import(module, (), f"const {taken.split()[-1]} = {code};")
    pairs = [one.split(" as ") for one in " ".join(taken[1:-1].split()).rstrip(", ").split(", ")]
    members = ", ".join(": ".join(part.strip() for part in pair) for pair in pairs)
    return Import(module, tuple(pair[0].strip() for pair in pairs), f"const {{ {members} }} = {code};")


def resolve(name: str, target: str) -> str:
    """Return the name of a file that another names by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def check_imports(scripts: Mapping[str, Module]) -> None:
    """Raise BundleError for an import of a module or a name that does not exist."""
    for module in scripts.values():
        for needed in module.needed:
            if needed not in scripts:
                raise BundleError(f"{module.name} imports {needed}, which does not exist")
        for one in module.imports:
            if missing := set(one.names) - set(scripts[one.name].exports):
                raise BundleError(f"{module.name}: {one.name} does not export {', '.join(sorted(missing))}")


def join_modules(scripts: Mapping[str, Module], entry: str) -> str:
    """Return an entry with all modules that it needs. The entry itself stays a module: it may await."""
    names = list_needed(scripts, entry)
    for name in names:
        if OWN_ADDRESS in scripts[name].body:
            raise BundleError(f"{name}: only the script that a page names may read {OWN_ADDRESS}")
    if scripts[entry].exports:
        raise BundleError(f"{entry} exports names, but no module imports it")
    head = HEAD.format(modules="\n".join(wrap_module(scripts[name]) for name in names))
    return head + write_module(scripts[entry])


def list_needed(scripts: Mapping[str, Module], entry: str) -> list[str]:
    """Return the names of all modules that an entry needs, sorted. Raise BundleError for a circle of imports."""
    found: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            raise BundleError(f"these modules import each other: {' → '.join((*way, name))}")
        if name in found:
            return
        for one in scripts[name].imports:
            visit(one.name, (*way, name))
        found.add(name)
        for later in scripts[name].later:
            visit(later, ())

    visit(entry, ())
    return sorted(found - {entry})


def wrap_module(module: Module) -> str:
    """Return a member of the table of modules: its name, and the function that runs it."""
    body = write_module(module)
    return f'"{module.name}": () => {{\n{body}return {{ {", ".join(module.exports)} }};\n}},'


def write_module(module: Module) -> str:
    """Return the code of a module, with its imports read from the table."""
    heads = "".join(f"{one.binding}\n" for one in module.imports)
    return f"{heads}{module.body.rstrip()}\n"


def join_sheets(files: Mapping[str, str], name: str, text: str, way: Iterable[str] = ()) -> str:
    """Return a style sheet with those that it imports before it. Raise BundleError if one of them is missing."""
    text, way, parts, at = text.lstrip(), (*way, name), [], 0
    while found := SHEET.match(text, at):
        if found[1] not in files or found[1] in way:
            raise BundleError(f"{name} imports {found[1]}, which does not exist or imports it")
        parts.append(join_sheets(files, found[1], files[found[1]], way))
        at = found.end()
    rest = text[at:]
    if "@import" in rest:
        raise BundleError(f'{name}: an import of a style sheet stands first, as @import "name.css";')
    return "".join([*parts, rest])
