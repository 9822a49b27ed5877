"""Tries what is in dist/ as its users would: `packaging/test release`. Needs root, debootstrap, dpkg and zstd.

Each part runs in a bare Debian without Python, certificates or fonts, and must seal and verify a document there.
"""

import base64
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build" / "appliance"
DIST = ROOT / "dist"
BARE = WORK / "minbase"
SET_MDWE, REFUSE_EXEC_GAIN = 65, 1  # prctl.h
SIZE_MB, VERSION_SECONDS, ANSWER_SECONDS, IDLE_MIB = 75, 0.6, 1.2, 100

# A mount table and process ids of their own: nothing stays mounted, and nothing goes on running.
ENTER = """
set -e
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
[ -z "$TMP_OPTIONS" ] || mount -t tmpfs -o "$TMP_OPTIONS" tmpfs "$root/tmp"
[ -z "$READ_ONLY" ] || { mount --bind "$root" "$root"; mount --rbind /dev "$root/dev"; mount -t proc proc "$root/proc"
    mount --bind "$root/data" "$root/data"; mount -t tmpfs -o mode=1777,noexec tmpfs "$root/tmp"
    mount -o remount,bind,ro "$root"; }
exec chroot $AS "$root" "$@"
"""


class Machine:
    """A bare Debian in a folder."""

    def __init__(self, name: str) -> None:
        self.root = WORK / "machines" / name
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", "--reflink=auto", BARE, self.root], check=True)

    def start(
        self, *command: str, user: str = "", tmp: str = "", read_only: bool = False, **environment: str
    ) -> "Process":
        """Start a command in the machine. `tmp` are the options of a file system of its own for /tmp."""
        return subprocess.Popen(
            [
                "unshare",
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
                "sh",
                "-c",
                ENTER,
                "sh",
                self.root,
                *command,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": "/root",
                "AS": f"--userspec={user}" if user else "",
                "TMP_OPTIONS": tmp,
                "READ_ONLY": "yes" if read_only else "",
                **environment,
            },
        )

    def run(self, *command: str, code: int = 0, **options: str | bool) -> str:
        """Run a command to its end and return what it said. Exits if its exit code is another."""
        process = self.start(*command, **options)  # type: ignore[arg-type]
        said, _ = process.communicate(timeout=600)
        if process.returncode != code:
            sys.exit(f"{' '.join(command)} ended with {process.returncode} instead of {code}:\n{said}")
        return said


Process = subprocess.Popen[str]


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit(
            "packaging/test release needs root and debootstrap: install it with 'apt install debootstrap'"
        )
    if not (BARE / "bin").exists():
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", BARE], check=True)
    chosen = sys.argv[1:]
    for name, check in CHECKS.items():
        if not chosen or name in chosen:
            print(f"== {name}", flush=True)
            check()
    if EXCEEDED:
        print(f"Everything in dist/ works, but is above what is promised: {'; '.join(EXCEEDED)}.")
    else:
        print("Everything in dist/ holds.")


def check_one_file() -> None:
    machine = Machine("one-file")
    file = find_one_file()
    shutil.copy(file, machine.root / "usr/bin/esign")
    tell("size, MB", file.stat().st_size / 1e6, SIZE_MB)
    tell("first start, seconds", measure(lambda: machine.run("esign", "--version")))
    tell(
        "--version, seconds",
        min(measure(lambda: machine.run("esign", "--version")) for _ in range(5)),
        VERSION_SECONDS,
    )
    versions = machine.run("esign", "--version", "--verbose")
    require("(one file)" in versions and "WAL-reset" not in versions, versions)
    listed = machine.run("esign", "licenses")
    require(all(part in listed for part in ("SQLite", "Python", "libssl3", "typst", "PyInstaller")), listed)
    seal_document(machine, "esign")
    machine.run("useradd", "--create-home", "ada")
    seal_document(machine, "esign", user="ada:ada", HOME="/home/ada", folder="/home/ada")
    serve(machine, "esign", "serve")
    back_up(machine, "esign")


