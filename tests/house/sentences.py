"""Finds the sentences that the program raises, and how they are made, by reading its source.

A sentence is what is passed to one of `SINKS`, such as the message of a `Problem`. It is followed through constants,
tables, local names, parameters and the results of functions. What is read from another object (`problem.message`) was
passed to a sink before.
"""

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.house.source import ROOT

PACKAGES = ("core", "system", "store", "pdf", "mail", "net", "tsa", "authority", "https", "actions")
WEB = ("http", "values", "office")
EVERY = -1  # each argument is a sentence

Sinks = Mapping[str, tuple[int | str, ...]]

# Which arguments are sentences, by the name of what is called: positions, and names.
SINKS: Sinks = {
    "Problem": (1, "message"),
    "Detail": (1, "message"),
    "InvalidValue": (1,),
    "refusal": (1,),
    "TextPattern": (1,),
    "FormError": (0,),
    "Outage": (0,),
    "CheckResult": (1,),
    "FileRefusal": (0, 1),
    "UnusableField": (2,),
    "SealFailed": (0,),
    "AuthorityError": (EVERY,),
    "SealNotice": (1,),
    "HttpsProblem": (1,),
    "Meaning": (1,),
    "Oddity": (EVERY,),
    "SourceRemedies": (EVERY,),
    "_replace": ("another",),  # of SourceRemedies
    "ask_for_another": (EVERY,),
    "describe_lapse": (3,),
    "PermanentFailure": (0,),
    "TemporaryFailure": (0,),
    "CountedRule": (1,),
    "RangeSentences": (EVERY,),
}
SAID = frozenset({"say", "tell"})  # methods of the words of the web application
# The same for clauses of reports, such as `timeout: no answer within the time allowed`: pages make sentences of them.
CLAUSES: Sinks = {
    "UnusableToken": (0,),
    "RequestFailed": (0,),
    "TargetRefused": (0,),
    "DeliveryAttempt": ("error",),
}
COLLECTED = frozenset({"wrong", "said", "sentences"})  # names of mappings of sentences by field
PASSED = frozenset({"join", "mark", "next", "tuple", "list", "str"})


@dataclass(frozen=True)
class Found:
    """A sentence or a form, with the text for one if it is counted; `glued` is where a text was put together."""

    form: str = ""
    one: str | None = None
    glued: str | None = None


@dataclass
class Module:
    """A file of the program, with what its names stand for."""

    name: str
    tree: ast.Module
    constants: dict[str, list[ast.expr]] = field(default_factory=dict)
    functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    within: dict[ast.AST, ast.AST] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Module":
        """Return the module of a file."""
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        made = cls(name, ast.parse(path.read_text("utf-8")))
        for node in ast.walk(made.tree):
            made.within |= dict.fromkeys(ast.iter_child_nodes(node), node)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                made.functions.setdefault(node.name, []).append(node)
            if isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    made.imports[one.asname or one.name] = (node.module, one.name)
        for node in made.tree.body:
            for target, value in list_assigned(node):
                made.constants.setdefault(target, []).append(value)
        return made

    def find_function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the innermost function around a node."""
        above = self.within.get(node)
        while above is not None and not isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            above = self.within.get(above)
        return above


def list_assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a statement assigns, each with its value."""
    if isinstance(node, ast.AnnAssign | ast.NamedExpr) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple):
                for at, each in enumerate(target.elts):
                    if isinstance(each, ast.Name):
                        yield each.id, pick(node.value, at)
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield target.value.id, node.value
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, node.value


