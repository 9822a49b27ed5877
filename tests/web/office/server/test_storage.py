"""What the web application says of its storage: a disk that is nearly full, and damaged rows."""

from esign.core.people.member import MemberRole
from tests.journeys.api import a_pdf
from tests.web.office.visitor import Office

FULL = "This server’s disk is nearly full"


async def test_everybody_reads_that_the_disk_is_nearly_full_until_there_is_room(office: Office) -> None:
    ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo", MemberRole.MEMBER)
    assert FULL not in (await ada.get("/documents")).said
    before, office.runtime.room.spare = office.runtime.room.spare, 2**62
    for visitor, advised in ((ada, True), (bo, False)):
        said = (await visitor.get("/documents")).said
        assert FULL in said and "Signing, reading and downloading still work." in said
        assert ("Free up space on the disk" in said) is advised
    once = (await ada.get("/documents/new")).value("once")
    refused = await ada.upload("/documents/new", "files", ("paper.pdf", a_pdf()), once=once)
    assert "New uploads are paused until there is space" in refused.said
    assert (await office.visitor().get("/sign-in")).status == 200
    office.runtime.room.spare = before
    assert FULL not in (await ada.get("/documents")).said


async def test_owners_read_that_something_is_damaged(office: Office) -> None:
    ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo", MemberRole.MEMBER)
    office.runtime.db.damage.note("document", "doc_1", "cut short")
    assert "1 entry in the database is damaged" in (await ada.get("/documents")).said
    assert "cannot be read" not in (await bo.get("/documents")).said
    office.runtime.db.damage.forget("document", "doc_1")
    assert "cannot be read" not in (await ada.get("/documents")).said
