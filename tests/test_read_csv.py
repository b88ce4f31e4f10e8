"""Text files: stray quotes, line ends, numeric headers."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne.files import columns
from pixelsne.files.csv_quotes import check_quotes
from pixelsne.files.errors import FileError
from pixelsne.files.read_points import read_points
from pixelsne.files.source import ReadOptions


def write_text(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode())
    return path


def rows(number, name="a name"):
    return [f"{row},{row / 2},{name}" for row in range(number)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_an_unclosed_quote_is_reported_with_its_line(end, name, tmp_path):
    lines = ["a,b,name", *rows(10_000)]
    lines[51] = '50,25.0,"a name'
    path = write_text(tmp_path, end.join(lines) + end, name)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(FileError, match=rf"{name}: line 52: a quote is opened and never closed"):
        read_points(path)


def test_an_unclosed_quote_in_a_later_block(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.files.csv_quotes.BLOCK_BYTES", 100)
    lines = ["a,b,name", *rows(300, '"several\nlines, ""quoted"""')]
    check_quotes(write_text(tmp_path, "\n".join(lines)), ",")
    lines[200] = '9,9,"x'
    with pytest.raises(FileError, match=r"line 400: a quote"):
        check_quotes(write_text(tmp_path, "\n".join([*lines[:201], *rows(90)])), ",")


def ends_in_quotes(content):
    """Return whether the content ends inside quotes, parsed as Arrow does, character by character."""
    state, position = "begin", 0
    while position < len(content):
        letter = content[position]
        if state == "quoted":
            if letter == '"' and content[position + 1 : position + 2] == '"':
                position += 1
            elif letter == '"':
                state = "plain"
        elif letter in ",\r\n":
            state = "begin"
        elif state == "begin":
            state = "quoted" if letter == '"' else "plain"
        position += 1
    return state == "quoted"


@pytest.mark.slow
def test_quotes_are_parsed_like_arrow(tmp_path, monkeypatch):
    random, found = np.random.default_rng(0), 0
    for _ in range(2000):
        content = "".join(random.choice(list('a",\n\r'), int(random.integers(14))))
        monkeypatch.setattr("pixelsne.files.csv_quotes.BLOCK_BYTES", int(random.choice([3, 5, 1000])))
        try:
            check_quotes(write_text(tmp_path, content), ",")
        except FileError:
            found += 1
            assert ends_in_quotes(content), content
        else:
            assert not ends_in_quotes(content), content
    assert 500 < found < 1500


def test_rows_between_two_stray_quotes_are_not_lost(tmp_path):
    lines = ["a,b,name", *rows(1000)]
    lines[51] = '50,25.0,"a name'
    lines[700] = '699,349.5,a name"'
    with pytest.raises(FileError, match=r"column 'name', row 51: a quoted text holds 648 lines that look like rows"):
        read_points(write_text(tmp_path, "\n".join(lines)))


def test_quoted_texts_may_have_several_lines(tmp_path):
    long_text = '"hello, world, and all\n1, 2, a list\nof things, in lines, told\nend"'
    source = read_points(write_text(tmp_path, "\n".join(["a,b,name", *rows(20, long_text)])))
    assert len(source) == 20
    assert source.extra_columns.column("name")[3].as_py() == long_text.strip('"')


def test_quotes_inside_of_a_value_are_plain_characters(tmp_path):
    source = read_points(write_text(tmp_path, '\ufeff"a",b,name\n1,2,5" pipe\n3,4,"6"" pipe"\n5,6,7" pipe\n'))
    assert source.extra_columns.column("name").to_pylist() == ['5" pipe', '6" pipe', '7" pipe']
    assert source.columns == ("a", "b")


def test_lines_may_end_with_a_carriage_return(tmp_path):
    source = read_points(write_text(tmp_path, "a,b\r1,2\r3,4\r5,6\r"))
    np.testing.assert_array_equal(source.values, [[1, 2], [3, 4], [5, 6]])
    assert source.columns == ("a", "b")
    random = np.random.default_rng(0).normal(size=(40, 3))
    path = write_text(tmp_path, "\r".join(",".join(map(str, row)) for row in random))
    run("embed", path, "-o", tmp_path / "map.npy", *QUICK)


def test_a_too_long_header_field_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(FileError, match=r"table\.csv: is not a table"):
        read_points(write_text(tmp_path, "a" * 200_000 + ",b\n1,2\n"))


@pytest.mark.parametrize(
    "first",
    [
        "country,1990,1991,1992,1993",
        "country,1990,2000,2010,2015",
        "country,2003,2002,2001,2000",
        ",0,1,2,3",
        "name,1,2,3,4",
    ],
)
def test_a_numeric_header_is_recognized(first, tmp_path):
    path = write_text(tmp_path, f"{first}\nFrance,1.5,2,3,4\nSpain,5,6,8,7")
    source = read_points(path)
    assert source.values.tolist() == [[1.5, 2, 3, 4], [5, 6, 8, 7]]
    assert source.columns == tuple(first.split(",")[1:])
    without = read_points(path, ReadOptions(header=False))
    assert len(without) == 3


@pytest.mark.parametrize(
    "content",
    [
        "1,2,3\n4,5,6\n7,8,9\n",  # the other rows count, too
        "2001,2003,2007\n2001,2002,2003\n1,9,2\n",
        "1990,1991\n3.5,4.5\n",  # two numbers are too few to decide
        "1,5,3\n4.5,5.5,6.5\n",
        "1.5,2.5,3.5\n4,9,2\n",
        "5,0,0,0\n3,0,0,1\n",
        "1,2,3\n",
    ],
)
def test_a_first_row_of_numbers_is_data(content, tmp_path):
    source = read_points(write_text(tmp_path, content))
    assert len(source) == len(content.splitlines())


def test_control_characters_in_names_are_escaped(tmp_path):
    with pytest.raises(FileError, match=r"its columns are \\x1b\[31mred\\x0c \(string\)") as caught:
        read_points(write_text(tmp_path, "\x1b[31mred\x0c\nword\n"))
    assert str(caught.value).isprintable()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_wide_tables_search_each_column_once(kind, tmp_path, monkeypatch):
    """Searching a name in a list of names took minutes for 20,000 columns."""
    names = [f"g{position}" for position in range(3000)]
    table = pa.table(dict(zip(names, np.random.default_rng(0).normal(size=(3000, 4)), strict=True)))
    path = tmp_path / f"wide.{kind}"
    pa.csv.write_csv(table, path) if kind == "csv" else pq.write_table(table, path)
    compared = 0

    class Counted(str):
        __slots__ = ()

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    choose = columns.choose_columns
    monkeypatch.setattr(columns, "choose_columns", lambda *arguments: [Counted(name) for name in choose(*arguments)])
    assert read_points(path).values.shape == (4, 3000)
    assert compared < 20 * 3000
