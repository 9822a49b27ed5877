"""The query parameters of a list that is answered page by page."""

from esign.web.values.schema import Limit, QueryParameters


class Paging(QueryParameters):
    limit: Limit = 25
    cursor: str | None = None