def check_bad_places() -> None:
    """Check the sentence for each place where the one file cannot be unpacked or started."""
    machine = Machine("bad-places")
    shutil.copy(find_one_file(), machine.root / "usr/bin/esign")
    machine.run("useradd", "--no-create-home", "--home-dir", "/nonexistent", "ada")
    (machine.root / "var/tmp").chmod(0o755)
    said = machine.run(
        "esign", "--version", user="ada:ada", HOME="/nonexistent", tmp="mode=1777,noexec", code=2
    )
    require("mounted noexec" in said and "XDG_CACHE_HOME" in said and len(said.splitlines()) == 1, said)
    said = machine.run(
        "esign", "--version", user="ada:ada", HOME="/nonexistent", tmp="mode=1777,size=20m", code=2
    )
    require("No space left on device" in said and len(said.splitlines()) == 1, said)
    machine.run("useradd", "--create-home", "bob")
    crowded = {"HOME": "/home/bob", "XDG_CACHE_HOME": "/tmp"}  # noqa: S108  (of the machine)
    machine.run("esign", "--version", user="bob:bob", tmp="mode=1777,size=20m", **crowded)
    foreign = machine.root / "tmp" / "esign-1000"
    foreign.mkdir(mode=0o777)
    said = machine.run("esign", "--version", user="ada:ada", HOME="/nonexistent", code=2)
    require("others may write there" in said, said)
    (machine.root / "var/cache/esign").touch()  # root has to look elsewhere
    others = machine.root / "home" / "eve"
    others.mkdir(mode=0o700)
    shutil.chown(others, 1001)
    machine.run("esign", "--version", HOME="/home/eve")
    unpacked = [path for path in others.rglob("*") if path.is_file()]
    require(not unpacked, f"root starts what another could replace: {unpacked[:3]}")
    damaged = machine.root / "usr/bin/esign"
    damaged.write_bytes(damaged.read_bytes()[:-1000])
    require("download it again" in machine.run("esign", "--version", code=2), "a damaged file is told")


def check_unpacked_once() -> None:
    """Check that a second start uses what the first unpacked, repairs it, and that another version removes it."""
    machine = Machine("unpacked")
    shutil.copy(find_one_file(), machine.root / "usr/bin/esign")
    cache = machine.root / "var/cache/esign"
    machine.run("esign", "--version")
    (folder,) = cache.iterdir()
    before = folder.stat().st_ino
    rights = {path.name: oct(path.stat().st_mode & 0o777) for path in (folder, folder / "files.txt")}
    require([*rights.values()] == ["0o755", "0o600"], f"every user may read it, and nobody lock it: {rights}")
    machine.run("esign", "--version")
    require(folder.stat().st_ino == before, "it was unpacked twice")
    (folder / "lib" / "base_library.zip").unlink()
    machine.run("esign", "--version")
    require((folder / "lib" / "base_library.zip").exists(), "it was not repaired")
    other = cache / "0.0.1-of-before"
    other.mkdir()
    (other / "files.txt").touch()
    (cache / ".99999999.new").mkdir()  # of a first start that was killed
    shutil.rmtree(folder)
    machine.run("esign", "--version")
    require(sorted(cache.iterdir()) == [folder], "another version was left")


def check_other_user() -> None:
    """Start the one file as root with `[server] user`, and have that server seal a document."""
    machine = Machine("other-user")
    shutil.copy(find_one_file(), machine.root / "usr/bin/esign")
    machine.run("useradd", "--system", "ada")
    machine.run("esign", "--version")  # unpacks the one file, which the time of a start leaves out
    data = {"ESIGN_STORAGE__DATA_DIR": "/var/lib/esign"}

    def seal(port: int) -> None:
        key = machine.run("esign", "keys", "create", "--name", "check", "--test", user="ada:ada", **data)
        seal_by_request(port, key.split()[-1])

    serve(machine, "esign", "serve", work=seal, ESIGN_SERVER__USER="ada", **data)
    owner = machine.run("stat", "--format", "%U %a", "/var/lib/esign", "/var/lib/esign/esign.db").split()
    require(owner == ["ada", "700", "ada", "600"], f"the data belong to the user alone: {owner}")


