"""Which form of words stands for a group of answers that mean the same."""

from __future__ import annotations

import pytest

from veridical.evidence.groups import form_of


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("port 8443. Port 8443", "port 8443"),
        ("27 days. It", "27 days"),
        ("Dr. Smith", "Dr. Smith"),
        ("J. R. R. Tolkien", "J. R. R. Tolkien"),
        ("“Anna Berg”", "Anna Berg"),
    ],
)
def test_a_form_ends_with_its_first_sentence(said, shown):
    assert form_of([(said, 1.0)]) == shown


def test_the_form_that_shares_most_with_the_others_stands_for_all():
    assert form_of([("Anna Berg", 1.0), ("Anna Berg of Halden", 0.9), ("Berg", 0.5)]) == "Anna Berg"
