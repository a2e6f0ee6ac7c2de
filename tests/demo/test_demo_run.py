"""What the demo does when it cannot show what it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.corpus.readers import markdown
from veridical.demo.run import run_demo
from veridical.errors import ReadError, VeridicalError


def test_a_demo_that_cannot_read_its_own_documents_stops_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(data: bytes) -> None:
        raise ReadError("is torn.")

    monkeypatch.setattr(markdown, "parse", unreadable)
    with pytest.raises(VeridicalError, match=r"own documents cannot be ingested: .*\.md is torn\.") as caught:
        run_demo(tmp_path / "kb")
    assert "--kb" in caught.value.hint and "install" in caught.value.hint
