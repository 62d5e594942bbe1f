import contextlib
import csv
import gzip
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from corebandit.clicks import CM, DCM, PBM, fit
from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.readers import csv_parquet as tables, pages, separated, yandex_wscd as texts
from corebandit.clicks.readers.read_log import read_log
from corebandit.clicks.readers.summary import most_shown_pages, summarise
from corebandit.clicks.readers.writing import write_log, write_simulated_log
from corebandit.contracts.errors import BadInput
from often import often
from real_data import LOGS, needs_real_data

# Three pages of two sessions whose lines alternate, and everything that can be wrong with a line.
YANDEX = """\
1\t0\tQ\tapple\t7\ta\tb\tc
2\t0\tQ\tpear\t7\td\te\tf
1\t5\tC\tb
1\t6\tC\tb
1\t7\tC\tsomewhere else
1\t9\tQ\tapple\t7\tc\tb\ta
1\t10\tC\tc
2\t3\tC\td
1\t11\tC\ta
nonsense
9\t1\tC\ta

3\t0\tQ\tplum\t7
4\t0\tQ\tplum\t7\tx\tx\ty
5\t0\tQ\tplum\t7\tx\ty
6\t0\tQ\tplum\t7\tx\t\ty
"""
PAGES = [
    ("apple", ("a", "b", "c"), (0, 1, 0)),
    ("apple", ("c", "b", "a"), (1, 0, 1)),
    ("pear", ("d", "e", "f"), (1, 0, 0)),
]
WSCD = "apple\ta,b,c : b , b , else;apple\tc,b,a : c , a  ;\n\n;  pear\td,e,f :d;"
CSV = """\
session,query,rank,document,click
1,apple,1,a,0
1,apple,2,b,1
1,apple,3,c,0
2,apple,3,a,1
2,apple,1,c,1
2,apple,2,b,0
3,pear,1,d,1
3,pear,2,e,0
3,pear,3,f,0
"""


def contents(log):
    """Return what a log says: query, documents and clicks of every page, in any order."""
    names = log.pairs.sort("pair")
    query_of, documents = names["query"].to_list(), names["document"].to_list()
    found = []
    for batch in log.batches():
        assert batch.pairs.dtype == np.int32
        assert batch.clicks.dtype == np.uint8
        assert batch.queries.dtype == np.int32
        assert batch.queries.max() < log.n_queries
        for shown, clicks in zip(batch.pairs.tolist(), batch.clicks.tolist(), strict=True):
            (query,) = {query_of[pair] for pair in shown}
            found.append((query, tuple(documents[pair] for pair in shown), tuple(clicks)))
    assert len(found) == log.n_sessions
    return sorted(found)


def saved(folder, text, name="log"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["log.txt", "log.gz"])
@pytest.mark.parametrize("text", [YANDEX, WSCD, CSV], ids=["yandex", "wscd", "csv"])
def test_the_same_pages_are_read_from_every_format(text, name, tmp_path):
    log = read_log(saved(tmp_path, text, name))
    assert contents(log) == PAGES
    assert (log.n_positions, log.n_pairs, log.n_queries, log.n_sessions) == (3, 6, 2, 3)
    assert contents(log) == PAGES, "batches can be had again"


def test_lines_of_yandex_that_mean_nothing_are_counted_with_their_reasons(tmp_path):
    log = read_log(saved(tmp_path, YANDEX))
    assert log.ignored_clicks == 1
    assert log.bad_lines == (
        3,
        (
            (10, "neither a query with documents nor a click: 'nonsense'"),
            (11, "a click in session 9, which has no query before it"),
            (13, "neither a query with documents nor a click: '3\\t0\\tQ\\tplum\\t7'"),
        ),
    )
    assert log.dropped.by_reason == {
        "a document twice": 1,
        "a query or document without a name": 1,
        "another number of documents than most, 3": 1,
    }
    assert log.dropped.examples == (
        (14, "document x stands on the page twice"),
        (15, "the page has 2 documents, and most others have 3"),
        (16, "the document has no name"),
    )