def list_collected(node: ast.AST) -> Iterator[ast.expr]:
    """Yield a sentence that is put into a mapping of sentences by field."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        named = target.value if isinstance(target, ast.Subscript) else target
        if get_name(named) in COLLECTED and not isinstance(target, ast.Name):
            yield node.value
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (get_name(node.func.value), node.func.attr) in {(name, "setdefault") for name in COLLECTED}
    ):
        yield from node.args[1:]


def pick(value: ast.expr, at: int) -> ast.expr:
    """Return the expression for one place of a tuple."""
    if isinstance(value, ast.Tuple) and at < len(value.elts):
        return value.elts[at]
    picked = ast.Subscript(value, ast.Constant(at))
    return ast.copy_location(picked, value)


@dataclass
class SentenceReader:
    """Reads all modules, and follows what is passed to the sinks."""

    modules: Mapping[str, Module]
    sinks: dict[str, tuple[int | str, ...]]
    own: set[tuple[str, str, int]] = field(
        default_factory=set
    )  # (module, function, parameter) that takes sentences
    followed: set[tuple[object, ...]] = field(default_factory=set)

    def find_all(self) -> dict[str, set[Found]]:
        """Return what was found, by the name of the module."""
        known = -1
        found: dict[str, set[Found]] = {}
        while known != len(self.own):
            known = len(self.own)
            found = {name: set(self.read_module(module)) for name, module in self.modules.items()}
        return found

    def read_module(self, module: Module) -> Iterator[Found]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                for argument in self.list_sentences(module, node):
                    yield from self.resolve(module, argument, node)
            for value in list_collected(node) if self.sinks == SINKS else ():
                yield from self.resolve(module, value, node)

    def list_sentences(self, module: Module, call: ast.Call) -> Iterator[ast.expr]:
        """Yield the arguments of a call that are sentences."""
        name = get_name(call.func)
        places: list[int | str] = list(self.sinks.get(name or "", ()))
        if self.sinks == SINKS and name is not None and is_said(module, call, name):
            places.append(0)
        for owner, function in self.find_callees(module, call):
            names = list_parameters(function)
            offset = 1 if names[:1] == ["self"] else 0
            for at in (at for one, called, at in self.own if (one, called) == (owner.name, function.name)):
                places += [at - offset, names[at]]
        if EVERY in places:
            yield from call.args
            yield from (one.value for one in call.keywords)
            return
        yield from (one for at, one in enumerate(call.args) if at in places)
        yield from (one.value for one in call.keywords if one.arg in places)

    def find_callees(
        self, module: Module, call: ast.Call
    ) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Yield the functions of the program that a call may mean."""
        name = get_name(call.func)
        if name is None:
            return
        owner: Module | None = module
        if isinstance(call.func, ast.Name) and name in module.imports:
            source, name = module.imports[name][0], module.imports[name][1] or name
            owner = self.modules.get(source)
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            source, inner = module.imports.get(call.func.value.id, ("", None))
            owner = self.modules.get(f"{source}.{inner}", module)
        if owner is not None:
            yield from ((owner, function) for function in owner.functions.get(name, ()))

    def resolve(self, module: Module, node: ast.expr, place: ast.AST) -> list[Found]:
        """Return the sentences that an expression may have as its value."""
        with self.enter("value", module, node) as is_new:
            return list(self.follow(module, node, place)) if is_new else []

    def list_tables(self, module: Module, node: ast.expr, place: ast.AST) -> list[tuple[Module, ast.expr]]:
        """Return the tables that an expression may stand for."""
        with self.enter("table", module, node) as is_new:
            return list(self.follow_table(module, node, place)) if is_new else []

    @contextmanager
    def enter(self, purpose: str, module: Module, node: ast.expr) -> Iterator[bool]:
        """Yield whether an expression is not being followed already, as it would be for ever in a loop."""
        key = (purpose, module.name, ast.dump(node), getattr(node, "lineno", 0))
        is_new = key not in self.followed
        self.followed.add(key)
        try:
            yield is_new
        finally:
            if is_new:
                self.followed.discard(key)

    def follow(self, module: Module, node: ast.expr, place: ast.AST) -> Iterator[Found]:
        match node:
            case ast.Constant(value=str(text)):
                yield Found(text)
            case ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()):
                yield Found(glued=f"{module.name}:{node.lineno}")
            case ast.Call():
                yield from self.follow_call(module, node, place)
            case ast.IfExp():
                for each in (node.body, node.orelse):
                    yield from self.resolve(module, each, place)
            case ast.BoolOp():
                for each in node.values:
                    yield from self.resolve(module, each, place)
            case ast.Dict():
                for each in node.values:
                    yield from self.resolve(module, each, place)
            case ast.Tuple() | ast.List() | ast.Set():
                for each in node.elts:
                    yield from self.resolve(module, each, place)
            case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each) | ast.DictComp(value=each):
                yield from self.resolve(module, each, each)
            case ast.Await(value=each) | ast.Starred(value=each) | ast.NamedExpr(value=each):
                yield from self.resolve(module, each, place)
            case ast.Subscript():
                for owner, each in self.list_items(module, node, place):
                    yield from self.resolve(owner, each, place)
            case ast.Name():
                for owner, each in self.list_values(module, node, place):
                    yield from self.resolve(owner, each, each if owner is module else place)
            case ast.Attribute(value=ast.Name(id=alias), attr=name):
                for owner, each in self.list_members(module, alias, name):
                    yield from self.resolve(owner, each, each)
            case _:
                pass

    def follow_call(self, module: Module, node: ast.Call, place: ast.AST) -> Iterator[Found]:
        name = get_name(node.func)
        if name == "say" and isinstance(node.func, ast.Name):
            one = next((word.value for word in node.keywords if word.arg == "one"), None)
            ones = [found.form for found in self.resolve(module, one, place)] if one else [None]
            for found in self.resolve(module, node.args[0], place):
                yield Found(found.form, ones[0] if ones else None, found.glued)
        elif name in PASSED and isinstance(node.func, ast.Name):
            for each in node.args:
                yield from self.resolve(module, each, place)
        elif name == "get" and isinstance(node.func, ast.Attribute):
            for table in self.list_tables(module, node.func.value, place):
                for each in choose_items(table[1], None):
                    yield from self.resolve(table[0], each, place)
            for each in node.args[1:]:
                yield from self.resolve(module, each, place)
        elif name in ("format", "format_map", "replace", "removesuffix") and isinstance(
            node.func, ast.Attribute
        ):
            text = [*self.resolve(module, node.func.value, place)]
            if text:
                yield Found(glued=f"{module.name}:{node.lineno}")
        else:
            for owner, function in self.find_callees(module, node):
                for returned in list_returned(function):
                    yield from self.resolve(owner, returned, returned)

    def list_values(
        self, module: Module, node: ast.Name, place: ast.AST
    ) -> Iterator[tuple[Module, ast.expr]]:
        """Yield the values that a name may have. A parameter takes sentences from now on."""
        function = module.find_function(node) or module.find_function(place)
        while function is not None:
            values = [*list_bound(function, node.id)]
            if values:
                yield from ((module, value) for value in values)
                return
            names = list_parameters(function)
            if node.id in names:
                self.own.add((module.name, function.name, names.index(node.id)))
                return
            function = module.find_function(function)
        if node.id in module.constants:
            yield from ((module, value) for value in module.constants[node.id])
        elif node.id in module.imports:
            source, name = module.imports[node.id]
            owner = self.modules.get(source)
            if owner is not None:
                yield from ((owner, value) for value in owner.constants.get(name or "", ()))

    def list_members(self, module: Module, alias: str, name: str) -> Iterator[tuple[Module, ast.expr]]:
        """Yield the values of a constant of another module, which is imported as `alias`."""
        source, inner = module.imports.get(alias, ("", None))
        if (owner := self.modules.get(f"{source}.{inner}")) is not None:
            yield from ((owner, value) for value in owner.constants.get(name, ()))

    def list_items(
        self, module: Module, node: ast.Subscript, place: ast.AST
    ) -> Iterator[tuple[Module, ast.expr]]:
        """Yield what an index or a key may give of tables that are written in the source."""
        at = node.slice.value if isinstance(node.slice, ast.Constant) else None
        for owner, table in self.list_tables(module, node.value, place):
            yield from ((owner, each) for each in choose_items(table, at))

    def follow_table(
        self, module: Module, node: ast.expr, place: ast.AST
    ) -> Iterator[tuple[Module, ast.expr]]:
        match node:
            case ast.Dict() | ast.Tuple() | ast.List() | ast.Set():
                yield module, node
            case ast.Name():
                for owner, value in self.list_values(module, node, place):
                    yield from self.list_tables(owner, value, value if owner is module else place)
            case ast.Attribute(value=ast.Name(id=alias), attr=name):
                for owner, each in self.list_members(module, alias, name):
                    yield from self.list_tables(owner, each, each)
            case ast.Subscript():
                for owner, each in self.list_items(module, node, place):
                    yield from self.list_tables(owner, each, place)
            case ast.IfExp():
                for each in (node.body, node.orelse):
                    yield from self.list_tables(module, each, place)
            case ast.Call():
                for owner, function in self.find_callees(module, node):
                    for returned in list_returned(function):
                        yield from self.list_tables(owner, returned, returned)
            case _:
                pass


