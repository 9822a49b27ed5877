"""Masks email addresses: their owner recognises them, other readers cannot write to them."""


def mask_email(email: str) -> str:
    """Return the address with the middle of its local part left out: `j•••r@example.com`."""
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}•••{local[-1:] if len(local) > 2 else ''}@{domain}"
