"""Secrets that people entrust to the service, encrypted with a key that follows from the service's own secret key.

Each purpose has a label, and so a key of its own: what was sealed for one opens for no other. Tokens are made with SECRET_KEY and opened
with it or any of SECRET_KEY_FALLBACKS, so that the secret key can be changed while they are kept.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.views.decorators.debug import sensitive_variables


class Unsealable(ValueError):
    """The token was made with a secret key that the service does not have any more, or it was changed."""


@sensitive_variables()
def seal(secret: str, label: str) -> str:
    return _box(label).encrypt(secret.encode()).decode()


@sensitive_variables()
def unseal(token: str, label: str) -> str:
    """The secret. Unsealable for a token of another label or of a secret key that is gone."""
    try:
        return _box(label).decrypt(token.encode()).decode()
    except InvalidToken:
        raise Unsealable("It was sealed with a secret key that this service does not have any more.") from None


@sensitive_variables()
def _box(label: str) -> MultiFernet:
    keys = []
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        derived = HKDF(SHA256(), 32, salt=None, info=f"plumbline {label}".encode()).derive(secret.encode())
        keys.append(Fernet(base64.urlsafe_b64encode(derived)))
    return MultiFernet(keys)
