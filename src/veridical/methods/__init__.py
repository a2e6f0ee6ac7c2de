"""Methods: one file a system, each behind the contract of ``methods.base``."""
