from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from labs.cockpit.markup import join, tag, zone


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.words = [], ""

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_data(self, data):
        self.words += data


def read(markup):
    reader = Reader()
    reader.feed(str(markup))
    reader.close()
    return reader


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")))
def test_a_text_comes_back_as_the_same_text_and_never_as_a_tag(words):
    found = read(tag("p", words, title=words))
    assert found.words == words
    assert found.tags == [("p", {"title": words})]


def test_markup_is_kept_and_texts_beside_it_are_escaped():
    assert tag("p", tag("b", "<"), " & ") == Markup("<p><b>&lt;</b> &amp; </p>")


def test_attributes_are_named_as_html_names_them_and_left_out_when_there_is_none():
    built = tag("input", class_="a", data_name="x", checked=True, hidden=False, title=None, max=3)
    assert built == Markup('<input class="a" data-name="x" checked max="3">')


def test_children_may_be_nested_and_missing():
    assert tag("ul", [tag("li", word) for word in "ab"], None) == Markup("<ul><li>a</li><li>b</li></ul>")


@pytest.mark.parametrize("bare", [3, 2.5, float("nan"), True])
def test_a_bare_number_is_no_text(bare):
    with pytest.raises(TypeError, match="format it with its unit"):
        join([bare])


def test_a_zone_is_a_landmark_with_a_label():
    assert zone("log", "x", label="Audit trail") == Markup(
        '<section data-zone="log" aria-label="Audit trail">x</section>'
    )