def test_a_session_that_was_silent_for_long_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "OPEN_SESSIONS", 2)
    pages_of = "".join(f"{session}\t0\tQ\tq\t0\ta\tb\n" for session in range(4))
    log = read_log(saved(tmp_path, pages_of + "3\t1\tC\ta\n2\t1\tC\tb\n0\t1\tC\ta\n"))
    assert [clicks for _, _, clicks in contents(log)] == [(0, 0), (0, 0), (0, 1), (1, 0)]
    assert log.bad_lines == (1, ((7, "a click in session 0, which has no query before it"),))


def test_bad_records_of_wscd_are_counted_with_their_reasons(tmp_path):
    log = read_log(saved(tmp_path, WSCD + "\napple a,b,c : a;\n apple\ta,b,c;\tx,y,z :; apple\ta,a,c :;p\ta,b :"))
    assert contents(log) == PAGES
    assert log.ignored_clicks == 1
    count, examples = log.bad_lines
    assert count == 3
    assert [line for line, _ in examples] == [4, 5, 5]
    reasons = [reason for _, reason in examples]
    assert "a record must be query, tab, documents, colon, clicked documents, not 'apple a,b,c : a'" in reasons
    assert all("must be query, tab" in reason for reason in reasons)
    assert log.dropped.examples == (
        (5, "document a stands on the page twice"),
        (5, "the page has 2 documents, and most others have 3"),
    )


@pytest.mark.parametrize("colon", [" : ", ":", ": ", " :"])
def test_names_of_wscd_may_be_addresses(colon, tmp_path):
    log = read_log(saved(tmp_path, f"q\thttp://a,https://b{colon}https://b;" * 3), "wscd")
    assert contents(log) == [("q", ("http://a", "https://b"), (0, 1))] * 3


def test_a_colon_that_may_or_may_not_end_the_documents_is_refused(tmp_path):
    good = "q\thttp://a:80,http://b:80 : http://b:80;"
    log = read_log(saved(tmp_path, good * 2 + good.replace(" : ", ":")), "wscd")
    assert contents(log) == [("q", ("http://a:80", "http://b:80"), (0, 1))] * 2
    assert log.bad_lines[0] == 1
    assert "several colons could end the documents" in log.bad_lines[1][0][1]


def test_a_wscd_log_without_semicolons_does_not_pile_up(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "CHARACTERS", 50)
    # The good pages are many: were most records bad, it would be no click log.
    log = read_log(saved(tmp_path, WSCD * 150 + "x" * 10_000 + ";" + WSCD), format="wscd")
    assert contents(log) == sorted(PAGES * 151)
    assert log.bad_lines[0] > 10


def test_bad_rows_of_a_table_are_counted_with_their_reasons(tmp_path):
    bad = """\
4,pear,1,d,2
5,pear,first,d,0
6,pear,1.5,d,0
7,,1,d,0
8,pear
9,pear,1,d,0,and,more,than,asked,for
9,apple,2,e,0
9,pear,3,f,0
10,pear,1,d,0
10,pear,1,e,0
10,pear,3,f,0
11,pear,1,d,0
11,pear,2,d,0
11,pear,3,f,0
12,pear,1,d,1
"""
    log = read_log(saved(tmp_path, CSV + bad))
    assert contents(log) == PAGES
    assert log.bad_lines == (
        6,
        (
            (11, "click must be 0 or 1, not 2"),
            (12, "rank must be a whole number from 1 on, not first"),
            (13, "rank must be a whole number from 1 on, not 1.5"),
            (14, "query is missing"),
            (15, "rank is missing"),
        ),
    )
    assert log.dropped.by_reason == {
        "a row that could not be read": 6,
        "not every rank from 1 on once": 1,
        "a document twice": 1,
        "another number of documents than most, 3": 1,
    }
    rest = bad[bad.index("9,apple") :].replace("9,apple", "9,plum,1,d,0\n9,apple")
    later = read_log(saved(tmp_path, CSV + rest))
    assert later.bad_lines == (0, ())
    assert later.dropped.examples == (
        (11, "session 9 has more than one query"),
        (14, "session 10 has not every rank from 1 on once, but 1, 1, 3"),
        (17, "a document stands on the page twice"),
        (20, "the page has 1 document, and most others have 3"),
    )


