"""Make a release: check, build, try the wheel, tag. Nothing leaves this machine unless asked to.

    uv run python scripts/release.py            say what is in the way of a release, and do nothing else
    uv run python scripts/release.py --tag      build, try the wheel in an environment of its own, and tag
    uv run python scripts/release.py --publish  all that, then push the tag and upload what was built

docs/releasing.md says what comes before and after.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
RELEASE = re.compile(r"\d+\.\d+\.\d+")
TRY = """
import corebandit as cb
agent = cb.Agent(cb.CORe(), arms=["a", "b"], seed=1)
agent.tell(agent.ask(), 1.0)
cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=50, runs=2), jobs=1)
print(cb.__version__)
"""


def said(*command: str, folder: Path) -> str:
    """Return what a command prints, or stop with what went wrong."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def version_in(root: Path) -> str:
    """Return the version that the package says it has."""
    text = (root / "src" / "corebandit" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return found[1] if found else "none"


def obstacles(root: Path) -> list[str]:
    """Return all that is in the way of a release, each in a sentence."""
    version, found = version_in(root), []
    if not RELEASE.fullmatch(version):
        found.append(f"the version in src/corebandit/__init__.py must be like 1.2.3, not {version}")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (.+)$", changes, re.MULTILINE)
    if newest is None or newest[1] != version:
        found.append(f"CHANGELOG.md must begin with {version}, not {newest[1] if newest else 'nothing'}")
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        found.append(f"CITATION.cff must name version {version}, not {cited[1] if cited else 'none'}")
    if changed := said("git", "status", "--porcelain", folder=root):
        found.append(f"everything must be committed, but there is {changed.splitlines()[0].strip()}")
    if (branch := said("git", "rev-parse", "--abbrev-ref", "HEAD", folder=root)) != "main":
        found.append(f"releases are made from main, not from {branch}")
    if tagged(root, version) and not is_tagged_here(root, version):
        found.append(f"there is a tag v{version} already, of another commit")
    return found


def tagged(root: Path, version: str) -> bool:
    """Tell whether there is a tag of this version."""
    return bool(said("git", "tag", "--list", f"v{version}", folder=root))


def is_tagged_here(root: Path, version: str) -> bool:
    """Tell whether what is checked out is what was tagged, so that a release may go on where it was left."""
    here, there = (said("git", "rev-parse", what, folder=root) for what in ("HEAD", f"v{version}^{{commit}}"))
    return here == there


def build(root: Path, folder: Path) -> list[Path]:
    """Build what is released, in a folder, and return the files."""
    said("uv", "build", "--out-dir", str(folder), folder=root)
    return sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))


def try_wheel(wheel: Path, version: str) -> None:
    """Install the wheel in an environment of its own, away from the sources, and let it decide and play."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        said("uv", "venv", "--python", sys.executable, "there", folder=folder)
        python = str(folder / "there" / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        said("uv", "pip", "install", "--python", python, str(wheel), folder=folder)
        found = said(python, "-c", TRY, folder=folder)
        if found != version:
            sys.exit(f"the wheel says it is version {found}, not {version}")


def main() -> None:
    """Do what was asked, up to the first obstacle."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", action="store_true", help="build, try and tag")
    parser.add_argument("--publish", action="store_true", help="build, try, tag, push the tag and upload")
    given = parser.parse_args()
    if found := obstacles(ROOT):
        sys.exit("\n".join(found))
    version = version_in(ROOT)
    if not (given.tag or given.publish):
        print(f"Nothing is in the way of {version}.")
        return
    dist = ROOT / "dist" / version
    files = build(ROOT, dist)
    try_wheel(next(path for path in files if path.suffix == ".whl"), version)
    if not tagged(ROOT, version):
        said("git", "tag", "--annotate", f"v{version}", "--message", f"Version {version}", folder=ROOT)
    print(f"Built and tried {', '.join(path.name for path in files)}; tagged v{version}.")
    if given.publish:
        said("git", "push", "origin", f"v{version}", folder=ROOT)
        said("uv", "publish", *map(str, files), folder=ROOT)
        print("Pushed and uploaded.")


if __name__ == "__main__":
    main()
