"""Everything a program can do by the API, and the control of the office by which people do it (contract 3.6).

A table by noun: the operation as the API calls it, with a member behind a dot where each has a control of its own, and
the control. `test_parity` uses every one of them in a browser and asks the API what came of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

ANYWHERE = "*"  # a place of the navigation
DOCUMENT, EDIT, REVIEW = "/documents/{id}", "/documents/{id}/edit", "/documents/{id}/review"
TEMPLATE = "/templates/{id}"
WEBHOOKS, WEBHOOK = "/settings/webhooks", "/settings/webhooks/{id}"
DELIVERY = f"{WEBHOOK}/deliveries/{{id}}"
ORGANISATION, DEFAULTS, TOKENS = "/settings/organisation", "/settings/defaults", "/settings/tokens"


@dataclass(frozen=True)
class Control:
    """The page it stands on, its role, and its accessible name as a regular expression."""

    page: str
    role: str
    name: str

    def stands_on(self, path: str) -> bool:
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(self.page))
        return self.page == ANYWHERE or re.fullmatch(pattern, path) is not None


def button(page: str, name: str) -> Control:
    return Control(page, "button", name)


def link(page: str, name: str) -> Control:
    return Control(page, "link", name)


CONTROLS: Mapping[str, Mapping[str, Control]] = {
    "documents": {
        "listDocuments": link(ANYWHERE, "Documents.*"),
        "createDocument": button("/documents/new", "Drop PDFs here or choose files"),
        "changeDocument.file": button(EDIT, "New PDF"),
        "changeDocument.title": Control(EDIT, "textbox", "Title"),
        "changeDocument.message": Control(EDIT, "textbox", "Message"),
        "changeDocument.subject": Control(EDIT, "textbox", "Subject"),
        "changeDocument.locale": Control(EDIT, "combobox", "Language of emails and signing pages"),
        "changeDocument.redirectUrl": Control(EDIT, "textbox", "Redirect after signing.*"),
        "changeDocument.expiresInDays": Control(EDIT, "spinbutton", "Time to sign"),
        "sendDocument": button(REVIEW, "Send without email"),
        "getDocument": link("/documents", "Lease of the workshop"),
        "getPages": link(DOCUMENT, "Page 1"),
        "getFile.original": link(DOCUMENT, "Original PDF"),
        "changeDocument.expiresAt": button(DOCUMENT, "Save deadline"),
        "changeDocument.expiresAt.default": button(DOCUMENT, "Reset to .*"),
        "changeDocument.reminders": button(DOCUMENT, "Save reminders"),
        "changeDocument.metadata": button(DOCUMENT, "Save"),
        "remindRecipients": button(DOCUMENT, "Remind Ada Lovelace"),
        "getFile.sealed": link(DOCUMENT, "Sealed PDF"),
        "getFile.certificate": link(DOCUMENT, "Certificate page"),
        "getAuditTrail": link(DOCUMENT, "View audit trail"),
        "listEvents.documentId": Control("/documents/{id}/audit", "region", "Entries"),
        "duplicateDocument": button(DOCUMENT, "Duplicate"),
        "deleteDocument": button(DOCUMENT, "Delete document"),
        "cancelDocument": button(DOCUMENT, "Cancel document"),
        "retrySeal": button("/documents", "Retry sealing: Office lease renewal 2027"),
    },
    "recipients": {
        "addRecipient": button(DOCUMENT, "Add recipient"),
        "changeRecipient": button(DOCUMENT, "Save recipient"),
        "changeRecipient.fields": button("/documents/{id}/fields", "Signature"),
        "removeRecipient": button(DOCUMENT, "Remove recipient"),
        "issueLink": button(DOCUMENT, "Create link"),
        "unblockRecipient": button(DOCUMENT, "Allow another attempt"),
    },
    "templates": {
        "listTemplates": link(ANYWHERE, "Templates"),
        "createTemplate": button("/templates/new", "Drop PDFs here or choose files"),
        "createTemplate.fromDocumentId": button(f"{DOCUMENT}/template", "Save template"),
        "getTemplate": link("/templates", "Lease of a room"),
        "changeTemplate": button(f"{TEMPLATE}/edit", "Save"),
        "changeTemplate.expiresInDays": Control(f"{TEMPLATE}/edit", "spinbutton", "Time to sign"),
        "changeTemplate.roles.fields": button(f"{TEMPLATE}/fields", "Signature"),
        "useTemplate": button(f"{TEMPLATE}/use", "Create draft"),
        "deleteTemplate": button(f"{TEMPLATE}/delete", "Delete template"),
    },
    "webhooks": {
        "registerWebhook": button("/settings/webhooks/new", "Create webhook"),
        "listWebhooks": link(ANYWHERE, "Webhooks"),
        "getWebhook": link(WEBHOOKS, r".*127\.0\.0\.1.*"),
        "changeWebhook": button(f"{WEBHOOK}/edit", "Save webhook"),
        "changeWebhook.enabled": button(WEBHOOK, "Turn (on|off)"),
        "testWebhook": button(WEBHOOK, "Send test event"),
        "recoverDeliveries": button(f"{WEBHOOK}/recover", "Resend missed events"),
        "recoverDeliveries.until": Control(f"{WEBHOOK}/recover", "textbox", "Until"),
        "listDeliveries": link(WEBHOOK, "All"),
        "getDelivery": link(WEBHOOK, ".*document.created.*"),
        "getEvent": Control(DELIVERY, "region", "Request"),
        "redeliverEvent": button(DELIVERY, "Deliver again"),
        "rotateSecret": button(f"{WEBHOOK}/secret", "Create new secret"),
        "deleteWebhook": button(f"{WEBHOOK}/delete", "Delete webhook"),
    },
    "tokens": {
        "listApiKeys": link(ANYWHERE, "API keys"),
        "getApiKey": Control(TOKENS, "row", "Portal .*"),
        "renameApiKey": button(f"{TOKENS}/{{id}}/name", "Save name"),
        "revokeApiKey": button(f"{TOKENS}/{{id}}/revoke", "Revoke API key"),
    },
    "settings": {
        "getAccount": link(ANYWHERE, "API keys"),
        "getAccount.limits": link(ANYWHERE, "Plan and limits"),
        "listEvents": link(ANYWHERE, "Events"),
        "listEvents.type": Control("/settings/events", "combobox", "Type"),
        "listAuditLog": link(ANYWHERE, "Audit log"),
        "listAuditLog.type": Control("/settings/audit", "combobox", "Action"),
        "listAuditLog.actor": Control("/settings/audit", "combobox", "By"),
        "listAuditLog.from": Control("/settings/audit", "textbox", "From"),
        "getUsage": link(ANYWHERE, "Usage"),
        "getSettings": link(ANYWHERE, "Organisation"),
        "changeSettings.organisationName": button(ORGANISATION, "Save"),
        "changeSettings.brandColour": button(ORGANISATION, "Save colour"),
        "changeSettings.defaultExpiresInDays": button(DEFAULTS, "Save defaults"),
        "changeSettings.defaultReminders": button(DEFAULTS, "Reset to server defaults"),
        "changeSettings.retainCompletedDays": button(DEFAULTS, "Save retention"),
        "changeSettings.maxKeyLifetimeDays": button(DEFAULTS, "Save lifetime"),
        "changeSettings.embedOrigins": button(DEFAULTS, "Save sites"),
    },
    "members": {
        "listMembers": link(ANYWHERE, "Members"),
        "addMember": button("/members", "Invite"),
        "changeMember": button("/members", "Make administrator"),
        "removeMember": button("/members/{id}/remove", "Remove member"),
    },
    "files": {
        "verifyPdf": button("/verify", "Drop a PDF here or choose a file"),
    },
    "test mode": {
        "simulateRecipient": button(DOCUMENT, "Finish"),
        "simulateRecipient.values": Control(DOCUMENT, "textbox", "Values.*"),
        "listTestMessages": link(ANYWHERE, "Test messages"),
    },
}

# What has no control, and why: each of these means something to a program alone.
FOR_PROGRAMS: Mapping[str, str] = {
    "revokeCurrentApiKey": "A program gives up the key it holds; a person holds none, and signs out instead.",
    "getDescription": "A description that generators of clients read; people read the same at /api.",
}
