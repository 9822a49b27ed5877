"""esign: a self-hosted electronic-signature appliance: one process, one SQLite file."""

__version__ = "0.2.0"
