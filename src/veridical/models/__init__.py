"""Models by name: a manifest with licence and sha256, and a fetcher with more than one way to get each."""

from veridical.models.fetch import ModelStore
from veridical.models.manifest import ModelEntry, ModelFile, load_manifest

__all__ = ["ModelEntry", "ModelFile", "ModelStore", "load_manifest"]
