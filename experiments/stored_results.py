"""Stored results, one line of JSON per cell, so that a stopped run can continue."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Clock, machine
from experiments.cells import Cell, Result, map_file, measure


@dataclass(frozen=True)
class Measured:
    """A line of the file."""

    cell: Cell
    result: Result
    machine: dict[str, Any]

    def where(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.machine.items() if name != "date")


class StoredResults:
    """Finished cells, in a file that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        entries = [
            json.loads(line) for line in lines if line.endswith("}}")
        ]  # a killed run may have left an incomplete line
        # In the order of the file: the last measurement of a cell counts.
        self.measured = [Measured(Cell(**entry["cell"]), entry["result"], entry["machine"]) for entry in entries]
        self._last = {one.cell: one for one in self.measured}
        description = path.with_name("data.json")
        self.sets: dict[str, Any] = json.loads(description.read_text(encoding="utf-8")) if description.exists() else {}

    def get(self, cell: Cell) -> Result | None:
        """Return the result that was measured on the data described by `sets`."""
        last = self._last.get(cell)
        return last.result if last is not None and self.is_of_these_data(last) else None

    def is_of_these_data(self, one: Measured) -> bool:
        return bool(one.result["fingerprint"] == self.sets.get(one.cell.data, {}).get("fingerprint"))

    def counted(self) -> list[Measured]:
        """Return each cell once."""
        return [one for one in self._last.values() if self.is_of_these_data(one)]

    def have(self, cells: Iterable[Cell]) -> list[Result]:
        """Return the results of the finished cells."""
        return [result for result in map(self.get, cells) if result is not None]

    def map_of(self, cell: Cell) -> Path | None:
        """Return the map's file if it is still in the cache."""
        result = self.get(cell)
        file = None if result is None else map_file(cell, result["fingerprint"])
        return file if file is not None and file.exists() else None

    def complete(self, cells: Iterable[Cell], *, with_maps: bool = False) -> None:
        """Measure the cells that are missing, or whose map is needed and missing. Print failures and continue."""
        missing = [
            cell for cell in dict.fromkeys(cells) if self.get(cell) is None or (with_maps and self.map_of(cell) is None)
        ]
        for number, cell in enumerate(missing, start=1):
            print(f"[{number}/{len(missing)}] {cell}", end=" ", flush=True)
            with Clock() as clock:
                try:
                    self.add(cell, measure(cell) | {"fingerprint": self.sets[cell.data]["fingerprint"]})
                except RuntimeError as problem:
                    print(f"failed: {str(problem).strip().splitlines()[-1]}", end=" ")
            print(f"{clock.seconds:.0f} s", flush=True)

    def describe(self, sets: dict[str, Any]) -> None:
        """Store the descriptions of the data sets, for the report and for later runs without the data."""
        self.sets |= sets
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.with_name("data.json").write_text(json.dumps(self.sets, indent=1) + "\n", encoding="utf-8")

    def add(self, cell: Cell, result: Result) -> None:
        one = Measured(cell, result, machine())
        self.measured.append(one)
        self._last[cell] = one
        self.path.parent.mkdir(parents=True, exist_ok=True)
        entry = {"cell": asdict(cell), "result": result, "machine": one.machine}
        with self.path.open("a+b") as file:
            file.seek(max(0, file.tell() - 1))
            begin = "" if file.read() in {b"", b"\n"} else "\n"
            file.write(f"{begin}{json.dumps(entry)}\n".encode())


def sizes_of(sets: dict[str, Any]) -> dict[str, int]:
    return {name: int(description["points"]) for name, description in sets.items()}
