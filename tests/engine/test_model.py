import pytest

from engine.errors import FileProblem, InvalidInput
from engine.model import Frozen
from engine.units import PositiveTime, Quantity


class Node(Frozen):
    gpus: int = 8
    repair: PositiveTime


class Fleet(Frozen):
    name: str
    nodes: tuple[Node, ...]


def refused(call, *args, **kwargs):
    with pytest.raises(InvalidInput) as caught:
        call(*args, **kwargs)
    return caught.value


def test_a_model_cannot_be_changed():
    node = Node(repair="4 h")
    with pytest.raises(Exception, match="frozen"):
        node.gpus = 4


def test_a_variant_is_checked_like_a_new_one_and_leaves_the_first_alone():
    node = Node(repair="4 h")
    assert node.variant(gpus=4) == Node(gpus=4, repair="4 h")
    assert node.gpus == 8
    assert refused(node.variant, repair="4 GB").fields["parameter"] == "repair"
    error = refused(node.variant, rapair="4 h")
    assert error.fields["parameter"] == "rapair"
    assert "gpus, repair" in str(error)


def test_unknown_missing_and_wrong_fields_are_named():
    assert refused(Node, repair="4 h", gpu=1).fields["parameter"] == "gpu"
    assert str(refused(Node, gpus=8)) == "repair: None is not accepted; give a value; it is required."
    assert refused(Node, repair="4 h", gpus="many").fields["given"] == "many"
    assert refused(Node, repair="0 h").fields["parameter"] == "repair"


def test_an_error_inside_names_the_way_to_it():
    error = refused(Fleet.read, {"name": "a", "nodes": [{"repair": "4 h"}, {"repair": "4 GB"}]})
    assert error.fields["parameter"] == "nodes.1.repair"
    assert error.fields["given"] == "4 GB"


def test_nan_and_infinity_are_no_numbers_of_a_model():
    class Share(Frozen):
        share: float

    assert refused(Share, share=float("nan")).fields["parameter"] == "share"
    assert refused(Share, share=float("inf")).fields["parameter"] == "share"


def test_json_there_and_back():
    fleet = Fleet(name="a", nodes=(Node(repair="90 min"), Node(gpus=4, repair="4 h")))
    assert Fleet.read_json(fleet.model_dump_json()) == fleet
    assert fleet.nodes[0].repair == Quantity(5400, "s")


@pytest.mark.parametrize(
    ("content", "line"), [('{"name": "a",\n"nodes": ]}', 2), ("", 1), (b"\xc3", None), ("{" * 3, 1)]
)
def test_broken_json_names_file_and_line(content, line):
    with pytest.raises(FileProblem) as caught:
        Fleet.read_json(content, "saved.json")
    assert str(caught.value).startswith("saved.json:")
    assert caught.value.fields["line"] == line


@pytest.mark.parametrize("content", ["[]", "null", "3", '"a"', '{"name": "a"}', '{"name": NaN, "nodes": []}'])
def test_json_of_another_shape_is_one_clear_error(content):
    error = refused(Fleet.read_json, content)
    assert "\n" not in str(error)


@pytest.mark.parametrize("content", ["[" * 200_000, f'{{"seed": {"9" * 5000}}}', b"\xff\xfe", "{"])
def test_json_that_cannot_be_read_is_one_sentence_with_the_file(content):
    with pytest.raises(FileProblem, match=r"work\.json.*this is not JSON") as raised:
        Frozen.read_json(content, "work.json")
    assert len(str(raised.value)) < 200
