// What to think of before sending, in words.

import { t } from "../words.js";
import { holders, inOrder, model, nameOf, person } from "./model.js";

const TOUCH = 0.2; // percent that fields may share: drawn side by side they do

const overlaps = (a, b) => a.x < b.x + b.width - TOUCH && b.x < a.x + a.width - TOUCH && a.y < b.y + b.height - TOUCH && b.y < a.y + a.height - TOUCH;

function overlapping() {
  const fields = model.fields.toSorted(inOrder);
  for (const [n, one] of fields.entries()) {
    for (let m = n + 1; m < fields.length && fields[m].page === one.page && fields[m].y < one.y + one.height; m++) if (overlaps(one, fields[m])) return fields[m];
  }
  return null;
}

/** `kind` is good, info, warn or bad; `field` is where to go. */
export function checks() {
  const found = [];
  for (const field of model.fields) {
    if (model.problems.has(field.id)) found.push({ kind: "bad", text: t("check_bad", { name: nameOf(field), page: field.page }), field });
  }
  const signers = holders().filter(({ role }) => role === "signer");
  for (const { id, name } of signers) {
    if (!model.fields.some((field) => field.holder === id && field.type === "signature")) found.push({ kind: "warn", text: t("check_unsigned", { name }) });
  }
  if (!signers.length) found.push({ kind: "warn", text: t("check_nobody") });
  for (const { id, name, role } of holders()) {
    if (role === "approver" && !model.fields.some((field) => field.holder === id)) found.push({ kind: "info", text: t("check_approver", { name }) });
  }
  const hit = overlapping();
  if (hit) found.push({ kind: "warn", text: t("check_overlap", { page: hit.page, field: nameOf(hit), name: person(hit.holder).name }), field: hit });
  const good = { kind: "good", text: t("check_good") };
  return found.some(({ kind }) => kind !== "info") ? found : [good, ...found];
}
