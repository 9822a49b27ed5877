"""`python -m esign` is the `esign` command."""

from esign.cli import main

main()
