"""The demonstration: the whole journey of one contract on a real server."""
