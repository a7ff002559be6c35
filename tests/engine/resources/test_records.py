import pytest

from engine.errors import InvalidInput
from engine.resources import ResourceKey, TaskType, resource_key

EMBED = TaskType(name="embed", cost_setting="max_length", defaults={"max_length": 512, "batch": 8})


def test_a_key_is_a_compact_json_list_that_reads_back():
    key = ResourceKey("embed", 'a "quoted" ü', "512")
    assert key.text() == '["embed","a \\"quoted\\" \\u00fc","512"]'
    assert ResourceKey.from_text(key.text()) == key
    assert ResourceKey("embed", "m").text() == '["embed","m",""]'


@pytest.mark.parametrize(
    ("settings", "variant"),
    [
        ({"max_length": 1024}, "1024"),
        ({}, "512"),
        ({"batch": 64}, "512"),
        ({"max_length": "long"}, "long"),
        ({"max_length": ""}, ""),
        ({"max_length": True}, "true"),
        ({"max_length": None}, "null"),
        ({"max_length": 0.5}, "0.5"),
        ({"max_length": {"b": [1, 2], "a": "x"}}, '{"a":"x","b":[1,2]}'),
    ],
)
def test_the_variant_is_the_value_of_the_cost_setting(settings, variant):
    assert resource_key(EMBED, settings, "bge") == ResourceKey("embed", "bge", variant)


def test_without_a_cost_setting_or_a_value_the_variant_is_empty():
    assert resource_key(TaskType(name="copy"), {"max_length": 5}, "bge").variant == ""
    assert resource_key("copy", {"max_length": 5}, "bge") == ResourceKey("copy", "bge")
    assert resource_key(TaskType(name="t", cost_setting="c"), {}, "bge").variant == ""


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}])
def test_a_value_without_a_json_form_is_refused_by_the_settings_name(value):
    with pytest.raises(InvalidInput, match="max_length"):
        resource_key(EMBED, {"max_length": value}, "bge")


@pytest.mark.parametrize("parts", [("", "m"), (3, "m"), ("t", None), ("t", "m", 5)])
def test_a_key_takes_texts_only(parts):
    with pytest.raises(InvalidInput):
        ResourceKey(*parts)
