from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.errors import InputError
from veridical.llm.retry import RetryPolicy, retry_after_s

NOW = 1_700_000_000.0


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_waits_stay_within_the_maximum_however_often_it_failed(n_failed, jitter):
    policy = RetryPolicy(first_wait_s=0.5, max_wait_s=8.0)
    assert 0.25 <= policy.wait_s(n_failed, jitter) <= 8.0


def test_waits_double_until_the_maximum():
    policy = RetryPolicy(first_wait_s=0.5, max_wait_s=3.0)
    assert [policy.wait_s(n, 0.0) for n in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 3.0]


def test_jitter_takes_up_to_half_away():
    assert RetryPolicy(first_wait_s=1.0).wait_s(1, 1.0) == 0.5


@given(st.floats(0, 1), st.floats(0, 1000))
def test_never_comes_back_before_the_server_asked(jitter, asked):
    assert RetryPolicy().wait_s(1, jitter, asked) >= asked


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT"}, 10.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_milliseconds_or_date(headers, expected):
    assert retry_after_s(headers, now=NOW) == expected


@given(st.text())
def test_no_header_value_breaks_the_reader(value):
    found = retry_after_s({"retry-after": value}, now=NOW)
    assert found is None or found >= 0


@pytest.mark.parametrize(
    "wrong",
    [{"max_retries": -1}, {"total_s": float("inf")}, {"first_wait_s": -1.0}, {"max_wait_s": float("nan")}],
)
def test_policies_that_never_end_are_refused(wrong):
    with pytest.raises(InputError):
        RetryPolicy(**wrong)
