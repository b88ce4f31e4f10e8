"""The stub of the core says what the compiled module takes and returns: names, order, defaults and types."""

import ast
from pathlib import Path

import pytest

from pixelsne import _core

stubgen = pytest.importorskip("nanobind.stubgen", reason="nanobind is not installed; it comes with `make test`")

STUB = Path(__file__).parents[1] / "src/pixelsne/_core.pyi"


class Plain(ast.NodeTransformer):
    """Writes types in one way: aliases expanded, without nanobind's annotations, sequences as lists."""

    def __init__(self, aliases):
        self.aliases = aliases

    def visit_Name(self, node):
        return self.visit(self.aliases[node.id]) if node.id in self.aliases else node

    def visit_Attribute(self, node):
        return ast.Name(node.attr)  # np.float32 and numpy.float32

    def visit_Subscript(self, node):
        if ast.unparse(node.value) == "Annotated":
            return self.visit(node.slice.elts[0])
        self.generic_visit(node)
        if ast.unparse(node.value) == "Sequence":
            node.value = ast.Name("list")
        return node.value if ast.unparse(node) == "NDArray[Any]" else node  # nanobind leaves out Any


def signatures(text):
    """Return the signatures of all functions and methods, by name."""
    tree = ast.parse(text)
    aliases = {node.target.id: node.value for node in tree.body if isinstance(node, ast.AnnAssign) and node.value}
    plain = Plain({name: value for name, value in aliases.items() if not isinstance(value, ast.Constant)})
    found = {}
    for owner in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef):
                arguments = [
                    (one.arg, None if one.annotation is None else ast.unparse(plain.visit(one.annotation)))
                    for one in node.args.args
                ]
                defaults = [ast.unparse(value) for value in node.args.defaults]
                returned = ast.unparse(plain.visit(node.returns))
                found[f"{getattr(owner, 'name', '')}.{node.name}"] = arguments, defaults, returned
    return found


def test_the_stub_has_the_signatures_of_the_compiled_module():
    generator = stubgen.StubGen(_core)
    generator.put(_core)
    true, written = signatures(generator.get()), signatures(STUB.read_text("utf-8"))
    assert written.keys() == true.keys()
    assert {name: one for name, one in written.items() if one != true[name]} == {
        name: true[name] for name, one in written.items() if one != true[name]
    }


def test_a_wrong_stub_would_be_found():
    right = signatures(STUB.read_text("utf-8"))
    assert len(right) > 40
    wrong = signatures(STUB.read_text("utf-8").replace("k: int, token", "k: float, token"))
    assert wrong[".exact_neighbors"] != right[".exact_neighbors"]
