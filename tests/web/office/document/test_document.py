"""Each act on a document: what it does, and the sentence it is refused with; who may, and whose document it is."""

import ast
import base64
import html
import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import esign
from esign.actions.document.documents import check_ready
from esign.core.actor import Mode
from esign.core.document.document import Status
from esign.core.document.state import renew_link
from esign.core.errors import Problem
from esign.core.instant import DAY, to_datetime
from esign.core.people.member import MemberRole
from esign.demo import contract
from esign.pdf.worker.workers import Workers
from esign.store.document import documents
from esign.web.office.document.page import find_missing
from esign.web.office.document.timeline import LOOKS
from esign.web.office.draft.explain_upload import describe_changes
from esign.web.office.frame.words import load_words
from tests.factories import an_organisation, store_organisation
from tests.pdf.made import make_scripted
from tests.pdf.worker.test_workers import ODD
from tests.web.office.sample_documents import (
    ACTS,
    ADA,
    ASKED,
    BO,
    HOSTILE,
    MADE,
    THREE,
    address,
    alert,
    at,
    complete_document,
    draft,
    expire_document,
    fail_seal,
    fetch_bytes,
    form,
    main,
    send_document,
)
from tests.web.office.visitor import Office, Visitor

# ---------- every act in every status ----------


@pytest.mark.parametrize("status", MADE)
async def test_an_act_works_or_is_refused_with_a_sentence(office: Office, status: str) -> None:
    document, visitor = await MADE[status](office), await office.signed_in("Maren", MemberRole.MEMBER)
    before = await visitor.get(at(document))
    assert before.status == 200
    untouched = await office.site.api.get(document)
    for act in (act for act, (_, works) in ACTS.items() if status not in works):
        answer = await visitor.post(await address(office, document, act), form(office, act))
        assert answer.status == 422 and len(alert(answer)) > 15, (act, answer.said)
    assert await office.site.api.get(document) == untouched
    for act in (act for act, (_, works) in ACTS.items() if status in works):
        path = await address(office, document, act)
        answer = await visitor.post(path, form(office, act))
        assert answer.status == (200 if act.endswith("link") else 303), (act, answer.said)
        if answer.status == 303 and act not in ("duplicate", "template", "delete"):
            assert answer.to.startswith(f"{at(document)}?done=")
            assert (await visitor.get(answer.to)).status == 200


async def test_why_the_seal_failed_stands_there_and_trying_again_heals_it(office: Office) -> None:
    document, visitor = await fail_seal(office), await office.signed_in("Maren")
    page = await visitor.get(at(document))
    assert (
        "certificate" in page.said
        and "Sealing has failed 3 times." in page.said
        and "Seal delayed" in page.said
    )
    assert "The next attempt is today at" in page.said and "The signatures are safe." in page.said
    assert (await visitor.post(at(document, "retry-seal"))).to == f"{at(document)}?done=seal-retried"
    await office.site.work("seal")
    assert "Completed and sealed" in (await visitor.get(at(document))).said


# ---------- roles, and whose it is ----------


async def test_what_is_not_there_and_what_is_not_yours_look_the_same(office: Office) -> None:
    owner, stranger = await office.signed_in("Maren"), await foreigner(office)
    live, test = await send_document(office), await (await office.site.key(mode=Mode.TEST)).create()
    paths = ["", "/mark", "/pages", "/audit", "/audit.json", "/files/original", "/cancel", "/sheets/1.webp"]
    for path in paths:
        nobody = await owner.get(f"/documents/doc_nobody{path}")
        assert nobody.status == 404
        for visitor, document in ((owner, test), (stranger, live)):
            page = await visitor.get(f"/documents/{document}{path}")
            assert (page.status, page.title, alert(page)) == (404, nobody.title, "")
            assert (
                page.said.partition("Live Test")[2].partition("Owner")[2]
                == (nobody.said.partition("Live Test")[2].partition("Owner")[2])
            )
    for act in ACTS:
        path = await address(office, live, act)
        assert (await stranger.post(path, form(office, act))).status == 404, act
    assert await office.site.api.status(live) == "sent"


