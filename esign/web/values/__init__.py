"""The types of values that requests of the API and forms of the office take, so that both follow the same rules."""
