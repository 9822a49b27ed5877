"""The media type of the picture of a page, whose address does not tell it."""

STARTS = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"RIFF", "image/webp"))


def find_picture_type(content: bytes) -> str:
    """Return the media type of a PNG, JPEG or WebP."""
    return next(kind for start, kind in STARTS if content.startswith(start))