def is_said(module: Module, call: ast.Call, name: str) -> bool:
    """Return whether a call says its first argument: a method of the words of pages, or one of `core.sentence`."""
    if isinstance(call.func, ast.Attribute):
        return name in SAID and ".office." in module.name
    return name in PASSED | SAID and module.imports.get(name) == ("esign.core.sentence", name)


def choose_items(table: ast.expr, at: object) -> list[ast.expr]:
    """Return the item of a table in a known place, or all of its items."""
    if isinstance(table, ast.Dict):
        pairs = zip(table.keys, table.values, strict=True)
        named = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == at]
        return named if named and at is not None else table.values
    if isinstance(table, ast.Tuple | ast.List | ast.Set):
        if isinstance(at, int) and not isinstance(at, bool) and isinstance(table, ast.Tuple | ast.List):
            return table.elts[at : at + 1]
        return table.elts
    return []


def list_bound(function: ast.AST, name: str) -> Iterator[ast.expr]:
    """Yield the values that a function gives to a local name. Functions inside it are left out."""
    for node in walk_function(function):
        for target, value in list_assigned(node):
            if target == name:
                yield value
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            each = ast.copy_location(ast.Subscript(node.iter, ast.Name("each")), node.iter)
            if isinstance(node.target, ast.Name) and node.target.id == name:
                yield each
            if isinstance(node.target, ast.Tuple):
                for at, target_ in enumerate(node.target.elts):
                    if isinstance(target_, ast.Name) and target_.id == name:
                        yield pick(each, at)


def walk_function(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from walk_function(child)


def list_returned(function: ast.AST) -> Iterator[ast.expr]:
    """Yield what a function returns or yields."""
    for node in walk_function(function):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield node.value


def list_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def get_name(called: ast.expr) -> str | None:
    """Return the last part of the name of what is called."""
    if isinstance(called, ast.Name):
        return called.id
    return called.attr if isinstance(called, ast.Attribute) else None


@cache
def read_modules() -> Mapping[str, Module]:
    """Return the modules of the packages whose sentences reach pages of the web application."""
    folders = [ROOT / "esign" / name for name in PACKAGES] + [ROOT / "esign" / "web" / name for name in WEB]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    modules = map(Module.read, paths)
    return {module.name: module for module in modules if module.name != "esign.core.sentence"}


@cache
def find_sentences() -> Mapping[str, set[Found]]:
    """Return the sentences that are raised or said, by module."""
    return SentenceReader(read_modules(), dict(SINKS)).find_all()


@cache
def find_clauses() -> Mapping[str, set[Found]]:
    """Return the clauses of reports about other programs, by module."""
    return SentenceReader(read_modules(), dict(CLAUSES)).find_all()