def check_folder() -> None:
    machine = Machine("folder")
    (archive,) = DIST.glob("esign-*.tar.zst")
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", machine.root / "opt"], check=True)
    (folder,) = (machine.root / "opt").iterdir()
    program = f"/opt/{folder.name}/esign"
    tell(
        "--version, seconds",
        min(measure(lambda: machine.run(program, "--version")) for _ in range(5)),
        VERSION_SECONDS,
    )
    seal_document(machine, program, tmp="mode=1777,noexec", folder="/root")
    serve(machine, program, "serve", tmp="mode=1777,noexec")


def check_package() -> None:
    machine = Machine("package")
    (package,) = DIST.glob("esign_*.deb")
    shutil.copy(package, machine.root / "root/esign.deb")
    machine.run("dpkg", "--install", "/root/esign.deb")
    require("esign" in machine.run("id", "esign"), "there is no user esign")
    settings, data = machine.root / "etc/esign/esign.toml", machine.root / "var/lib/esign"
    require(settings.stat().st_mode & 0o777 == 0o640 and data.stat().st_mode & 0o777 == 0o700, "rights")
    require(machine.run("esign", "--version").startswith("esign "), "esign is in PATH")
    for file in ("usr/share/man/man1/esign.1.gz", "usr/share/bash-completion/completions/esign"):
        require((machine.root / file).stat().st_size > 300, file)
    seal_document(machine, "esign", user="esign:esign", HOME="/var/lib/esign", folder="/var/lib/esign")
    serve(
        machine,
        "esign",
        "serve",
        "--config",
        "/etc/esign/esign.toml",
        user="esign:esign",
        HOME="/var/lib/esign",
    )
    database = data / "esign.db"
    require(database.exists(), "the data are in /var/lib/esign")
    settings.write_text(settings.read_text() + "# changed by the administrator\n")
    machine.run("dpkg", "--install", "/root/esign.deb")
    require(settings.read_text().endswith("administrator\n") and database.exists(), "an upgrade keeps both")
    machine.run("dpkg", "--remove", "esign")
    require(
        settings.exists() and database.exists() and not (machine.root / "usr/bin/esign").exists(), "removed"
    )
    said = machine.run("dpkg", "--purge", "esign")
    require(not settings.exists() and database.exists() and "stay in /var/lib/esign" in said, said)


def check_unit() -> None:
    """Check the exposure of the unit, and that the program needs no memory that is both written and run."""
    unit = ROOT / "packaging/appliance/debian/esign.service"
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, check=False
    ).stdout
    score = float(re.findall(r"exposure level for .*: ([\d.]+)", said)[0])
    tell("exposure of the unit", score, 1.5)
    require(score <= 1.5, said)
    demo = WORK / "machines" / "demo"
    shutil.rmtree(demo, ignore_errors=True)
    ran = subprocess.run(
        [WORK / "first/out/esign/esign", "demo", "--exit", "--into", demo],
        preexec_fn=deny_writable_code,
        capture_output=True,
        text=True,
        check=False,
    )
    require("Every step held" in ran.stdout, ran.stdout + ran.stderr)
    print("  sealed with MemoryDenyWriteExecute")


def deny_writable_code() -> None:
    """Refuse this process memory that was written and is run, as MemoryDenyWriteExecute does (Linux 6.3)."""
    if ctypes.CDLL(None).prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0):
        raise OSError("this kernel has no PR_SET_MDWE")


