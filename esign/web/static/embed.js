// A signing page inside a page of your own: see docs/embedding.md. No dependency, no cookie, nothing stored.

(() => {
  "use strict";
  const HANDLERS = new Map([["ready", "onReady"], ["completed", "onCompleted"], ["declined", "onDeclined"], ["error", "onError"]]);
  const LEAST = 480; // pixels of height below which nobody can read a page

  /**
   * Shows the signing page `link` in a frame inside `into` (an element or a selector). Handlers are called once each with
   * {source, type, documentId, recipientId}; onError also when no page has come after `patience` milliseconds, ids null.
   * With `fill` the frame takes what the window has below the place where it begins.
   */
  function embed({ link, into, title = "Document to sign", fill = false, patience = 20_000, ...handlers }) {
    const place = typeof into === "string" ? document.querySelector(into) : into;
    if (!place) throw new Error("Esign.embed: there is no element to put the page into");
    const address = new URL(link), told = new Set(), gone = new AbortController();
    const frame = document.createElement("iframe");
    Object.assign(frame, { src: address.href, title });
    Object.assign(frame.style, { border: "0", display: "block", width: "100%", height: "720px", minHeight: `${LEAST}px` });

    function tell(message) {
      if (told.has(message.type)) return;
      told.add(message.type);
      handlers[HANDLERS.get(message.type)]?.(message);
    }
    const late = setTimeout(() => tell({ source: "esign", type: "error", documentId: null, recipientId: null }), patience);

    function heard({ source, origin, data }) {
      if (source !== frame.contentWindow || origin !== address.origin) return;
      if (data?.source !== "esign" || !HANDLERS.has(data.type)) return;
      clearTimeout(late);
      tell(data);
    }
    function fit() { frame.style.height = `${Math.max(LEAST, innerHeight - Math.max(0, frame.getBoundingClientRect().top))}px`; }

    addEventListener("message", heard, { signal: gone.signal });
    place.append(frame);
    if (fill) { addEventListener("resize", fit, { signal: gone.signal }); fit(); }
    return { frame, destroy() { gone.abort(); clearTimeout(late); frame.remove(); } };
  }

  window.Esign = { embed };
})();
