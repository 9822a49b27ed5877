"""The API (contract 3): one file for each noun, with its handlers; `endpoint_table` lists every endpoint.

Each noun has one file for its requests and one for its answers; small nouns keep them beside the handlers. Answers
about documents are built without validation, for speed; a test validates them. Sentences for the description are
in `words`, bodies for it in `examples`.
"""