def check_container() -> None:
    """Run the file system that the Containerfile describes, with a read-only root and as its user."""
    context = WORK / "container"
    machine = Machine("container")
    text = (context / "Containerfile").read_text().replace("\\\n", " ")
    environment = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "COPY":
            source, target = rest.split()
            (machine.root / target.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", context / source, machine.root / target.lstrip("/")], check=True)
        elif word == "RUN":
            machine.run("sh", "-ec", rest)
        elif word == "ENV":
            environment = dict(one.split("=", 1) for one in rest.split())
    # compose.yaml sets an address as well: without one, a server that listens on all of them does not start.
    environment |= {"HOME": "/data", "ESIGN_SERVER__BASE_URL": "https://sign.example.com"}
    seal_document(machine, "esign", user="10001:10001", read_only=True, folder="/data", **{"HOME": "/data"})
    serve(
        machine,
        "esign",
        "serve",
        user="10001:10001",
        read_only=True,
        probe="/usr/lib/esign/healthcheck",
        **environment,
    )


def check_wheel() -> None:
    """Check that wheel and sdist hold the whole program, with the libraries of the build."""
    (wheel,) = DIST.glob("esign-*.whl")
    (source,) = DIST.glob("esign-*.tar.gz")
    python = WORK / "venv/bin/python"
    for number, package in enumerate((wheel, source)):
        target = WORK / "machines" / f"python-{number}"
        shutil.rmtree(target, ignore_errors=True)
        install = [
            python,
            "-m",
            "pip",
            "--quiet",
            "install",
            "--no-deps",
            "--no-build-isolation",
            "--target",
            target,
        ]
        subprocess.run([*install, package], check=True)
        said = subprocess.run(
            [python, "-m", "esign", "demo", "--exit", "--into", target / "demo"],
            cwd=target,
            env={**os.environ, "PYTHONPATH": str(target)},
            capture_output=True,
            text=True,
            check=False,
        )
        require(said.returncode == 0, said.stdout + said.stderr)
        print(f"  {package.name}: a document was sealed")


def check_sums() -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=DIST, check=True)


def seal_document(machine: Machine, program: str, folder: str = "/root", **options: str | bool) -> None:
    """Run the whole journey of a document, and verify the sealed file with a command of its own."""
    said = machine.run(program, "demo", "--exit", "--into", f"{folder}/demo", **options)
    require("Every step held" in said, said)
    # Verified without the trust of the installation that sealed it: intact, but nobody vouches for the signer.
    verified = machine.run(
        program, "verify", f"{folder}/demo/sealed.pdf", "--config", f"{folder}/demo/esign.toml", **options
    )
    print(f"  sealed and verified: {verified.splitlines()[0]}", flush=True)
    trails = machine.run(program, "verify-audit", "--config", f"{folder}/demo/esign.toml", **options)
    require("intact" in trails.lower(), trails)


def back_up(machine: Machine, program: str, folder: str = "/root") -> None:
    """Back up the demonstration with a passphrase, restore it elsewhere, and have the copy checked."""
    config, file, copy = f"{folder}/demo/esign.toml", f"{folder}/demo.backup", f"{folder}/restored"
    given = {"ESIGN_BACKUP__PASSPHRASE": "correct horse battery staple"}
    machine.run(program, "backup", file, "--config", config, **given)
    machine.run(program, "restore", file, "--data-dir", copy, "--config", config, **given)
    checked = machine.run(
        program, "doctor", "--data", "--config", config, ESIGN_STORAGE__DATA_DIR=copy, **given
    )
    require("WRONG" not in checked, checked)
    print("  backed up, restored and checked", flush=True)


def seal_by_request(port: int, key: str) -> None:
    """Create a document over the API, have its recipient sign, and wait for the sealed file."""

    def ask(path: str, body: dict[str, object] | None = None) -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1{path}")
        request.add_header("Authorization", f"Bearer {key}")
        request.add_header("Accept", "application/pdf, application/json")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  (our own server)
            return bytes(answer.read())

    field = {"type": "signature", "page": 1, "x": 12, "y": 70}
    contract = (ROOT / "esign/demo/contract.pdf").read_bytes()
    made = json.loads(
        ask(
            "/documents",
            {
                "fileName": "contract.pdf",
                "file": base64.b64encode(contract).decode(),
                "send": True,
                "recipients": [{"name": "Ada Example", "email": "ada@example.com", "fields": [field]}],
            },
        )
    )
    ask(f"/test/documents/{made['id']}/simulate", {"action": "complete"})
    for _ in range(600):
        try:
            require(b"/ByteRange" in ask(f"/documents/{made['id']}/files/sealed"), "the file has a signature")
            print("  a document was sealed over the API")
            return
        except urllib.error.HTTPError as error:
            require(error.code == 409, f"{error.code}: {error.read()!r}")
            time.sleep(0.1)
    sys.exit("the document was not sealed within a minute")


