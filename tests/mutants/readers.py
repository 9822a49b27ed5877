"""What readers of others say of a sealed file."""

import subprocess
from pathlib import Path


def read_output(*command: str | Path) -> tuple[int, str]:
    """The exit code, and all that it printed."""
    ran = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return ran.returncode, (ran.stdout + ran.stderr).decode(errors="replace")


def qpdf(path: Path) -> str:
    """`ok`, or what it complains of; it does not judge what is drawn."""
    code, text = read_output("qpdf", "--check", path)
    return "ok" if code == 0 else text.strip().splitlines()[-1] if text.strip() else f"exit code {code}"


def pdfsig(path: Path) -> str:
    """`ok` for one valid signature over the whole file, whoever made it."""
    _, text = read_output("pdfsig", "-nocert", path)
    whole = "Total document signed" in text and "Not total" not in text
    return "ok" if text.count("Signature is Valid.") == 1 and whole else " ".join(text.split())[:200]


def find_fault(file: bytes, path: Path) -> str | None:
    """What is wrong with the file to others; it lies at `path` meanwhile."""
    path.write_bytes(file)
    try:
        wrong = [
            f"{name}: {found}"
            for name, found in (("qpdf", qpdf(path)), ("pdfsig", pdfsig(path)))
            if found != "ok"
        ]
    finally:
        path.unlink()
    return ", ".join(wrong) or None
