// Send a PDF for signature, be told when it is completed, and fetch it sealed. Node 18, no package.
//
// ESIGN_KEY=esk_live_… node docs/examples/send.mjs contract.pdf "Ada Example" ada@example.com

import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename } from "node:path";

const ESIGN = process.env.ESIGN_URL ?? "http://127.0.0.1:8080";
const PORT = Number(process.env.PORT ?? 9000);

/** The answer; anything but a success is an error with the words of esign. */
async function call(method, path, body, headers = {}) {
  const answer = await fetch(`${ESIGN}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${process.env.ESIGN_KEY}`, "Content-Type": "application/json", ...headers },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer;
}

/** Whether esign has sent this body, within the last five minutes. */
function authentic(secret, headers, body) {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  const fresh = Math.abs(Date.now() / 1000 - Number(headers["webhook-timestamp"])) <= 300;
  const given = headers["webhook-signature"].split(" ").map((one) => Buffer.from(one));
  return fresh && given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

/** Resolves when an event has told that this document is completed. */
function completed(server, secret, id) {
  return new Promise((resolve) => {
    server.on("request", async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const genuine = authentic(secret, request.headers, body);
      response.writeHead(genuine ? 204 : 400).end();
      if (genuine && JSON.parse(body).data.document.id === id) resolve();
    });
  });
}

const [file, name, email] = process.argv.slice(2);
const server = createServer().listen(PORT, "127.0.0.1");
const hook = { url: `http://127.0.0.1:${PORT}/`, events: ["document.completed"] };
const webhook = await (await call("POST", "/webhooks", hook)).json();

const order = {
  fileName: basename(file),
  file: (await readFile(file)).toString("base64"),
  recipients: [{ name, email, fields: [{ type: "signature", page: 1, x: 12, y: 80 }] }],
};
// The same key with the same request never makes a second document.
const { id } = await (await call("POST", "/documents", order, { "Idempotency-Key": randomUUID() })).json();
const told = completed(server, webhook.secret, id);
const sent = await (await call("POST", `/documents/${id}/send`)).json();
console.log(`${id} is ${sent.status}: ${email} was asked to sign.`);

await told;
const document = await (await call("GET", `/documents/${id}`)).json();
const sealed = await call("GET", `/documents/${id}/files/sealed`, undefined, { Accept: "application/pdf" });
await writeFile("sealed.pdf", Buffer.from(await sealed.arrayBuffer()));
console.log(`${id} is ${document.status}: see sealed.pdf.`);
await call("DELETE", `/webhooks/${webhook.id}`);
server.close();
server.closeAllConnections();