@pytest.mark.parametrize("row", ["4,pear,1,d,2", "4,pear,x,d,0", "4,pear,1,,0", "4,pear,1,d,0,more", ",pear,3,d,0"])
def test_a_row_that_cannot_be_read_spoils_its_session(row, tmp_path):
    # Without it, session 4 would look like a good page of three documents.
    rest = ["4,pear,1,d,0", "4,pear,2,e,0", "4,pear,3,f,0"]
    for place in range(1, 4) if row.startswith(",") else range(4):
        text = CSV + "\n".join([*rest[:place], row, *rest[place:]])
        log = read_log(saved(tmp_path, text))
        assert contents(log) == PAGES
        assert (log.bad_lines[0], log.bad_lines[1][0][0]) == (1, 11 + place)
        assert log.dropped.n_sessions >= 1


def test_ranks_from_zero_are_named(tmp_path):
    frame = pl.read_csv(saved(tmp_path, CSV)).with_columns(pl.col("rank") - 1)
    frame.write_csv(tmp_path / "log.csv")
    frame.write_parquet(tmp_path / "log.parquet")
    for name in ("log.csv", "log.parquet"):
        with pytest.raises(ValueError, match="ranks start at 0; they must start at 1"):
            read_log(tmp_path / name)


def test_empty_fields_beyond_the_header_are_no_fault(tmp_path):
    assert contents(read_log(saved(tmp_path, CSV.replace(",0\n", ",0,, \n")))) == PAGES


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_fields_may_be_separated_by_tabs_or_semicolons(separator, tmp_path):
    for name in ("log.tsv", "log"):
        assert contents(read_log(saved(tmp_path, CSV.replace(",", separator), name))) == PAGES


def test_blank_lines_above_the_header_and_between_rows_mean_nothing(tmp_path):
    log = read_log(saved(tmp_path, "\n \n" + CSV.replace("2,apple,1", "\n2,apple,1") + "4,pear,1,d,7\n", "log.csv"))
    assert contents(log) == PAGES
    assert log.bad_lines[1][0][0] == 14, "lines are counted from the top of the file"


def test_an_open_quote_spoils_only_its_own_line(tmp_path):
    quoted = CSV.replace("1,pear", '1,"pear"').replace("3,pear,1", '3,"pear",1')
    log = read_log(saved(tmp_path, quoted + '4,"pear,1,d,0\n5,pear,1,"d, e",1\n5,pear,2,e,0\n5,pear,3,f,0\n'))
    assert contents(log) == sorted([*PAGES, ("pear", ("d, e", "e", "f"), (1, 0, 0))])
    assert log.bad_lines[0] == 1
    assert log.bad_lines[1][0][0] == 11


@pytest.mark.parametrize("text", ['"{}"', '"{}, {}"', '"{}""x"', '"{}\x1f"'])
def test_quotes_are_read_in_chunks_of_any_size(text, tmp_path, monkeypatch):
    names = {name: text.format(name, name) for name in "abcdef"}
    quoted = "".join(",".join(names.get(field, field) for field in line.split(",")) + "\n" for line in CSV.splitlines())
    meant = {name: next(csv.reader([quote]))[0] for name, quote in names.items()}
    expected = sorted((query, tuple(meant[name] for name in shown), clicks) for query, shown, clicks in PAGES)
    for size in (1, 2, 50_000):
        monkeypatch.setattr(separated, "QUOTED_LINES", size)
        assert contents(read_log(saved(tmp_path, quoted))) == expected


def test_a_field_too_long_for_a_name_is_a_bad_line(tmp_path):
    log = read_log(saved(tmp_path, CSV + '4,"' + "x" * 200_000 + '",1,d,0\n'))
    assert contents(log) == PAGES
    assert log.bad_lines[0] == 1


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text])
def test_line_ends_and_marks_of_other_systems_are_no_part_of_names(change, tmp_path):
    for text in (YANDEX, CSV):
        assert contents(read_log(saved(tmp_path, change(text)))) == PAGES


def test_columns_of_a_table_may_stand_anywhere_and_be_of_any_type(tmp_path):
    table = pl.read_csv(saved(tmp_path, CSV)).select("click", "document", "rank", "query", "session", other=pl.lit(0.5))
    table.write_csv(tmp_path / "log.csv")
    table.with_columns(pl.col("click") == 1, pl.col("rank").cast(pl.Int8)).write_parquet(tmp_path / "log.parquet")
    for name in ("log.csv", "log.parquet"):
        assert contents(read_log(tmp_path / name)) == PAGES


