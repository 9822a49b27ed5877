"""The whole journey of one contract on a real server, to be seen before it is trusted."""
