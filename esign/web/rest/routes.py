"""Finds the endpoint of a path in a tree of its segments. Paths match exactly as written; there are no aliases."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from esign.web.rest.endpoint import ApiRoute, Endpoint


@dataclass(slots=True)
class RouteNode:
    """A segment of a path in the tree. `any` is the child that stands for a parameter; `routes` are by method."""

    children: dict[str, "RouteNode"] = field(default_factory=dict)
    any: "RouteNode | None" = None
    routes: dict[str, ApiRoute] = field(default_factory=dict)

    @property
    def is_public(self) -> bool:
        """Return whether a route of this path needs no key."""
        return any(route.endpoint.public for route in self.routes.values())

    @property
    def allow(self) -> str:
        """Return the methods of this path as the `Allow` header lists them."""
        return ", ".join(sorted(self.routes.keys() | ({"HEAD"} if "GET" in self.routes else set())))


class Routes:
    """The table of endpoints as a tree."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._root = RouteNode()
        for endpoint in endpoints:
            node = self._root
            for segment in endpoint.path.split("/"):
                if segment.startswith("{"):
                    node.any = node.any or RouteNode()
                    node = node.any
                else:
                    node = node.children.setdefault(segment, RouteNode())
            if endpoint.method in node.routes:
                raise ValueError(f"{endpoint.method} {endpoint.path} is there twice")
            node.routes[endpoint.method] = ApiRoute(endpoint)

    def find(self, path: str) -> tuple[RouteNode | None, list[str]]:
        """Return the node of a raw path and the decoded values of its parameters, or None and no values."""
        node, values = self._root, []
        for segment in path.split("/"):
            if (child := node.children.get(segment)) is not None:
                node = child
            elif node.any is not None and segment:
                node = node.any
                values.append(unquote(segment))
            else:
                return None, []
        return (node, values) if node.routes else (None, [])


def list_parameters(template: str) -> list[str]:
    """Return the names of the parameters in a path such as `/documents/{id}/files/{variant}`, in order."""
    return [segment[1:-1] for segment in template.split("/") if segment.startswith("{")]
