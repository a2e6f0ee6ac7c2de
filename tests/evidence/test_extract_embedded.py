"""The extractor without a language model."""

from __future__ import annotations

import pytest

from veridical.evidence.extract_embedded import EmbeddedExtractor
from veridical.testing.extractor_contract import ExtractorContract


class TestEmbeddedExtractor(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> EmbeddedExtractor:
        return EmbeddedExtractor()
