"""What was measured, one line of JSON for each cell: a run that was stopped goes on where it was."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import Clock, machine
from experiments.cells import Cell, Result, measure
from experiments.data.catalog import home


class Kept:
    """Finished cells, in a file that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        entries = [json.loads(line) for line in lines if line.endswith("}}")]  # others were cut off by a kill
        self._results: dict[Cell, Result] = {Cell(**entry["cell"]): entry["result"] for entry in entries}
        about = path.with_name("data.json")
        self.sets: dict[str, Any] = json.loads(about.read_text(encoding="utf-8")) if about.exists() else {}
        self.machines = {json.dumps(entry["machine"]): entry["machine"] for entry in entries}

    def get(self, cell: Cell) -> Result | None:
        return self._results.get(cell)

    def have(self, cells: Iterable[Cell]) -> list[Result]:
        """Those that are finished."""
        return [self._results[cell] for cell in cells if cell in self._results]

    def is_finished(self, cell: Cell) -> bool:
        """Measured, and on the data that are prepared now."""
        result = self.get(cell)
        return result is not None and result["fingerprint"] == fingerprint(cell.data)

    def complete(self, cells: Iterable[Cell]) -> None:
        """Measures what is missing, each cell once. One that fails is told and left out."""
        missing = [cell for cell in dict.fromkeys(cells) if not self.is_finished(cell)]
        for number, cell in enumerate(missing, start=1):
            print(f"[{number}/{len(missing)}] {cell}", end=" ", flush=True)
            with Clock() as clock:
                try:
                    self.add(cell, measure(cell) | {"fingerprint": fingerprint(cell.data)})
                except RuntimeError as problem:
                    print(f"failed: {str(problem).strip().splitlines()[-1]}", end=" ")
            print(f"{clock.seconds:.0f} s", flush=True)

    def describe(self, sets: dict[str, Any]) -> None:
        """What the data sets are: the report tells, and later runs may be without them."""
        self.sets |= sets
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.with_name("data.json").write_text(json.dumps(self.sets, indent=1) + "\n", encoding="utf-8")

    def add(self, cell: Cell, result: Result) -> None:
        self._results[cell] = result
        about = machine()
        self.machines[json.dumps(about)] = about
        self.path.parent.mkdir(parents=True, exist_ok=True)
        entry = {"cell": asdict(cell), "result": result, "machine": about}
        with self.path.open("a+b") as file:
            file.seek(max(0, file.tell() - 1))
            begin = "" if file.read() in {b"", b"\n"} else "\n"
            file.write(f"{begin}{json.dumps(entry)}\n".encode())


def sizes_of(sets: dict[str, Any]) -> dict[str, int]:
    return {name: int(about["points"]) for name, about in sets.items()}


def fingerprint(data: str) -> Any:
    return json.loads((home(data) / "about.json").read_text(encoding="utf-8"))["fingerprint"]
