"""Contract suites that every backend has to pass, for those who add one."""
