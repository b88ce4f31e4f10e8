"""What goes wrong on a cluster, or is stopped there: what users are told, and what is left."""

import pickle

from pixelsne.files.errors import FileError


def test_errors_about_files_travel_from_workers():
    error = pickle.loads(pickle.dumps(FileError("part.csv", "has no column 'a'")))  # noqa: S301 - our own
    assert isinstance(error, FileError)
    assert str(error) == "part.csv: has no column 'a'"