def test_names_are_text_in_every_format(tmp_path):
    frame = pl.DataFrame({"session": [1, 1], "query": [5, 5], "rank": [1, 2], "document": [10, 11], "click": [0, 1]})
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_csv(tmp_path / "log.csv")
    of_text = read_log(saved(tmp_path, "5\t10,11 : 11;"))
    for name in ("log.csv", "log.parquet"):
        assert contents(read_log(tmp_path / name)) == contents(of_text) == [("5", ("10", "11"), (0, 1))]


def test_a_table_that_is_not_sorted_by_session_is_refused_with_advice(tmp_path):
    pl.read_csv(saved(tmp_path, CSV)).sort("rank").write_parquet(tmp_path / "log.parquet")
    with pytest.raises(ValueError, match="rows of a session must stand together: sort the table by session"):
        read_log(tmp_path / "log.parquet")


def in_pieces(n_sessions, torn):
    """Return a table of pages of four documents; the first `torn` sessions are in two pieces, each a page by itself."""
    rows = {i: [f"{i},q,{1 + rank % 2},{'abcd'[rank]},0" for rank in range(4)] for i in range(torn)}
    pieces = [row for half in (slice(0, 2), slice(2, 4)) for i in rows for row in rows[i][half]]
    whole = [f"{i},q,{rank + 1},{'abcd'[rank]},0" for i in range(torn, n_sessions) for rank in range(4)]
    return "\n".join(["session,query,rank,document,click", *pieces, *whole])


def test_sessions_in_pieces_are_dropped_though_each_piece_looks_like_a_page(tmp_path):
    log = read_log(saved(tmp_path, in_pieces(20, torn=3)))
    assert (log.n_sessions, log.n_positions) == (17, 4)
    assert log.dropped.by_reason == {"rows that do not stand together: sort the table by session": 6}
    with pytest.raises(ValueError, match="rows of a session must stand together: sort the table by session"):
        read_log(saved(tmp_path, in_pieces(20, torn=20)))


def test_sessions_that_come_again_much_later_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 4)
    monkeypatch.setattr(tables, "SAMPLE", 1)
    with pytest.warns(UserWarning, match="some sessions come again later in the table"):
        log = read_log(saved(tmp_path, CSV + CSV[CSV.index("1,apple") : CSV.index("2,apple")]))
    assert log.n_sessions == 4
    with pytest.raises(ValueError, match="rows of a session must stand together: sort the table by session"):
        read_log(saved(tmp_path, in_pieces(20, torn=20)))


def test_a_table_in_which_most_sessions_lack_their_first_row_is_still_read(tmp_path):
    lines = CSV.splitlines(keepends=True)
    log = read_log(saved(tmp_path, "".join(line for line in lines if line not in (lines[1], lines[5]))))
    assert contents(log) == PAGES[2:]
    assert log.dropped.by_reason == {"not every rank from 1 on once": 2}


def test_a_table_of_one_endless_session_does_not_pile_up(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 10)
    monkeypatch.setattr(tables, "LAST_RANK", 20)
    monkeypatch.setattr(tables, "SAMPLE", 1)
    with pytest.warns(UserWarning, match="come again"):
        log = read_log(saved(tmp_path, CSV + "4,pear,1,d,0\n" * 100))
    assert contents(log) == PAGES
    assert log.dropped.n_sessions == 4  # in pieces of up to 30 rows


