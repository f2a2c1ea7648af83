"""The providers: one file an API with its record in it, one entry here."""

from __future__ import annotations

from judgeaudit.errors import InputError
from judgeaudit.instrument.provider.anthropic_messages import AnthropicMessages
from judgeaudit.instrument.provider.failures import EmbeddedError, embedded_error
from judgeaudit.instrument.provider.interface import Classified, Kind, Provider, ProviderRecord
from judgeaudit.instrument.provider.openai_chat import OpenAIChat

__all__ = [
    "CATALOGUE",
    "Classified",
    "EmbeddedError",
    "Kind",
    "Provider",
    "ProviderRecord",
    "embedded_error",
    "provider",
]

CATALOGUE: dict[str, Provider] = {
    found.record.api: found for found in (OpenAIChat(), AnthropicMessages())
}


def provider(api: str) -> Provider:
    """Return the provider that speaks `api`; raises `InputError` naming those there are."""
    if api not in CATALOGUE:
        raise InputError("endpoint", "api", f"{api!r}", f"known: {', '.join(CATALOGUE)}")
    return CATALOGUE[api]
