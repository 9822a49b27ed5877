// Signs as Documenso does: `node libpdf.mjs KEY.p12 PASSPHRASE TIME FILE…`, one line of JSON in, one out.
// {"sign": n} answers with milliseconds, from the bytes of the nth file to those of the signed one;
// {"sign": n, "into": path} keeps what was signed.
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { P12Signer, PDF } from "@libpdf/core";

const [key, passphrase, time, ...paths] = process.argv.slice(2);
const signer = await P12Signer.create(await readFile(key), passphrase);
const files = await Promise.all(paths.map(async (path) => new Uint8Array(await readFile(path))));
const signingTime = new Date(Number(time));

for await (const line of createInterface({ input: process.stdin })) {
  const { sign, into } = JSON.parse(line);
  const began = performance.now();
  const pdf = await PDF.load(files[sign]);
  const { bytes } = await pdf.sign({
    signer,
    reason: "All recipients have finished",
    level: "B-B",
    subFilter: "ETSI.CAdES.detached",
    signingTime,
  });
  const milliseconds = performance.now() - began;
  if (into) await writeFile(into, bytes);
  console.log(JSON.stringify({ milliseconds }));
}
