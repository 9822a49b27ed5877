"""The child processes that do the PDF work, and the queue in front of them."""
