"""Make the time stamps that the tests read, with `openssl ts` as the authority.

    python tests/design/stamps/make.py

Writes root.pem (the authority's certificate), other-root.pem (somebody else's), data.bin (what is
stamped) and data.tsr (the response). Keys are thrown away; the files are committed.
"""

import subprocess
import tempfile
from pathlib import Path

from judgeaudit.evidence.lock.timestamp import request

HERE = Path(__file__).parent
CONFIG = """
[ tsa ]
default_tsa = tsa_config
[ tsa_config ]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
ess_cert_id_alg = sha256
[ v3 ]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[ req ]
distinguished_name = dn
x509_extensions = v3
prompt = no
[ dn ]
CN = Test authority
"""


def openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True)


def authority(folder: Path, name: str) -> None:
    openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 36500),
        *("-config", folder / "tsa.cnf", "-keyout", folder / f"{name}.key"),
        *("-out", HERE / f"{name}.pem"),
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "tsa.cnf").write_text(CONFIG.format(folder=folder))
        (folder / "serial").write_text("01\n")
        for name in ("root", "other-root"):
            authority(folder, name)
        (HERE / "data.bin").write_bytes(b"the bytes of a lock")
        (folder / "data.tsq").write_bytes(request(b"the bytes of a lock"))
        openssl(
            *("ts", "-reply", "-config", folder / "tsa.cnf", "-section", "tsa_config"),
            *("-queryfile", folder / "data.tsq", "-inkey", folder / "root.key"),
            *("-signer", HERE / "root.pem", "-out", HERE / "data.tsr"),
        )


if __name__ == "__main__":
    main()
