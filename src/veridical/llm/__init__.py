"""Language models behind one interface: any OpenAI-compatible server, an embedded one, a scripted one."""
