"""Builds the two small programs in C that start esign.

The loader is that of PyInstaller with one addition: on a system that is too old it says so in one sentence. It is
compiled against an old glibc, so that it starts where the libraries beside it cannot be loaded. The launcher is
`launcher.c`; it stands before the payload of the one file.
"""

import subprocess
from pathlib import Path

DEFINES = (
    "_REENTRANT",
    "_DEFAULT_SOURCE",
    "HAVE_UNSETENV",
    "HAVE_MKDTEMP",
    "HAVE_DIRNAME",
    "HAVE_BASENAME",
    "HAVE_WCSDUP",
)

# Before anything is unpacked: is this system too old?
MAIN_HEAD = '#include "pyi_main.h"\n'
MAIN_CHECK = """#include "pyi_main.h"
#include <gnu/libc-version.h>
#include <stdio.h>

static int
is_glibc_too_old(void)
{
    int major = 0, minor = 0;
    sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
    if (major > 2 || (major == 2 && minor >= NEEDED_GLIBC)) {
        return 0;
    }
    fprintf(stderr, "esign: this program needs glibc 2.%d or newer, and this system has %s; "
        "use a newer system, or the container.\\n", NEEDED_GLIBC, gnu_get_libc_version());
    return 1;
}
"""
MAIN_CALL = "    global_pyi_ctx->argv = argv;\n"
MAIN_CHECKED = "    global_pyi_ctx->argv = argv;\n    if (is_glibc_too_old()) {\n        return 2;\n    }\n"


def build_loader(compiler: list[str], sources: Path, needed_glibc: int, target: Path) -> None:
    """Compile the loader from PyInstaller's sources. Raises ValueError if these are not those that were adapted."""
    _replace(sources / "src" / "main.c", (MAIN_HEAD, MAIN_CHECK), (MAIN_CALL, MAIN_CHECKED))
    files = sorted((sources / "src").glob("*.c")) + sorted((sources / "zlib").glob("*.c"))
    defines = [f"-D{name}=1" for name in DEFINES] + [f"-DNEEDED_GLIBC={needed_glibc}"]
    folders = [f"-I{sources / 'src'}", f"-I{sources / 'zlib'}"]
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [*compiler, "-O2", "-s", "-w", *defines, *folders, *files, "-o", target, "-ldl", "-lpthread", "-lm"],
        check=True,
    )


def build_launcher(compiler: list[str], zlib: Path, target: Path) -> None:
    """Compile the start of the one file, without any library of the system."""
    source = Path(__file__).with_name("launcher.c")
    subprocess.run(
        [
            *compiler,
            "-static",
            "-O2",
            "-s",
            "-Wall",
            f"-I{zlib}",
            source,
            *sorted(zlib.glob("*.c")),
            "-o",
            target,
        ],
        check=True,
    )


def _replace(file: Path, *changes: tuple[str, str]) -> None:
    """Replace texts in a source file. A file that was adapted before is left as it is."""
    text = file.read_text()
    for old, new in changes:
        if new in text:
            continue
        if text.count(old) not in (1, 2):
            raise ValueError(f"{file.name} is not the one that was adapted; look at it, and at loader.py")
        head, _, rest = text.rpartition(old)
        text = head + new + rest
    file.write_text(text)
