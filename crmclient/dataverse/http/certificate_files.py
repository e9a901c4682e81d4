"""The file with which an application shows who it is: PFX, or PEM with both key and certificate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_KEY: Final = re.compile(r"-----BEGIN (?P<kind>[A-Z ]*PRIVATE KEY)-----.+?-----END (?P=kind)-----", re.DOTALL)
_PFX: Final = frozenset({".pfx", ".p12"})


class NotInFile(ValueError):
    """A PEM file lacks a part. The text says which, as the end of a sentence."""


def certificate(path: Path, password: str = "") -> dict[str, Any]:
    """Return the credential in a file, as Microsoft's library takes it.

    Raises OSError for a file that cannot be read, and NotInFile for a PEM file without a certificate or
    without a key.
    """
    secret = {"passphrase": password} if password else {}
    if path.suffix.lower() in _PFX:
        # Raises OSError for a missing file now: the library reads it only when it needs the key.
        path.stat()
        return {"private_key_pfx_path": str(path), "public_certificate": True, **secret}
    key, public = _parts(path.read_bytes())
    return {"private_key": key, "public_certificate": public, **secret}


def problem_of(path: Path, password: str = "") -> str | None:
    """Return why the file proves nothing to an authority, as the end of a sentence; None if it can be used.

    Whether the authority knows the certificate, and takes it still, it says itself.
    """
    # The library takes long to import, and most services have no certificate.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, pkcs12
    from cryptography.x509 import load_pem_x509_certificate

    secret = password.encode() or None
    try:
        content = path.read_bytes()
        if path.suffix.lower() in _PFX:
            key, public, _ = pkcs12.load_key_and_certificates(content, secret)
        else:
            key_text, public_text = _parts(content)
            public = load_pem_x509_certificate(public_text.encode())
            key = load_pem_private_key(key_text.encode(), secret)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    except TypeError:
        return "it has no password" if secret else "its key needs a password"
    except NotInFile as error:
        return str(error)
    except (ValueError, UnsupportedAlgorithm):
        return "its password is wrong, or it is damaged"
    if key is None or public is None:
        return "it does not hold both a certificate and its key"
    if not isinstance(key, RSAPrivateKey):
        return "its key is not of the type RSA"
    if public.public_key() != key.public_key():
        return "its certificate belongs to another key"
    return None


def _parts(content: bytes) -> tuple[str, str]:
    """Return the first key and the first certificate in a PEM file, in whatever order they stand there.
    Raises NotInFile.
    """
    text = content.decode("ascii", "replace")
    key, public = _KEY.search(text), _CERTIFICATE.search(text)
    if public is None:
        raise NotInFile("it has no certificate")
    if key is None:
        raise NotInFile("it has no private key")
    return key[0], public[0]