@pytest.mark.heavy
@pytest.mark.parametrize("format", ["yandex", "wscd", "csv", "parquet"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_a_log_read_in_many_small_parts_through_a_file_is_the_same(format, tmp_path_factory, data):
    n, width = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4))
    order = st.permutations([str(document) for document in range(6)])
    queries = [f"q{data.draw(st.integers(0, 3))}" for _ in range(n)]
    documents = [data.draw(order)[:width] for _ in range(n)]
    clicks = data.draw(st.lists(st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=n, max_size=n))
    log = ClickLog.from_arrays(queries, documents, clicks, batch_size=7)
    path = tmp_path_factory.mktemp("log") / f"log.{format}"
    if format in ("csv", "parquet"):
        write_log(path, log)
    else:
        path.write_text(
            "".join(AS_TEXT[format](*page) for page in zip(range(n), queries, documents, clicks, strict=True))
        )
    with pytest.MonkeyPatch.context() as patch:
        for module, name, size in ((pages, "BATCH", 4), (pages, "IN_MEMORY", 1), (tables, "ROWS", 5)):
            patch.setattr(module, name, size)
        patch.setattr(texts, "CHARACTERS", 100)
        read = read_log(path, format)
    assert contents(read) == contents(log)
    assert read.bad_lines == (0, ())
    assert read.dropped.n_sessions == 0
    assert (read.n_pairs, read.n_queries, read.n_positions) == (log.n_pairs, log.n_queries, log.n_positions)
    assert all(len(batch.queries) <= 6 for batch in read.batches())


AS_TEXT = {
    "yandex": lambda session, query, documents, clicks: (
        "\t".join([str(session), "0", "Q", query, "0", *documents])
        + "\n"
        + "".join(f"{session}\t1\tC\t{documents[rank]}\n" for rank in np.flatnonzero(clicks))
    ),
    "wscd": lambda session, query, documents, clicks: (
        f"{query}\t{','.join(documents)} : {' , '.join(documents[rank] for rank in np.flatnonzero(clicks))};\n"
    ),
}


def test_two_walks_through_a_log_may_alternate(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "BATCH", 1)
    log = read_log(saved(tmp_path, WSCD))
    for one, other in zip(log.batches(), log.batches(), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_threads_may_share_a_log(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "BATCH", 50)
    rng = np.random.default_rng(0)
    shown = rng.permuted(np.tile(np.arange(5), (2_000, 1)), axis=1)
    write_log(tmp_path / "log.parquet", ClickLog.from_arrays(rng.integers(9, size=2_000), shown, shown % 2))
    log = read_log(tmp_path / "log.parquet")
    expected = [batch.pairs.sum() for batch in log.batches()]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: [batch.pairs.sum() for batch in log.batches()], range(40)))
    finally:
        sys.setswitchinterval(interval)
    assert all(sums == expected for sums in found)


def test_a_temporary_file_that_was_damaged_is_never_given_to_compiled_code(tmp_path):
    log = read_log(saved(tmp_path, WSCD))
    for place, content, error in ((0, b"\xff\xff\xff\x7f", ValueError), (9 * 4, b"\x02", ValueError)):
        spilled = log._spill._file
        spilled.seek(place)
        before = spilled.read(len(content))
        spilled.seek(place)
        spilled.write(content)
        with pytest.raises(error, match="of sessions must be from 0 to"):
            list(log.batches())
        spilled.seek(place)
        spilled.write(before)
    assert contents(log) == PAGES
    spilled.truncate(20)
    with pytest.raises(OSError, match="was cut off"):
        list(log.batches())


def test_random_bytes_are_no_click_log(tmp_path):
    junk = np.random.default_rng(0).bytes(3_000)
    for name, message in (("log.txt", "it is no text, nor Parquet"), ("log.parquet", "it is not a Parquet file")):
        (tmp_path / name).write_bytes(junk)
        with pytest.raises(ValueError, match=message):
            read_log(tmp_path / name)
    (tmp_path / "log.txt").write_bytes(junk.replace(b"\0", b""))
    with pytest.raises(ValueError, match="cannot be read as a click log"):
        read_log(tmp_path / "log.txt", "yandex")


@pytest.mark.parametrize("format", ["yandex", "wscd", "csv"])
def test_a_file_of_mostly_bad_lines_is_no_click_log(format, tmp_path):
    text = {"yandex": YANDEX + "nonsense\n" * 20, "wscd": WSCD + "nonsense;" * 20, "csv": CSV + "nonsense\n" * 20}
    with pytest.raises(ValueError, match=r"it is not a click log, or not of this format: 2\d of \d\d lines are none"):
        read_log(saved(tmp_path, text[format]))


