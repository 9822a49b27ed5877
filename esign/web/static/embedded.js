// Inside a page of another application: tells that page what becomes of the link. Only the origins that the organisation
// listed can show this page in a frame, and only to them a message goes, since a message to any other is not delivered.

const { embedders, document: documentId, recipient: recipientId, outcome } = document.body.dataset;
const [above] = location.ancestorOrigins ?? [];
const listed = embedders.split(" ").filter((origin) => !above || origin === above);

export function announce(type) {
  for (const origin of listed) parent.postMessage({ source: "esign", type, documentId, recipientId }, origin);
}

export function begin() {
  announce("ready");
  if (outcome) announce(outcome);
}
