"""Where systems keep their fonts. A worker that may open only some files may open these."""

from pathlib import Path

# Expanded once: a confined process cannot ask for the home of its user.
SYSTEM = tuple(
    str(Path(folder).expanduser())
    for folder in (
        "/usr/share/fonts",
        "/usr/local/share/fonts",
        "~/.local/share/fonts",
        "~/.fonts",
        "/Library/Fonts",
        "/System/Library/Fonts",
        "~/Library/Fonts",
        "C:/Windows/Fonts",
    )
)

# The variable that names further folders to a worker, as in PATH.
FONTS = "ESIGN_WORKER_FONTS"