@pytest.mark.parametrize(
    ("name", "content", "format", "message"),
    [
        ("log.txt", b"", None, "is empty"),
        ("log.txt", b"", "yandex", "is empty"),
        ("log.txt", b"\n \n", None, "is empty"),
        ("log.gz", gzip.compress(b"", mtime=0), "wscd", "is empty"),
        ("log.csv", b"session,query,rank,document,click\n", None, "is empty"),
        (
            "log.csv",
            b"session,query,rank,document\n1,q,1,a\n",
            "csv",
            "column click is missing; the columns are ",
        ),
        (
            "log.csv",
            b"session,query,position,click\n1,q,1,a\n",
            None,
            "columns rank, document are missing",
        ),
        ("log.tsv", b"session\tquery\tat\n1\tq\t12:30\n", None, "columns rank, document, click are missing"),
        ("log.txt", b"nonsense\n" * 3, None, "format cannot be told; give one of yandex, wscd, csv, parquet"),
        ("log.txt", b"nonsense\n" * 3, "yandex", "no good result page; line 1: neither a query"),
        ("log.txt", b"nonsense;" * 3, "wscd", "no good result page; line 1: a record must be"),
        ("log.txt", b"session,query,rank,document,click\n1,q,x,a,0\n", None, "no good result page; line 2: rank must"),
        ("log.parquet", b"PAR1 nonsense", None, "cannot be read as a table"),
        ("log.parquet", b"nonsense", "parquet", "cannot be read as a table"),
        ("log.parquet", CSV.encode(), None, "it is not a Parquet file; if it is of another format, say which: yandex"),
        ("log.gz", gzip.compress(WSCD.encode() * 100, mtime=0)[:60], "wscd", "damaged gzip file"),
        ("log.txt", WSCD.encode(), "xml", "format must be 'yandex' or 'wscd' or 'csv' or 'parquet', not 'xml'"),
    ],
)
def test_a_file_without_a_good_page_is_one_sentence(name, content, format, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_log(path, format)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"log\.txt must be a click log, and does not exist"):
        read_log(tmp_path / "log.txt")
    with pytest.raises(ValueError, match="must be a click log, and is a folder"):
        read_log(tmp_path)


def test_bytes_that_are_no_text_stay_different_names(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"q\t\xff,\xfe,b : \xfe;")
    assert contents(read_log(path)) == [("q", ("\\xff", "\\xfe", "b"), (0, 1, 0))]


@pytest.mark.parametrize("name", ["log.parquet", "log.csv", "log.csv.gz"])
def test_a_log_is_written_as_it_is(name, tmp_path):
    log = read_log(saved(tmp_path, YANDEX))
    write_log(tmp_path / name, log)
    again = read_log(tmp_path / name)
    assert contents(again) == PAGES
    assert again.pairs.equals(log.pairs)
    assert {path.name for path in tmp_path.iterdir()} == {"log", name}


@pytest.mark.parametrize("name", ["log.parquet", "log.csv", "log.csv.gz"])
@settings(max_examples=12, deadline=None)
@given(names=st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=3, max_size=3, unique=True))
def test_names_are_read_as_they_were_written_or_refused(name, tmp_path_factory, names):
    path = tmp_path_factory.mktemp("log") / name
    log = ClickLog.from_arrays(np.array(names[:1], object), np.array([names[1:]], object), [[0, 1]])
    if all(text and text == pl.Series([text]).str.strip_chars()[0] and not set("\r\n\0") & set(text) for text in names):
        write_log(path, log)
        assert contents(read_log(path)) == contents(log)
    else:
        with pytest.raises(ValueError, match="must have a name without"):
            write_log(path, log)


def test_names_in_parquet_are_stripped_as_in_text(tmp_path):
    table = pl.read_csv(saved(tmp_path, CSV)).with_columns(pl.format(" {} ", "document"))
    for dtype in (pl.String, pl.Categorical):
        table.with_columns(pl.col("document").cast(dtype)).write_parquet(tmp_path / "log.parquet")
        assert contents(read_log(tmp_path / "log.parquet")) == PAGES
        nameless = table.with_columns(pl.lit(" ").cast(dtype).alias("document"))
        nameless.write_parquet(tmp_path / "log.parquet")
        with pytest.raises(ValueError, match="line 1: document is missing"):
            read_log(tmp_path / "log.parquet")


