"""Backups: one file that holds the database, the keys and the configuration of an installation, encrypted.

`collect` lists what belongs into one, `archive` writes and reads these files one after the other, `encryption` protects
them, `container` is the file around both, `make_backup` writes a backup and `extract` reads one.
"""
