"""The rules of those who use the program: organisations, members, API keys, passwords."""