async def foreigner(office: Office) -> Visitor:
    """An owner of another organisation."""
    other = (await store_organisation(office.runtime.db, an_organisation(id="org_other"))).id
    return await office.signed_in("Foreign", MemberRole.OWNER, other)


async def test_somebody_elses_recipient_is_not_found_on_this_document(office: Office) -> None:
    visitor, one, other = (
        await office.signed_in("Maren"),
        await send_document(office),
        await send_document(office),
    )
    stranger = (await office.site.api.get(other))["recipients"][0]["id"]
    for act in ("", "/link", "/remove"):
        path = f"{at(one)}/recipients/{stranger}{act}"
        assert (await visitor.get(path)).status == 404
        assert (await visitor.post(path, name="X", email="x@example.test")).status == 404


async def test_hostile_text_stays_text(office: Office) -> None:
    visitor = await office.signed_in(HOSTILE[:150])
    document = await office.site.api.create(
        title=HOSTILE,
        subject=HOSTILE,
        message=HOSTILE,
        externalId=HOSTILE,
        metadata={"k": HOSTILE},
        fileName=HOSTILE.replace("/", "").replace("\\", ""),
        recipients=[{"name": HOSTILE, "email": ADA}, {"name": f"{HOSTILE}2", "email": BO}],
    )
    await visitor.post(at(document, "reference"), externalId=HOSTILE, metadata=f"k = {HOSTILE}")
    pages = [await visitor.get(at(document))]
    await office.site.api.send(document)
    one = (await office.site.api.get(document))["recipients"][0]["id"]
    asked = ["", "pages", "audit", *(act.format(one=one, last=one) for act in ASKED)]
    pages += [await visitor.get(at(document, *path.split("/")) if path else at(document)) for path in asked]
    assert (await visitor.post(at(document, "cancel"), reason=HOSTILE)).status == 303
    pages += [await visitor.get(at(document, *path)) for path in ((), ("audit",))]
    for page in pages:
        assert "<script>alert" not in page.text and "<img src=x" not in page.text
        assert "&lt;script&gt;alert(1)" in page.text and "60481729" not in page.title


# ---------- what a page tells ----------


