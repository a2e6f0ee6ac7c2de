"""The llama.cpp server inside this process: started, asked, and its replies read."""

from __future__ import annotations

import http.client
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from veridical.errors import MissingExtraError, ModelError

_MIB = 1024 * 1024
_KEPT_PROMPTS_MIB = 256
"""Memory for the states of prompts that another one has pushed aside."""
_ROUTE_S = 60.0


class RefusedError(Exception):
    """llama.cpp refused a request; ``too_long`` says that the prompt does not fit the context."""

    def __init__(self, said: str, *, too_long: bool = False) -> None:
        super().__init__(said)
        self.said, self.too_long = said, too_long


class LlamaServer:
    """One loaded model. Not for use by several threads at once.

    Parameters
    ----------
    where
        The model file, the folder that holds it as ``model.gguf``, or what tells one of them.
    n_ctx, n_threads
        As of :class:`veridical.llm.llama_cpp_.LlamaCppLLM`.

    Raises
    ------
    MissingExtraError
        If ``xllamacpp`` is not installed.
    ModelError
        If the file is missing or is no model that can be loaded.
    """

    def __init__(self, where: Path | Callable[[], Path], n_ctx: int, n_threads: int) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise MissingExtraError("local", "The embedded language model") from error
        path = model_file(where)
        if not path.is_file():
            raise ModelError(
                f"There is no model file at {path}.",
                "Check the path, or fetch a small model with: veridical models pull smollm2-135m-instruct",
            )
        self._key = secrets.token_hex(32)
        try:
            self._server: Any = xllamacpp.Server(_params(xllamacpp, path, n_ctx, n_threads, self._key))
        except RuntimeError as error:
            size = path.stat().st_size / _MIB
            raise ModelError(
                f"llama.cpp cannot load {path} ({size:.0f} MiB): {error}",
                "If the file is damaged, delete it and fetch it again with: veridical models pull NAME",
            ) from error

    def chat(
        self, request: Mapping[str, Any], take: Callable[[Mapping[str, Any]], bool] | None = None
    ) -> Mapping[str, Any]:
        """Answer a conversation; with ``take``, chunk by chunk until it returns ``True``.

        Raises
        ------
        RefusedError
            The request cannot be served.
        """
        # A model that may think aloud first is told not to: choices are read off its first token.
        request = {"chat_template_kwargs": {"enable_thinking": False}, **request}
        return self._handled(self._server.handle_chat_completions, request, take)

    def complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Continue a prompt of text or tokens. Raises as `chat`."""
        return self._handled(self._server.handle_completions, request, None)

    def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Write a conversation as the text that the model reads. Raises `RefusedError`."""
        body = self._route(
            "/apply-template", {"messages": messages, "chat_template_kwargs": {"enable_thinking": False}}
        )
        return str(body["prompt"])

    def tokens(self, text: str, *, prompt: bool) -> list[tuple[int, bool]]:
        """Cut a text into tokens; of each its number, and whether it is made of whole characters.

        ``prompt`` says that signs such as an end of turn stand for themselves and not for their letters.

        Raises
        ------
        RefusedError
            The text cannot be cut.
        """
        request = {"content": text, "add_special": prompt, "parse_special": prompt, "with_pieces": True}
        found = self._route("/tokenize", request)["tokens"]
        return [(int(token["id"]), isinstance(token["piece"], str)) for token in found]

    def _handled(
        self, handle: Callable[..., Any], request: Mapping[str, Any], take: Callable[..., bool] | None
    ) -> Mapping[str, Any]:
        try:
            body = handle(dict(request), take) if take else handle(dict(request))
        except (RuntimeError, ValueError) as error:
            raise RefusedError(f"llama.cpp refused the request ({error})") from error
        body = body if isinstance(body, Mapping) else {}
        check(body.get("error"))
        return body

    def _route(self, route: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask what the library has no function for, by way of its port on the loopback interface."""
        address = urlsplit(self._server.listening_address)
        connection = http.client.HTTPConnection(
            address.hostname or "127.0.0.1", address.port, timeout=_ROUTE_S
        )
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        try:
            connection.request("POST", route, json.dumps(request).encode(), headers)
            body = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise RefusedError(f"llama.cpp does not answer to {route} ({error})") from error
        finally:
            connection.close()
        if not isinstance(body, Mapping):
            raise RefusedError(f"llama.cpp answers to {route} with something else")
        check(body.get("error"))
        return body


def model_file(where: Path | Callable[[], Path]) -> Path:
    """Return the model file that a path, a folder with a ``model.gguf``, or a callable stands for."""
    path = where() if callable(where) else where
    return path / "model.gguf" if path.is_dir() else path


def check(problem: object) -> None:
    """Raise `RefusedError` for the error that a reply or a chunk carries, if it does."""
    if isinstance(problem, Mapping):
        too_long = problem.get("type") == "exceed_context_size_error"
        raise RefusedError(str(problem.get("message") or "unknown error"), too_long=too_long)


def _params(library: Any, path: Path, n_ctx: int, n_threads: int, key: str) -> Any:
    params = library.CommonParams()
    params.model.path = str(path)
    params.n_ctx = n_ctx
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.verbosity = -1  # its log would go to our user's terminal
    # The one slot keeps the last prompt. The others that are asked in turn are put aside here, since
    # copying their state back takes a small part of the time that computing it again would.
    params.cache_ram_mib = _KEPT_PROMPTS_MIB
    # Flash attention gives other numbers for the same prompt (by .03 in a probability) when its beginning is
    # there than when it is not. Without it reading takes a tenth longer, and they agree.
    params.flash_attn_type = library.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = n_threads
        threads.poll = 0  # waiting threads sleep: spinning ones starve each other on shared processors
    # The library also listens on a port of the loopback interface. Nobody else is to use it.
    params.hostnames = ["127.0.0.1"]
    params.api_keys = [key]
    params.ui = params.endpoint_slots = False
    return params
