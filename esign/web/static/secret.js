// Forms of a page that was open for long: signing in again in another tab makes their secret stale, and a new one is read here.

/** Puts the secret of the session as it is now into a form; false where nobody is signed in, or nobody answers. */
export async function renew(form) {
  try {
    const answer = await fetch(location.pathname, { redirect: "manual", cache: "no-store" });
    const found = answer.ok && /name="csrf" value="([\w=-]+)"/.exec(await answer.text());
    if (found) form.elements.csrf.value = found[1];
    return Boolean(found);
  } catch {
    return false;
  }
}
