"""RFC 3161 tokens, made by `openssl ts` (see stamps/make.py)."""

from datetime import UTC
from pathlib import Path

import pytest
from rfc3161_client import decode_timestamp_response

from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.lock.timestamp import check_token, request

HERE = Path(__file__).parent / "stamps"
DATA = (HERE / "data.bin").read_bytes()
TOKEN = (HERE / "data.tsr").read_bytes()
ROOT = (HERE / "root.pem").read_bytes()


def test_a_token_tells_when_by_whose_policy_and_that_its_signature_holds():
    stamped = check_token(HERE / "data.tsr", TOKEN, DATA, [ROOT])

    assert stamped.signature_checked
    assert stamped.policy == "1.2.3.4.1"
    assert stamped.at.astimezone(UTC).year >= 2026


def test_without_a_root_only_the_imprint_is_checked_and_that_is_said():
    assert check_token(HERE / "data.tsr", TOKEN, DATA).signature_checked is False


def test_a_token_over_other_bytes_is_refused_with_both_digests():
    with pytest.raises(EvidenceError, match=r"data\.tsr: stamps bytes with digest .* lock has"):
        check_token(HERE / "data.tsr", TOKEN, DATA + b"!")


def test_a_token_of_another_authority_is_refused():
    other = (HERE / "other-root.pem").read_bytes()

    with pytest.raises(EvidenceError, match="signature:"):
        check_token(HERE / "data.tsr", TOKEN, DATA, [other])


def test_bytes_that_are_no_token_are_refused():
    with pytest.raises(EvidenceError, match="no time-stamp response"):
        check_token(HERE / "data.tsr", b"\x30\x00", DATA)


def test_a_root_that_is_no_certificate_is_refused():
    with pytest.raises(InputError, match="not PEM"):
        check_token(HERE / "data.tsr", TOKEN, DATA, [b"nothing"])


def test_a_request_carries_the_digest_and_no_more():
    """The authority never sees the lock: SHA-256 of it stands in the request, its text does not."""
    import hashlib

    der = request(DATA)

    assert hashlib.sha256(DATA).digest() in der
    assert DATA not in der
    assert decode_timestamp_response(TOKEN).tst_info.message_imprint.message in der
