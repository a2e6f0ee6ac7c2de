from __future__ import annotations

import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.corpus.fields import iso_date, registered_domain, source_of


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://news.example.co.uk:8080/x?y#z", "example.co.uk"),
        ("http://WWW.Example.COM./", "example.com"),
        ("www.example.org/page", "example.org"),
        ("https://alice.github.io/blog", "alice.github.io"),
        ("https://bücher.de/", "xn--bcher-kva.de"),
        ("https://xn--bcher-kva.de/", "xn--bcher-kva.de"),
        ("http://127.0.0.1:9000/", "127.0.0.1"),
        ("http://[2001:db8::1]:80/x", "2001:db8::1"),
        ("http://localhost:8000/", "localhost"),
        ("https://wiki/page", "wiki"),
    ],
)
def test_the_source_of_a_url_is_its_registered_domain(url: str, domain: str) -> None:
    assert registered_domain(url) == domain


def test_a_user_name_in_a_url_cannot_pass_for_its_host() -> None:
    assert registered_domain("https://trusted.example@evil.test/") == "evil.test"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "http://[bad", "http://", "no url", ""]
)
def test_what_has_no_web_host_has_no_domain(url: str) -> None:
    assert registered_domain(url) is None


@given(st.text(max_size=60))
def test_no_text_whatever_breaks_the_domain_rule(text: str) -> None:
    for url in (text, f"https://{text}", f"//{text}.com/"):
        domain = registered_domain(url)
        assert domain is None or domain == domain.lower()


def test_a_given_source_comes_before_the_url_and_the_url_before_the_folder() -> None:
    url = "https://shop.example.com/x"
    assert source_of("The Gazette", url, "wiki") == "The Gazette"
    assert source_of(None, url, "wiki") == "example.com"
    assert source_of("  ", None, "wiki") == "wiki"
    assert source_of() is None


def test_a_given_source_that_is_a_url_counts_as_its_domain() -> None:
    assert source_of("https://www.example.co.uk/about") == "example.co.uk"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024-03-05T23:30:00-08:00", "2024-03-05"),
        ("2024-03-05T10:00:00.123Z", "2024-03-05"),
        ("2024/3/5 10:00", "2024-03-05"),
        ("2024-03", "2024-03"),
        ("2024", "2024"),
        (2024, "2024"),
        (1709600000, "2024-03-05"),
        (1709600000000, "2024-03-05"),
        ("March 5, 2024", "2024-03-05"),
        ("5 Mar 2024", "2024-03-05"),
        ("Sept. 3rd, 2021", "2021-09-03"),
        ("March 2024", "2024-03"),
        ("5.3.2024", "2024-03-05"),
        ("25/12/2023", "2023-12-25"),
        ("12/25/2023", "2023-12-25"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05"),
        ("Tuesday, March 5th, 2024 at 3pm", "2024-03-05"),
    ],
)
def test_dates_keep_the_precision_that_they_were_given_with(value: object, expected: str) -> None:
    assert iso_date(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "6 hours ago",
        "yesterday",
        "today",
        "5 March",
        "5 Mar 24",
        "03/05/2024",
        "2024-13-45",
        "0000",
        "Q3 2024",
        "soon",
    ],
)
def test_what_is_not_one_certain_date_is_none(value: str) -> None:
    assert iso_date(value) is None


@pytest.mark.parametrize("value", [None, True, [], {}, "", float("inf"), float("nan"), -1, 10**30, "9" * 200])
def test_what_is_no_date_at_all_is_none(value: object) -> None:
    assert iso_date(value) is None


@given(st.dates(date(1000, 1, 1), date(2200, 12, 31)))
def test_every_iso_date_is_itself(day: date) -> None:
    assert iso_date(day.isoformat()) == day.isoformat()
    assert iso_date(f"{day.day} {day:%B} {day.year:04d}") == day.isoformat()


def test_plain_dates_do_not_load_the_date_parser() -> None:
    saved = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "dateparser"}
    try:
        assert iso_date("2024-03-05") and iso_date("March 5, 2024")
        assert "dateparser" not in sys.modules
    finally:
        sys.modules.update(saved)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "url", ["a." * 50_000 + "@", "a." * 50_000, "http://" + "a." * 50_000, "//" + "\u00e9." * 50_000]
)
def test_a_url_longer_than_any_is_none_and_costs_nothing(url: str) -> None:
    assert registered_domain(url) is None


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["a.", "a.:", "1 ", "http://", "3 may "])
def test_hostile_values_cost_little(piece: str) -> None:
    value = (piece * 50_000)[:100_000] + "@"
    source_of(value, value)
    iso_date(value)


def test_a_name_with_an_at_sign_or_no_dot_is_no_host() -> None:
    assert registered_domain("mail@host.example") is None
    assert registered_domain(".example") is None
    assert registered_domain("host.") is None
    assert registered_domain("host.example:8080/x@y") == "host.example"
