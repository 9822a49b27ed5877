"""Whether a document may expire now (D10)."""

from esign.core.document.document import DocumentVersion
from esign.core.document.state import is_past_expiry
from esign.core.document.summary import AnyDocument
from esign.runtime import Runtime
from esign.store.engine.database import Reader
from esign.store.queue import held_jobs


async def may_expire(runtime: Runtime, reader: Reader, document: AnyDocument | DocumentVersion) -> bool:
    """Return whether a document is out past its expiry, at a time that is certain.

    After a restore none may expire before an administrator resumes: it may have been completed since the backup.
    """
    if not is_past_expiry(document, runtime.clock.read_settled_time()):
        return False
    return await held_jobs.find_open_restoration(reader) is None