def test_a_log_that_breaks_off_while_it_is_written_leaves_nothing(tmp_path):
    class Breaking(ClickLog):
        def batches(self):
            yield from super().batches()
            raise ValueError("the disk is gone")

    log = Breaking.from_arrays(["q"], [["a", "b"]], [[0, 1]])
    for name in ("log.parquet", "log.csv"):
        with pytest.raises(ValueError, match="the disk is gone"):
            write_log(tmp_path / name, log)
    with pytest.raises(ValueError, match=r"must end in \.parquet, \.csv or \.csv\.gz"):
        write_log(tmp_path / "log.txt", log)
    with pytest.raises(ValueError, match="No such file or directory"):
        write_log(tmp_path / "nowhere" / "log.csv", log)
    assert not list(tmp_path.iterdir())


def test_what_was_simulated_written_and_read_is_recovered_by_fitting(tmp_path):
    attraction = {"q0": (0.5, 0.3, 0.1, 0.05), "q1": (0.2, 0.6, 0.4, 0.1)}
    models = {query: CM(values) for query, values in attraction.items()}
    write_simulated_log(tmp_path / "log.parquet", models, 20_000, seed=3)
    log = read_log(tmp_path / "log.parquet")
    assert (log.n_sessions, log.n_pairs) == (20_000, 8)
    fitted = fit("CM", log)["CM"]
    for query, values in attraction.items():
        found = fitted.per_query(query, ["0", "1", "2", "3"]).attraction
        assert np.abs(np.subtract(found, values)).max() < 0.02
    shown = pl.read_parquet(tmp_path / "log.parquet")
    by_rank = shown.group_by("rank", "document").len()["len"]
    assert np.abs(by_rank.to_numpy() / 20_000 - 0.25).max() < 0.02, "every document is everywhere equally often"


def test_a_simulated_log_depends_on_its_seed_alone(tmp_path):
    models = {"q": PBM([0.5, 0.3], [1.0, 0.5])}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_simulated_log(tmp_path / f"{name}.parquet", models, 100, seed=seed)
    a, b, c = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in "abc")
    assert a.equals(b)
    assert not a.equals(c)


def test_simulated_documents_keep_their_names(tmp_path):
    models = {"q": PBM([0.9, 0.1], [1.0, 0.5]), "r": PBM([0.2, 0.3], [1.0, 0.5])}
    names = {"q": ["red shoe", "blue shoe"]}
    write_simulated_log(tmp_path / "plain.parquet", models, 300, seed=1)
    write_simulated_log(tmp_path / "named.parquet", models, 300, seed=1, documents=names)
    plain, named = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("plain", "named"))
    shown = [names.get(query, ["0", "1"])[index] for query, index in plain.select("query", "document").rows()]
    assert named["document"].to_list() == shown
    assert named.drop("document").equals(plain.drop("document"))


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", " "], "ab", 7])
def test_names_that_do_not_fit_the_documents_are_refused(names, tmp_path):
    with pytest.raises(ValueError, match=r"^(documents of query q must be 2 different names|a document must have)"):
        write_simulated_log(tmp_path / "log.csv", {"q": CM([0.5, 0.3])}, 10, documents={"q": names})
    assert not list(tmp_path.iterdir())


def test_only_queries_with_as_many_positions_are_simulated_together(tmp_path):
    models = {"q": DCM([0.5, 0.3], [0.5, 0.5]), "r": DCM([0.5], [0.5])}
    with pytest.raises(ValueError, match="must have as many positions as q, 2, but r has 1"):
        write_simulated_log(tmp_path / "log.parquet", models, 10)


def test_the_page_shown_most_is_found():
    queries = ["r"] * 2 + ["q"] * 5 + ["s"] * 3
    documents = [["a", "b"], ["b", "a"], *[["a", "b"]] * 2, *[["b", "a"]] * 3, ["c", "d"], ["d", "c"], ["d", "c"]]
    clicks = np.zeros((10, 2), dtype=int)
    for batch_size in (1, 3, 100):
        log = ClickLog.from_arrays(queries, documents, clicks, batch_size=batch_size)
        found = most_shown_pages(log)
        assert list(found.items()) == [("q", ["b", "a"]), ("s", ["d", "c"]), ("r", ["a", "b"])]
        assert most_shown_pages(log, 1) == {"q": ["b", "a"]}