def serve(
    machine: Machine,
    program: str,
    *arguments: str,
    probe: str = "",
    work: Callable[[int], None] | None = None,
    **options: str | bool,
) -> None:
    """Start the server, wait for its first answer, look at its memory, do `work` with its port, and stop it."""
    if "ESIGN_STORAGE__DATA_DIR" not in options and "--config" not in arguments:
        options["ESIGN_STORAGE__DATA_DIR"] = "/root/data"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options["ESIGN_SERVER__PORT"] = str(port)
    before = time.perf_counter()
    process = machine.start(program, *arguments, **options)  # type: ignore[arg-type]
    try:
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
                    require(answer.status == 200, "healthz")
                    break
            except (urllib.error.URLError, ConnectionError):
                if process.poll() is not None and process.stdout:
                    sys.exit(f"the server has ended: {process.stdout.read()}")
                time.sleep(0.005)
        tell("first 200, seconds", time.perf_counter() - before, ANSWER_SECONDS)
        server = find_server(machine)
        wait_until_idle(server)
        tell("idle memory, MiB", read_memory(server), IDLE_MIB)
        if work:
            work(port)
        if probe:
            entered = ["nsenter", "--target", str(server), "--mount", "--pid", "chroot", machine.root, probe]
            ran = subprocess.run(entered, env={**os.environ, "ESIGN_SERVER__PORT": str(port)}, check=False)
            require(ran.returncode == 0, "the healthcheck")
            print("  the healthcheck answers")
        os.kill(server, signal.SIGTERM)
        process.communicate(timeout=20)
        require(process.returncode == 0, f"the server ended with {process.returncode}")
    finally:
        process.kill()
        process.wait()


def find_server(machine: Machine) -> int:
    """Return the process id of the server of a machine, as this machine sees it."""
    for entry in Path("/proc").iterdir():
        try:
            inside = entry.name.isdigit() and (entry / "root").resolve() == machine.root.resolve()
            if inside and b"\0serve" in (entry / "cmdline").read_bytes():
                return int(entry.name)
        except OSError:
            continue
    sys.exit("there is no server")


def wait_until_idle(process: int) -> None:
    """Return when the process has used no more than 10 ms of a processor in a second."""
    for _ in range(60):
        before = read_processor_time(process)
        time.sleep(1)
        if read_processor_time(process) - before <= 1:
            return
    sys.exit("the server does not become idle within a minute")


def read_processor_time(process: int) -> int:
    """Return the processor time that the process has used, in hundredths of a second (proc(5), utime and stime)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def read_memory(process: int) -> float:
    """Return the memory that is this process's own, in MiB."""
    told = Path(f"/proc/{process}/smaps_rollup").read_text()
    return sum(int(one) for one in re.findall(r"^Pss: +(\d+) kB", told, re.MULTILINE)) / 1024


def find_one_file() -> Path:
    (file,) = (one for one in DIST.glob("esign-*-linux-*") if not one.name.endswith(".zst"))
    return file


def measure(work: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


EXCEEDED: list[str] = []  # measurements above what is promised; a busy machine is no failure


def tell(what: str, value: float, most: float | None = None) -> None:
    """Print a measurement, and remember it if it is above what is promised."""
    verdict = "" if most is None else f" (at most {most:g})" if value <= most else f"  ABOVE {most:g}"
    if most is not None and value > most:
        EXCEEDED.append(f"{what}: {value:.2f} instead of {most:g}")
    print(f"  {what}: {value:.2f}{verdict}", flush=True)


def require(holds: bool, said: str) -> None:
    if not holds:
        sys.exit(f"does not hold: {said}")


CHECKS: dict[str, Callable[[], None]] = {
    "sums": check_sums,
    "one-file": check_one_file,
    "bad-places": check_bad_places,
    "unpacked-once": check_unpacked_once,
    "other-user": check_other_user,
    "folder": check_folder,
    "unit": check_unit,
    "package": check_package,
    "container": check_container,
    "wheel": check_wheel,
}

if __name__ == "__main__":
    main()