def event_types() -> set[str]:
    """The name of every event that the program makes."""
    found = {renew_link.ASKED}
    for file in Path(esign.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.fullmatch(r"(document|recipient|link)\.[a-z_]+", text):
                found.add(text)
    return found


def test_every_kind_of_entry_has_its_sentence() -> None:
    others = {"document.pdf", "document.status"}  # a file, and the names of all states
    kinds = event_types() - load_words("en").catalogue.keys() - others
    assert kinds - LOOKS.keys() == set()
    assert len(kinds) >= 24


async def test_the_timeline_tells_who_did_what(office: Office) -> None:
    visitor = await office.signed_in("Maren", MemberRole.MEMBER)
    document = await send_document(office)
    person = await office.site.person(ADA)
    await person.view()
    await visitor.post(at(document, "remind"))
    one = (await office.site.api.get(document))["recipients"][0]["id"]
    await visitor.post(at(document, "recipients", one), name="Ada King", email="king@example.test")
    await fetch_bytes(visitor, at(document, "files", "original"))
    await visitor.post(at(document, "cancel"), reason="It is late.")
    page = await visitor.get(at(document))
    told = [
        " ".join(re.sub(r"<[^>]+>", " ", one).split()) for one in re.findall(r"<li><svg.*?</li>", page.text)
    ]
    for said in (
        "API key journeys created the document",
        "Ada Lovelace opened the document",
        "A reminder to Ada King was created By Maren",
        "Maren changed the details of Ada King "
        "Ada Lovelace is now Ada King · ada@example.test is now king@example.test",
        "Maren downloaded the original PDF",
        "Maren cancelled the document “ It is late. ” · Recipients weren’t notified",
    ):
        assert any(said in " ".join(one.split()) for one in told), (said, told)
    full = await visitor.get(at(document, "audit"))
    assert "used a signing link" in full.said and "used a signing" not in page.said


async def test_the_whole_trail_can_be_read_page_by_page_and_taken_as_json(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await draft(office)
    for _ in range(104):
        await office.site.api.file(document, "original")
    page = await visitor.get(at(document))
    assert "View earlier entries" in page.said and page.text.count("downloaded") == 60
    first = await visitor.get(at(document, "audit"))
    assert first.text.count('class="num"') == 100 and "Later" in first.said
    second = await visitor.get(f"{at(document, 'audit')}?after=100")
    assert second.text.count('class="num"') == 5 and "Earlier" in second.said
    kept = json.loads((await visitor.get(at(document, "audit.json"))).text)
    api = await office.site.api.ok("GET", f"/documents/{document}/audit?limit=100")
    assert kept["data"][:100] == api["data"] and len(kept["data"]) == 105 and kept["hasMore"] is False
    assert (await visitor.get(f"{at(document, 'audit')}?after=x")).status == 404


async def test_only_a_step_with_several_people_has_a_row_of_its_own(office: Office) -> None:
    visitor = await office.signed_in("Maren")
    people = [
        {"name": name, "email": f"{name.lower()}@example.test", "order": order}
        for name, order in (("Ada", 1), ("Bo", 2), ("Cy", 2))
    ]
    draft = await office.site.api.create(recipients=people)
    page = await visitor.get(at(draft))
    rows = re.findall(r'class="group-h">.*?</p>', page.text)
    assert len(rows) == 1 and "Step 2" in rows[0]
    assert page.said.index("Step 1") < page.said.index("Ada") < page.said.index("Step 2")
    review = await visitor.get(f"{at(draft)}/review")
    assert re.findall(r'<h3 class="lab">(.*?)</h3>', review.text) == ["Step 2"]
    assert "Discard draft" in re.findall(r'<div class="menu-list">.*?</div>', review.text)[-1]


async def test_a_draft_says_what_it_lacks(office: Office) -> None:
    visitor = await office.signed_in("Maren")
    empty = await office.site.api.create(recipients=[])
    page = await visitor.get(at(empty))
    assert "Not ready to send yet" in page.said and "Add at least one recipient." in page.said
    assert f'href="{at(empty, "edit")}#people"' in page.text and 'id="h-people"' not in page.text
    reader = await office.site.api.create(recipients=[{**THREE[0], "role": "viewer"}])
    assert "At least one recipient must be a signer." in (await visitor.get(at(reader))).said


@pytest.mark.parametrize(
    "workers",
    [Workers(command=("false",)), Workers(wall_seconds=0), Workers(command=ODD)],
    ids=["none", "slow", "dying"],
)
async def test_a_draft_is_shown_where_its_fonts_cannot_be_asked(office: Office, workers: Workers) -> None:
    field = {"type": "text", "page": 1, "x": 1, "y": 1, "value": "Hello"}
    id = await office.site.api.create(recipients=[{**THREE[0], "fields": [field], "role": "approver"}])
    draft = await documents.get(office.runtime.db, id)
    without = replace(office.runtime, pdf=workers)
    lacking = await find_missing(without, draft, load_words("en"))
    with pytest.raises(Problem, match="unavailable"):
        await check_ready(without, draft)
    await workers.close()
    assert lacking == ["At least one recipient must be a signer."]


async def test_a_refused_address_is_what_comes_next(office: Office) -> None:
    visitor = await office.signed_in("Maren")
    test = await office.site.key(mode=Mode.TEST)
    document = await test.send_document(recipients=THREE)
    await visitor.post("/mode", mode="test")
    await visitor.post(at(document, "simulate"), action="bounce", reason="550 No such user <here>")
    page = await visitor.get(at(document))
    assert "The email address of Ada Lovelace was refused" in page.said
    badge = '<span class="badge attention">Email refused</span>'
    assert badge in page.text and badge in (await visitor.get("/documents")).text, "both call it the same"
    assert "The mail server said: 550 No such user <here>" in page.said
    assert "Fix email address" in page.said


async def test_whoever_asked_for_a_new_link_is_named(office: Office) -> None:
    document = await send_document(office)
    await office.site.api.ok("PATCH", "/settings", {"replyTo": "office@example.test"})
    person = await office.site.person(ADA)
    office.clock.advance(days=31)
    visitor = await office.signed_in("Maren")
    assert (await person.post("renewal", {})).status == 200
    assert "Ada Lovelace asked for a new link." in (await visitor.get(at(document))).said


# ---------- each act ----------


async def test_a_reminder_goes_to_those_who_were_ticked_with_the_message(office: Office) -> None:
    visitor = await office.signed_in("Maren")
    document = await office.site.api.send_document(recipients=[THREE[0], {**THREE[1], "order": 1}])
    await office.site.work("mail")
    bo = (await office.site.api.get(document))["recipients"][1]["id"]
    nobody = await visitor.post(at(document, "remind"), choice="some")
    assert "Select at least one recipient." in nobody.said
    office.clock.advance(minutes=2)  # the newest mail is told by its time
    answer = await visitor.post(
        at(document, "remind"), {"choice": "some", bo: "on", "message": "Any\r\nday."}
    )
    assert answer.to == f"{at(document)}?done=reminded"
    assert re.search(r"Any\s+day\.", await office.letter(BO))
    reminded = [r["remindersSent"] for r in (await office.site.api.get(document))["recipients"]]
    assert reminded == [0, 1]
    again = await visitor.post(at(document, "remind"), {"choice": "some", bo: "on"})
    assert again.status == 422 and "You can send the next one in 60 minutes." in again.said
    assert (await visitor.post(at(document, "remind"))).status == 303, "the other one still may be"
    assert "less than an hour old" in (await visitor.post(at(document, "remind"))).said
    assert "Remind all" not in (await visitor.get(at(document))).said


async def test_a_corrected_recipient_gets_a_new_link_and_the_old_one_ends(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    old = await office.site.person(ADA)
    one = (await office.site.api.get(document))["recipients"][0]["id"]
    path = at(document, "recipients", one)
    wrong = await visitor.post(path, name=" ", email="nowhere")
    assert wrong.status == 422 and wrong.wrong().keys() == {"name", "email"}
    assert wrong.value("email") == "nowhere"
    assert (await visitor.post(path, name="Ada King", email="king@example.test")).to.endswith(
        "done=corrected"
    )
    await office.site.work("mail")
    assert await old.state() == "unknown"
    assert await (await office.site.person("king@example.test")).state() == "open"


async def test_a_signing_link_is_shown_once_and_opens_the_document(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    one, two, _ = (r["id"] for r in (await office.site.api.get(document))["recipients"])
    asked = await visitor.get(at(document, "recipients", one, "link"))
    assert "/s/" not in main(asked)
    answer = await visitor.post(at(document, "recipients", one, "link"), ttlHours="1")
    assert answer.status == 200 and answer.headers["Cache-Control"] == "no-store"
    found = re.search(rf"{re.escape(office.site.base)}/s/[\w-]{{43}}", answer.text)
    assert found
    async with visitor.session.get(found[0]) as page:
        assert 'data-state="open"' in await page.text()
    shown = await visitor.get(at(document))
    assert found[0] not in shown.text and "Maren created a signing link for Ada Lovelace" in shown.said
    late = await visitor.post(at(document, "recipients", two, "link"), ttlHours="1")
    assert late.status == 422 and "It isn’t this recipient’s turn" in late.said
    for hours in ("0", "721", "x", ""):
        assert (await visitor.post(at(document, "recipients", one, "link"), ttlHours=hours)).status == 422


@pytest.mark.parametrize("notify", [True, False])
async def test_whoever_was_invited_is_told_of_a_cancelled_document_if_wanted(
    office: Office, notify: bool
) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    sent_before = len(await office.mails())
    await visitor.post(
        at(document, "cancel"), {"reason": "Too late.", **({"notify": "on"} if notify else {})}
    )
    await office.site.work("mail")
    assert len(await office.mails()) - sent_before == notify
    assert (await office.site.api.get(document))["closeReason"] == "Too late."
    long = await visitor.post(at(await send_document(office), "cancel"), reason="x" * 1001)
    assert long.wrong() == {"reason": "1000 characters or fewer."}


async def test_the_expiry_is_the_end_of_the_chosen_day(office: Office) -> None:
    await office.site.api.ok("PATCH", "/settings", {"timeZone": "Asia/Tokyo"})
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    day = to_datetime(office.clock.now() + 40 * DAY).date()
    await visitor.post(at(document, "expiry"), expiresAt=str(day))
    assert (await office.site.api.get(document))["expiresAt"] == f"{day}T14:59:59.000Z"
    for wrong in ("", "tomorrow", "2026-02-30", "9999-12-31", "0001-01-01", str(day + timedelta(days=400))):
        answer = await visitor.post(at(document, "expiry"), expiresAt=wrong)
        assert answer.status == 422 and answer.wrong().keys() == {"expiresAt"}, wrong


async def test_the_reminders_are_changed_and_wrong_numbers_named(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    given = {"firstAfterDays": "91", "everyDays": "two", "max": "4"}
    answer = await visitor.post(at(document, "reminders"), given)
    assert answer.wrong() == {
        "firstAfterDays": "Enter a whole number from 1 to 90.",
        "everyDays": "Enter a whole number from 1 to 90.",
    }
    await visitor.post(at(document, "reminders"), {"firstAfterDays": "2", "everyDays": "5", "max": "0"})
    assert (await office.site.api.get(document))["reminders"] == {
        "enabled": False,
        "firstAfterDays": 2,
        "everyDays": 5,
        "max": 0,
    }
    assert "Reminders None" in (await visitor.get(at(document))).said


async def test_who_changes_the_same_as_somebody_else_is_asked_and_nobody_loses_anything(
    office: Office,
) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    path, patched = at(document, "expiry"), f"/documents/{document}"
    page = await visitor.get(path)
    form = {"seen-expiresAt": page.value("seen-expiresAt"), "expiresAt": "2027-01-31"}
    assert (await visitor.post(path, form | {"expiresAt": form["seen-expiresAt"]})).to.endswith("expiry")
    await office.site.api.ok("PATCH", patched, {"expiresAt": "2027-02-10T12:00:00Z"})
    page = await visitor.post(path, form)
    assert page.status == 422 and "It is now: 2027-02-10." in page.wrong()["expiresAt"]
    assert (page.value("expiresAt"), page.value("seen-expiresAt")) == ("2027-01-31", "2027-02-10")
    assert (await office.site.api.get(document))["expiresAt"].startswith("2027-02-10")
    await visitor.post(path, form | {"seen-expiresAt": page.value("seen-expiresAt")})
    assert (await office.site.api.get(document))["expiresAt"].startswith("2027-01-31")

    path, names = at(document, "reminders"), ("enabled", "firstAfterDays", "everyDays", "max")
    page = await visitor.get(path)
    form = {f"seen-{name}": page.value(f"seen-{name}") for name in names}
    form |= {name: page.value(f"seen-{name}") for name in names} | {"max": "2"}
    plan = {"enabled": True, "firstAfterDays": 9, "everyDays": 4, "max": 5}
    await office.site.api.ok("PATCH", patched, {"reminders": plan})
    assert (await visitor.post(path, form)).to.endswith("reminders")
    assert (await office.site.api.get(document))["reminders"] == plan | {"max": 2}, (
        "each changed something else"
    )
    page = await visitor.post(path, form | {"max": "7", "seen-max": "5"})
    assert page.wrong().keys() == {"max"} and page.value("max") == "7" and page.value("firstAfterDays") == "9"


async def test_reference_and_notes_are_kept_and_wrong_lines_named(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await complete_document(office)
    path = at(document, "reference")
    assert "metadata" in (await visitor.post(path, externalId="", metadata="no sign")).wrong()
    assert "metadata" in (await visitor.post(path, externalId="", metadata="a = 1\na = 2")).wrong()
    named = await visitor.post(path, externalId="", metadata="good = 1\nbad key = 2")
    assert named.wrong()["metadata"] == (
        "“bad key”: A name is made of up to 40 letters (a to z, A to Z), digits, dots, _ and -."
    )
    await visitor.post(path, externalId="P-7", metadata="room = 4\r\n\r\nnote = a = b")
    now = await office.site.api.get(document)
    assert (now["externalId"], now["metadata"]) == ("P-7", {"room": "4", "note": "a = b"})
    page = await visitor.get(at(document))
    assert "P-7" in page.said and "room 4" in page.said
    await visitor.post(path, externalId="", metadata="")
    assert (await office.site.api.get(document))["externalId"] is None


async def test_notes_of_a_program_stay_while_somebody_changes_the_reference(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await complete_document(office)
    path = at(document, "reference")
    await office.site.api.ok("PATCH", f"/documents/{document}", {"metadata": {"room": "4"}})
    page = await visitor.get(path)
    seen = {name: page.value(name) for name in ("seen-externalId", "seen-metadata")}
    assert seen == {"seen-externalId": "", "seen-metadata": "room = 4"}
    await office.site.api.ok("PATCH", f"/documents/{document}", {"metadata": {"room": "4", "paid": "yes"}})
    await visitor.post(path, {**seen, "externalId": "P-7", "metadata": "room = 4"})
    now = await office.site.api.get(document)
    assert (now["externalId"], now["metadata"]) == ("P-7", {"room": "4", "paid": "yes"})
    assert (await visitor.post(path, {**seen, "externalId": "", "metadata": "room = 4"})).status == 303
    assert (await office.site.api.get(document))["externalId"] == "P-7", "nothing was typed"


async def test_recipients_of_a_draft_come_change_and_go(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await office.site.api.create(recipients=[])
    new = {"name": "Ada", "email": ADA, "role": "signer", "order": "2", "authentication": "access_code"}
    wrong = await visitor.post(at(document, "recipients", "add"), new)
    assert wrong.status == 422 and wrong.wrong().keys() == {"accessCode"}
    short = await visitor.post(at(document, "recipients", "add"), new, accessCode="kit")
    assert short.wrong().keys() == {"accessCode"} and short.value("accessCode") == ""
    answer = await visitor.post(at(document, "recipients", "add"), new, accessCode="amber 12", locale="de")
    assert answer.to.endswith("done=recipient-added")
    [one] = (await office.site.api.get(document))["recipients"]
    assert (one["order"], one["authentication"], one["locale"]) == (2, "access_code", "de")
    path, seen = (
        at(document, "recipients", one["id"]),
        await visitor.get(at(document, "recipients", one["id"])),
    )
    assert "amber 12" not in seen.text
    form = {**new, "name": "Ada King", "role": "approver", "order": "x", "revision": seen.value("revision")}
    assert (await visitor.post(path, form)).wrong().keys() == {"order"}
    assert (await visitor.post(path, {**form, "order": "1"})).status == 303, "the code agreed upon stays"
    [now] = (await office.site.api.get(document))["recipients"]
    assert (now["name"], now["role"], now["order"], now["locale"]) == ("Ada King", "approver", 1, None)
    assert now["authentication"] == "access_code"
    stale = await visitor.post(path, {**form, "order": "1"})
    assert stale.status == 422 and "Someone else has changed this document." in stale.said
    assert "Ada King" in (await visitor.get(f"{path}/remove")).said
    assert (await visitor.post(f"{path}/remove")).to.endswith("done=recipient-removed")
    assert (await office.site.api.get(document))["recipients"] == []


async def test_a_copy_is_a_new_draft_of_the_person_who_made_it(office: Office) -> None:
    document, visitor = await expire_document(office), await office.signed_in("Maren")
    to = (await visitor.post(at(document, "duplicate"))).to
    copy = await office.site.api.get(to.partition("?")[0].rpartition("/")[2])
    assert copy["id"] != document and copy["status"] == Status.DRAFT and len(copy["recipients"]) == 3
    assert (copy["createdBy"]["kind"], copy["createdBy"]["name"]) == ("member", "Maren")
    assert "Document duplicated." in (await visitor.get(to)).said


async def test_a_template_is_made_of_it(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    assert (await visitor.post(at(document, "template"), title="")).wrong() == {
        "title": "Please fill this in."
    }
    await visitor.post(at(document, "template"), title="Lease of a room")
    [made] = (await office.site.api.ok("GET", "/templates"))["data"]
    assert made["title"] == "Lease of a room" and len(made["roles"]) == 3


async def test_a_document_within_its_retention_says_until_when(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await complete_document(office)
    await office.site.api.ok("PATCH", "/settings", {"retainCompletedDays": 10})
    page = await visitor.get(at(document))
    assert "You can delete this one on 1 Dec 2026." in page.said and "Delete document" not in page.said
    answer = await visitor.post(at(document, "delete"))
    assert answer.status == 422 and "You can delete this one on 1 Dec 2026" in answer.said
    office.clock.advance(days=11)
    visitor = await office.signed_in("Mia")
    assert (await visitor.post(at(document, "delete"))).to == "/documents?done=document-deleted"
    assert (await visitor.get(at(document))).status == 404


# ---------- to look at and to take away ----------


async def test_each_file_comes_as_it_is_and_is_noted(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await complete_document(office)
    for variant in ("original", "sealed", "certificate"):
        status, media, content = await fetch_bytes(visitor, at(document, "files", variant))
        assert (status, media) == (200, "application/pdf")
        assert content == await office.site.api.file(document, variant)
    page = await visitor.get(at(document))
    assert {
        f"Maren downloaded {what}" for what in ("the original PDF", "the sealed PDF", "the certificate page")
    } <= set(re.findall(r"Maren downloaded the (?:original PDF|sealed PDF|certificate page)", page.said))
    length = len(await office.site.api.trail(document))
    assert (await fetch_bytes(visitor, at(document, "files", "sealed"), "HEAD"))[0] == 200
    assert len(await office.site.api.trail(document)) == length
    assert (await visitor.get(at(document, "files", "anything"))).status == 404
    early = await visitor.get(at(await send_document(office), "files", "sealed"))
    assert early.status == 409 and "There is no sealed PDF yet." in early.said


async def test_pages_are_pictured_with_what_was_filled_in(office: Office) -> None:
    visitor = await office.signed_in("Maren")
    test = await office.site.key(mode=Mode.TEST)
    document = (await test.ok("POST", "/documents", {**contract.build_create_body(), "send": True}))["id"]
    await visitor.post("/mode", mode="test")
    assert "filled-" not in (await visitor.get(at(document))).text
    await visitor.post(at(document, "simulate"), action="complete")
    page = await visitor.get(at(document, "pages"))
    over = re.findall(r'src="([^"]+filled-1\.webp\?size=2)" width="(\d+)" height="(\d+)"', page.text)
    assert over and all(int(width) > 100 and int(height) > 100 for _, width, height in over)
    assert page.text.count('loading="lazy"') >= 1
    for path in ("sheets/1.webp", "sheets/3.webp?x&size=2", over[0][0].removeprefix(at(document) + "/")):
        status, media, _ = await fetch_bytes(visitor, at(document, path))
        assert (status, media) in {(200, "image/png"), (200, "image/webp")}
    for path in (
        "sheets/0.webp",
        "sheets/4.webp",
        "sheets/x.webp",
        "sheets/1.webp?x&size=9",
        "pages/1.webp",
        "pages/1/filled-2.webp",
    ):
        assert (await fetch_bytes(visitor, at(document, path)))[0] == 404, path


async def test_an_open_page_learns_that_something_happened(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)

    async def mark() -> str:
        return str(json.loads((await visitor.get(at(document, "mark"))).text)["mark"])

    before = await mark()
    assert f'data-mark="{before}"' in (await visitor.get(at(document))).text
    assert await mark() == before
    await (await office.site.person(ADA)).view()
    seen = await mark()
    await fetch_bytes(visitor, at(document, "files", "original"))
    assert len({before, seen, await mark()}) == 3


# ---------- test mode ----------


async def test_recipients_of_test_mode_do_what_they_are_told(office: Office) -> None:
    visitor = await office.signed_in("Maren", MemberRole.MEMBER)
    test = await office.site.key(mode=Mode.TEST)
    document = await test.send_document(recipients=THREE)
    await visitor.post("/mode", mode="test")
    for action, said in (
        ("view", "Ada Lovelace opened the document Simulated"),
        ("remind", "A reminder to Ada Lovelace was created"),
        ("complete", "Ada Lovelace signed Simulated"),
    ):
        assert (await visitor.post(at(document, "simulate"), action=action)).to.endswith("done=simulated")
        assert said in (await visitor.get(at(document))).said
    bo = (await test.get(document))["recipients"][1]["id"]
    await visitor.post(at(document, "simulate"), action="decline", recipientId=bo, reason="No.")
    assert (await test.get(document))["closeReason"] == "No."
    late = await visitor.post(at(document, "simulate"), action="view")
    assert late.status == 422 and "isn’t out for signature" in late.said
    other = await test.send_document(recipients=THREE)
    await visitor.post(at(other, "simulate"), action="expire")
    assert await test.status(other) == "expired"
    for wrong in ({"action": "explode"}, {"action": "view", "recipientId": "rcp_x"}):
        assert (await visitor.post(at(other, "simulate"), wrong)).status == 422


async def test_a_live_document_knows_no_simulation(office: Office) -> None:
    visitor, document = await office.signed_in("Maren"), await send_document(office)
    assert "Simulate recipients" not in (await visitor.get(at(document))).said
    assert (await visitor.post(at(document, "simulate"), action="complete")).status == 404
    assert await office.site.api.status(document) == "sent"


async def test_mails_of_test_mode_can_be_read_by_those_who_work(office: Office) -> None:
    visitor = await office.signed_in("Maren", MemberRole.MEMBER)
    assert "Switch to test mode" in (await visitor.get("/test/messages")).said
    await visitor.post("/mode", mode="test")
    assert "No messages yet" in (await visitor.get("/test/messages")).said
    test = await office.site.key(mode=Mode.TEST)
    documents = [
        await test.send_document(recipients=[{"name": HOSTILE, "email": ADA}], title=f"{HOSTILE}{n}")
        for n in "ab"
    ]
    await office.site.work("mail")
    everything, one = (
        await visitor.get("/test/messages"),
        await visitor.get(f"/test/messages?document={documents[0]}"),
    )
    assert len(re.findall('class="fold mail"', everything.text)) == 2
    assert len(re.findall('class="fold mail"', one.text)) == 1
    assert "<script>alert" not in everything.text and "Open signing link" in everything.said
    assert re.search(r'href="http[^"]+/s/[\w-]{43}"', one.text)
    assert "Test messages" in (await visitor.get(at(documents[0]))).said
    assert (await visitor.get("/test/messages?document=doc_nobody")).status == 404
    assert (await visitor.get("/test/messages?cursor=x")).status == 400
    viewer = await office.signed_in("Vi", MemberRole.VIEWER)
    await viewer.post("/mode", mode="test")
    assert (await viewer.get("/test/messages")).status == 403
    assert "/s/" not in (await viewer.get(at(documents[0]))).text


async def test_mails_of_test_mode_are_listed_page_by_page(office: Office) -> None:
    visitor = await office.signed_in("Maren")
    await visitor.post("/mode", mode="test")
    test = await office.site.key(mode=Mode.TEST)
    many = [{"name": f"P{n}", "email": f"p{n}@example.test"} for n in range(28)]
    document = await test.send_document(recipients=many)
    await office.site.work("mail")
    first = await visitor.get(f"/test/messages?document={document}")
    found = re.search(r'href="(/test/messages\?[^"]+)">Earlier', first.text)
    assert found and first.text.count('class="fold mail"') == 25
    rest = await visitor.get(found[1].replace("&amp;", "&"))
    assert rest.text.count('class="fold mail"') == 3 and "Earlier messages" not in rest.said


async def test_what_became_of_the_file_is_said_in_the_sentences_of_the_draft(office: Office) -> None:
    visitor = await office.signed_in("Maren")
    upload = base64.b64encode(make_scripted()).decode()
    document = await office.site.api.create(file=upload)
    [sentence] = describe_changes((await documents.get(office.runtime.db, document)).file, load_words("en"))
    for path in (f"/documents/{document}/edit", at(document), f"{at(document)}/audit"):
        page = await visitor.get(path)
        assert sentence in html.unescape(page.said), path
