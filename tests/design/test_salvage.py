"""What is left of a document with faults: the places of the rest stay right."""

from pydantic import BaseModel

from judgeaudit.design.salvage import salvaged


class Gate(BaseModel):
    id: str
    limit: int


class Document(BaseModel):
    gates: list[Gate] = []


def test_elements_are_taken_out_by_their_numbers_and_not_by_their_digits():
    """Of eleven gates the tenth and the eleventh lack a key: the nine before them are left."""
    gates = [{"id": f"g{n}", "limit": n} for n in range(9)] + [{"id": "g9"}, {"id": "g10"}]

    found = salvaged(Document, {"gates": gates})

    assert [gate.id for gate in found.gates] == [f"g{n}" for n in range(9)]
