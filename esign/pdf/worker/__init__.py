"""The processes in which PDF work happens, and the queue before them."""
