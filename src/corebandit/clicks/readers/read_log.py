"""Read click logs from files, and write them.

Four formats: `yandex`, the log of the Relevance Prediction Challenge; `wscd`, records between semicolons; `csv` and
`parquet`, long tables. Text may be compressed with gzip. Queries and documents are text in all of them.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import polars as pl

from corebandit.clicks.readers.csv_parquet import COLUMNS, read_csv, read_parquet
from corebandit.clicks.readers.pages import EMPTY, FileLog, PageCollector
from corebandit.clicks.readers.separated import read_header
from corebandit.clicks.readers.yandex_wscd import read_wscd, read_yandex
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.contracts.validate import check_choice

TEXTS: dict[str, Callable[[IO[str], PageCollector], None]] = {
    "yandex": read_yandex,
    "wscd": read_wscd,
    "csv": read_csv,
}
FORMATS = (*TEXTS, "parquet")
PEEK = 100_000  # characters that tell a format
BLOCK = 65_536  # bytes read at once
LONGEST_LINE = 10_000_000  # bytes: a page of 100,000 documents with names of 100


def read_log(path: str | PathLike[str], format: str | None = None) -> FileLog:
    """Read a click log of any size.

    The file is read once; sessions then lie as integers in a temporary file (`TMPDIR` says where), so memory holds one
    batch and the names of the different (query, document) pairs. Lines that cannot be read are counted in `bad_lines`,
    with number and reason of the first few; if most are bad, the file is no click log. All pages must have the same
    length: only those with the most common number of documents are kept. Other sessions are counted in `dropped`, by
    reason, as are those that show a document twice, those whose rows do not stand together, and those that lack a row
    because it could not be read. A document clicked several times is clicked; clicks on documents that are not on the
    page are counted in `ignored_clicks`.

    Parameters
    ----------
    path
        The file.
    format
        `yandex`, `wscd`, `csv` or `parquet`; told from the file if not given.
    """
    path = Path(path)
    if format is not None:
        check_choice("format", format, FORMATS)
    if not path.is_file():
        raise BadInput(f"{path} must be a click log, and {'is a folder' if path.is_dir() else 'does not exist'}")
    collector = PageCollector()
    with _faults_as_sentences(path):
        if format is None:
            format = _guess(path)
        if format == "parquet":
            read_parquet(path, collector)
        else:
            with _text(path, has_lines=format != "wscd") as file:
                TEXTS[format](file, collector)
        return collector.log()


def _guess(path: Path) -> str:
    """Tell the format of a file by its name, or else by what it starts with."""
    with path.open("rb") as binary:
        if binary.read(4) == b"PAR1":
            return "parquet"
    if path.suffix == ".parquet":
        raise BadInput(f"it is not a Parquet file; if it is of another format, say which: {', '.join(TEXTS)}")
    if path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
        return "csv"
    with _text(path) as file:
        beginning = file.read(PEEK)
    header = read_header(io.StringIO(beginning))
    if header is None:
        raise BadInput(EMPTY)
    if set(COLUMNS) <= set(header.names):
        return "csv"
    for line in beginning.splitlines():
        fields = line.split("\t")
        if len(fields) > 3 and fields[2] in ("Q", "C"):
            return "yandex"
    if any("\t" in record and ":" in record for record in beginning.split(";")):
        return "wscd"
    raise BadInput(f"its format cannot be told; give one of {', '.join(FORMATS)}")


class LimitedLines(io.RawIOBase):
    """The bytes of a file, up to a line that is too long: a small compressed file may hold one larger than memory."""

    def __init__(self, file: Any) -> None:
        self._file, self._length = file, 0  # of the line that is being read

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with what comes next, and return how much that is."""
        n: int = self._file.readinto(buffer)
        last = bytes(buffer[:n]).rfind(b"\n")
        self._length = self._length + n if last < 0 else n - last - 1
        if self._length > LONGEST_LINE:
            raise BadInput(f"it has a line of more than {LONGEST_LINE:,} bytes")
        return n


@contextmanager
def _text(path: Path, has_lines: bool = False) -> Iterator[IO[str]]:
    """Open a text, compressed or not; bytes that are no text stay apart as escapes.

    Where it `has_lines`, a line that is too long is an error before it is in memory.
    """
    with path.open("rb") as binary:
        is_compressed = binary.read(2) == b"\x1f\x8b"
        binary.seek(0)
        unpacked = gzip.GzipFile(fileobj=binary) if is_compressed else binary
        start = unpacked.read(PEEK)
        unpacked.seek(0)
        if b"\0" in start:
            raise BadInput("it is no text, nor Parquet")
        # A byte order mark would hide the first column's name.
        guarded = io.BufferedReader(LimitedLines(unpacked), BLOCK) if has_lines else unpacked
        yield io.TextIOWrapper(guarded, encoding="utf-8-sig", errors="backslashreplace", newline="\n")


@contextmanager
def _faults_as_sentences(path: Path) -> Iterator[None]:
    """Raise BadInput that names the file for whatever is wrong with it."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DamagedFile(f"{path} is a damaged gzip file: {error}") from None
    except pl.exceptions.PolarsError as error:
        raise DamagedFile(f"{path} cannot be read as a table: {str(error).partition(chr(10))[0]}") from None
    except pl.exceptions.PanicException:  # what some torn Parquet files bring Polars to
        raise DamagedFile(f"{path} cannot be read as a table: it is damaged") from None
    except (MemoryError, OverflowError):
        raise DamagedFile(f"{path} cannot be read as a click log: it asks for more memory than there is") from None
    except (BadInput, UnicodeError) as error:
        raise DamagedFile(f"{path} cannot be read as a click log: {error}") from None
