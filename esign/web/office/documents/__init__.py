"""The list of documents, and what is done to several of them."""
