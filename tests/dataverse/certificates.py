"""A key with a certificate of this machine's, for servers and applications of tests."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID


@dataclass
class Identity:
    key: rsa.RSAPrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self, password: bytes | None) -> bytes:
        form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(serialization.Encoding.PEM, form, _encryption(password))

    def pfx(self, password: bytes | None) -> bytes:
        return pkcs12.serialize_key_and_certificates(
            b"portico", self.key, self.certificate, None, _encryption(password)
        )


def _encryption(password: bytes | None) -> serialization.KeySerializationEncryption:
    return serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()


def self_signed() -> Identity:
    """A key with a certificate of 127.0.0.1 that is its own authority."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    return Identity(key, builder.sign(key, hashes.SHA256()))
