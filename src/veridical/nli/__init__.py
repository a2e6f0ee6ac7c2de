"""Natural language inference between passages, behind one protocol."""
