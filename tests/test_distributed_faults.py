"""What goes wrong on a cluster, or is stopped there: what users are told, and what is left."""

import pickle

from pixelsne.distributed.crew import Crew
from pixelsne.files.errors import FileError


class Workers:
    """All that a crew asks of a client about where tasks go."""

    def __init__(self, *names):
        self.names, self.wishes = list(names), []

    def nthreads(self):
        return dict.fromkeys(self.names, 1)

    def submit(self, _function, *_arguments, key, workers=None, **_more):
        self.wishes.append(workers)
        return key


def test_errors_about_files_travel_from_workers():
    error = pickle.loads(pickle.dumps(FileError("part.csv", "has no column 'a'")))  # noqa: S301 - our own
    assert isinstance(error, FileError)
    assert str(error) == "part.csv: has no column 'a'"


def test_shards_left_out_keep_no_worker_busy():
    client = Workers("a", "b", "c", "d")
    crew = Crew(client, 4)
    crew.take_fewer(2)
    client.names.remove("a")
    crew.find_homes()
    crew.each("tell", print, [1, 2])
    assert client.wishes == [["c"], ["b"]]  # not both at b, while c and d have nothing to do


def test_one_shard_of_many_workers_stays_where_it_is():
    client = Workers("a", "b")
    crew = Crew(client, 2)
    crew.take_fewer(1)
    crew.each("tell", print, [1])
    client.names.remove("a")
    crew.find_homes()
    crew.each("tell", print, [1])  # no wish: after its death the task would wait for this worker
    assert client.wishes == [["a"], None]