def test_a_log_is_summarised(tmp_path):
    summary = summarise(read_log(saved(tmp_path, CSV + "4,pear,1,d,0\n4,pear,2,e,0\n4,pear,3,f,0\n")))
    assert summary[:5] == (4, 2, 6, 6, 3)
    assert summary.clicks_per_session == 1.0
    assert summary.share_without_clicks == 0.25
    assert summary.click_through.tolist() == [0.5, 0.25, 0.25]


@needs_real_data
@pytest.mark.parametrize(
    ("name", "n_sessions", "n_pairs", "ignored"), [("train", 35_064, 1_024, 417), ("test", 21_413, 1_031, 276)]
)
def test_the_sample_of_yandex_is_read_whole(name, n_sessions, n_pairs, ignored):
    log = read_log(LOGS / f"{name}Sample.txt.gz")
    assert (log.n_sessions, log.n_pairs, log.n_queries, log.n_positions) == (n_sessions, n_pairs, 20, 10)
    assert log.bad_lines == (0, ())
    assert log.ignored_clicks == ignored


# Files that would take all memory, or are torn ----------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "yandex"])
@pytest.mark.parametrize(
    "start", often([""], ["", "session,query,rank,document,click\n1,", "1\t0\tQ\tq\t0\t"], pytest.mark.heavy)
)
def test_one_enormous_line_is_never_in_memory(format, start, tmp_path):
    path = tmp_path / "log.gz"
    tenth = gzip.compress(b"a" * 10_000_000, compresslevel=1)  # gzip reads parts in a row as one
    path.write_bytes(gzip.compress(start.encode()) + 10 * tenth)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="a line of more than 10,000,000 bytes"):
            read_log(path, format)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


def test_records_without_line_breaks_are_no_long_line(tmp_path, monkeypatch):
    monkeypatch.setattr("corebandit.clicks.readers.read_log.LONGEST_LINE", 200)
    text = "".join(f"q{query}\ta,b,c : b;" for query in range(1000))
    assert read_log(saved(tmp_path, text)).n_sessions == 1000


def test_lines_so_long_that_few_fit_into_memory_mean_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("corebandit.clicks.readers.separated.CHARACTERS", 50)
    monkeypatch.setattr("corebandit.clicks.readers.separated.FEW", 2)
    assert contents(read_log(saved(tmp_path, CSV))) == PAGES


def test_open_pages_so_long_that_few_fit_into_memory_are_closed_early(tmp_path, monkeypatch):
    monkeypatch.setattr("corebandit.clicks.readers.yandex_wscd.OPEN_DOCUMENTS", 6)
    text = "".join(f"{session}\t0\tQ\tq\t0\ta\tb\tc\n{session}\t1\tC\tb\n" for session in range(9))
    log = read_log(saved(tmp_path, text))
    assert contents(log) == [("q", ("a", "b", "c"), (0, 1, 0))] * 9


@pytest.mark.heavy
def test_a_torn_parquet_file_is_answered_with_a_sentence(tmp_path):
    path, rng = tmp_path / "log.parquet", np.random.default_rng(0)
    pl.DataFrame(
        {
            "session": np.repeat(np.arange(500), 4),
            "query": [f"q{row // 40}" for row in range(2000)],
            "rank": np.tile([1, 2, 3, 4], 500),
            "document": [f"d{row % 8}" for row in range(2000)],
            "click": np.tile([0, 1, 0, 0], 500),
        }
    ).write_parquet(path)
    whole = path.read_bytes()
    torn = [whole[:length] for length in range(4, len(whole), len(whole) // 20)]
    for _ in range(100):
        changed = bytearray(whole)
        for place in rng.integers(4, len(whole), size=3):
            changed[place] = rng.integers(256)
        torn.append(bytes(changed))
    for content in torn:
        path.write_bytes(content)
        with contextlib.suppress(BadInput):  # or it is read
            read_log(path)


def test_polars_giving_up_is_answered_with_a_sentence(tmp_path, monkeypatch):
    def give_up(path, collector):
        raise pl.exceptions.PanicException("called unwrap on an Err")

    monkeypatch.setattr("corebandit.clicks.readers.read_log.read_parquet", give_up)
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match="it is damaged"):
        read_log(tmp_path / "log.parquet")
