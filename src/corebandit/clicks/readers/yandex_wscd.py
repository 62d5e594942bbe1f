"""Logs as lines of text: those of Yandex's challenges."""

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import IO, NamedTuple

from corebandit.clicks.readers.pages import PageCollector
from corebandit.contracts.validate import shortened

OPEN_SESSIONS = 100_000  # sessions that may still be clicked in
OPEN_DOCUMENTS = 20_000_000  # on their pages
CHARACTERS = 1_000_000  # read at once, and the longest record there may be
SPACED_COLON, COLON = re.compile(" :"), re.compile(":(?!//)")  # what may end the documents of a record


class Page(NamedTuple):
    """A result page that may still be clicked on."""

    line: int
    query: str
    documents: list[str]
    clicks: list[int]


def read_yandex(file: IO[str], collector: PageCollector) -> None:
    """Read the log of the Relevance Prediction Challenge: lines of queries and of clicks, fields between tabs.

    A query is `session, time, Q, query, region, document, document, ...`, a click `session, time, C, document` on the
    last page of its session. The region is not used: a query is its id. Lines of different sessions may alternate, but
    a session that was silent while 100,000 others spoke is over.
    """
    open_pages: OrderedDict[str, Page] = OrderedDict()  # the session that spoke last comes last
    n_open = 0  # documents on them
    for line, text in enumerate(file, start=1):
        fields = text.strip("\r\n").split("\t")
        if " " in text:
            fields = [field.strip() for field in fields]
        kind = fields[2] if len(fields) > 3 else ""
        collector.n_lines += bool(text.strip())
        if kind == "Q" and len(fields) > 5:
            finished = open_pages.pop(fields[0], None)
            if finished is None and len(open_pages) == OPEN_SESSIONS:
                _, finished = open_pages.popitem(last=False)
            if finished is not None:
                collector.add(*finished)
                n_open -= len(finished.documents)
            documents = fields[5:]
            open_pages[fields[0]] = Page(line, fields[3], documents, [0] * len(documents))
            n_open += len(documents)
            while n_open > OPEN_DOCUMENTS:  # pages so long that they would fill memory
                _, finished = open_pages.popitem(last=False)
                collector.add(*finished)
                n_open -= len(finished.documents)
        elif kind == "C" and len(fields) == 4:
            page = open_pages.get(fields[0])
            if page is None:
                collector.reject([(line, f"a click in session {fields[0]}, which has no query before it")])
                continue
            open_pages.move_to_end(fields[0])
            if fields[3] in page.documents:
                page.clicks[page.documents.index(fields[3])] = 1
            else:
                collector.ignored_clicks += 1
        elif text.strip():
            collector.reject([(line, f"neither a query with documents nor a click: {_beginning(text)}")])
    for page in open_pages.values():
        collector.add(*page)


def read_wscd(file: IO[str], collector: PageCollector) -> None:
    """Read the form of the WSCD sample: records `query_region, tab, document,document,... : clicked , clicked`.

    A semicolon ends a record; line breaks and spaces beside it mean nothing. Names may be addresses: a colon before
    `//` ends no documents, nor does one without a space before it where another has one.
    """
    for line, record in _records(file):
        collector.n_lines += 1
        query, tab, rest = record.partition("\t")
        ends = list((SPACED_COLON if " :" in rest else COLON).finditer(rest))
        if not tab or not ends:
            wanted = "query, tab, documents, colon, clicked documents"
            collector.reject([(line, f"a record must be {wanted}, not {_beginning(record)}")])
            continue
        if len(ends) > 1:
            advice = "write a space before the one that does, and nowhere else"
            collector.reject([(line, f"several colons could end the documents; {advice}: {_beginning(record)}")])
            continue
        page, clicked = rest[: ends[0].start()], rest[ends[0].end() :]
        documents = [name.strip() for name in page.split(",")]
        clicks = [0] * len(documents)
        for name in filter(None, map(str.strip, clicked.split(","))):
            if name in documents:
                clicks[documents.index(name)] = 1
            else:
                collector.ignored_clicks += 1
        collector.add(line, query.strip(), documents, clicks)


def _records(file: IO[str]) -> Iterator[tuple[int, str]]:
    """Yield the records between semicolons, each with the line that it starts on."""
    line, rest, is_over = 1, "", False
    while not is_over:
        text = file.read(CHARACTERS)
        is_over = not text
        records = (rest + text).split(";")
        # Without any semicolon a damaged file would pile up: what is too long for a record is given away as one.
        rest = "" if is_over or len(records[-1]) > CHARACTERS else records.pop()
        for record in records:
            stripped = record.lstrip()
            if stripped:
                yield line + record[: len(record) - len(stripped)].count("\n"), stripped.rstrip()
            line += record.count("\n")


def _beginning(text: str) -> str:
    return shortened(text.strip("\r\n"), longest=40)
