"""RFC 3161 time stamps over a lock: who can show that it existed by a certain time.

No network call is made here: `request` gives the bytes to send to a time-stamping authority of
one's choice, its answer is kept as `frozen/lock.tsr`. Without the authority's root certificate only
the message imprint can be checked (the token speaks of these bytes); with it, the signature too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from rfc3161_client import (
    HashAlgorithm,
    PKIStatus,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from judgeaudit.errors import EvidenceError, InputError


@dataclass(frozen=True, slots=True)
class Stamped:
    """What a token says: time, the authority's policy; whether its signature was checked."""

    at: datetime
    policy: str
    signature_checked: bool


def request(data: bytes) -> bytes:
    """Return a time-stamp request (DER) for `data`, SHA-256, asking for the certificate."""
    builder = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256)
    return builder.cert_request(cert_request=True).build().as_bytes()


def check_token(source: Path, token: bytes, data: bytes, roots: Sequence[bytes] = ()) -> Stamped:
    """Return what a token says of `data`; `roots` are PEM certificates.

    Raises `EvidenceError` where the token is no granted response, speaks of other bytes, or was
    not signed under one of `roots`.
    """
    response = _decoded(source, token)
    stamped = response.tst_info.message_imprint.message
    algorithms = {32: hashlib.sha256, 48: hashlib.sha384, 64: hashlib.sha512}
    algorithm = algorithms.get(len(stamped))
    actual = algorithm(data).digest() if algorithm else b""
    if stamped != actual:
        raise EvidenceError(
            f"{source}: stamps bytes with digest {stamped.hex()}, but the lock has {actual.hex()}"
        )
    if roots:
        _check_signature(source, response, data, roots)
    return Stamped(response.tst_info.gen_time, response.tst_info.policy.dotted_string, bool(roots))


def _decoded(source: Path, token: bytes) -> TimeStampResponse:
    try:
        response = decode_timestamp_response(token)
    except ValueError as error:
        raise EvidenceError(f"{source}: no time-stamp response: {error}") from error
    if PKIStatus(response.status) is not PKIStatus.GRANTED:
        raise EvidenceError(f"{source}: the authority did not grant it (status {response.status})")
    return response


def _check_signature(
    source: Path, response: TimeStampResponse, data: bytes, roots: Sequence[bytes]
) -> None:
    builder = VerifierBuilder()
    for pem in roots:
        builder = builder.add_root_certificate(_certificate(pem))
    try:
        builder.build().verify_message(response, data)
    except VerificationError as error:
        raise EvidenceError(f"{source}: signature: {error}") from error


def _certificate(pem: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise InputError("root certificate", found=f"not PEM: {error}") from error
