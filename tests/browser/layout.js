// What is wrong with the layout of the page as it stands, as sentences. `spared` are selectors of what is not looked at.

(spared) => {
  const apart = spared.join(", "), faults = new Set(), styles = new Map();
  const style = (one) => styles.get(one) ?? styles.set(one, getComputedStyle(one)).get(one);
  const said = (one) => {
    const words = one.innerText || one.getAttribute("aria-label") || one.outerHTML;
    return `${one.tagName.toLowerCase()} ${words.trim().slice(0, 70)}`;
  };
  const seen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !one.closest(apart);
  const onTop = document.querySelector("dialog[open], :popover-open") ?? document.body;
  const within = [...onTop.querySelectorAll("*")].filter(seen);

  /* words in a box that is too small; what overflows without being hidden counts where it is words of its own */
  const hasWords = (one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  for (const one of within) {
    const wide = one.scrollWidth > one.clientWidth + 1, high = one.scrollHeight > one.clientHeight + 1;
    if (!one.clientWidth || !(wide || high) || !one.innerText?.trim()) continue; // the words are read last: they cost most
    const { overflowX, overflowY, webkitLineClamp } = style(one);
    const holds = overflowX === "hidden" || (overflowX === "visible" && hasWords(one));
    if (wide && holds) faults.add(`cut across: ${said(one)}`);
    if (high && overflowY === "hidden" && webkitLineClamp === "none") faults.add(`cut below: ${said(one)}`);
  }

  /* controls: what can be seen of each, and the layer that it is fixed to */
  const CONTROLS = "a, button, input, select, textarea, summary, [role=tab], [role=option]";
  const isLayer = (at) => at.matches("dialog[open], :popover-open") || ["fixed", "sticky"].includes(style(at).position);
  const layerOf = (one) => {
    let at = one;
    while (at !== document.body && !isLayer(at)) at = at.parentElement;
    return at;
  };
  const controls = [];
  for (const one of within.filter((each) => each.matches(CONTROLS))) {
    const target = one.closest("label") ?? one, layer = layerOf(one), box = target.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    let { top, bottom } = box, clipped = false;
    for (let at = target.parentElement; at !== document.body && at !== layer.parentElement; at = at.parentElement) {
      const { overflowX, overflowY } = style(at), frame = at.getBoundingClientRect();
      if (overflowX !== "visible" && (box.left < frame.left - 1 || box.right > frame.right + 1)) clipped = true;
      if (["hidden", "clip"].includes(overflowY) && (top < frame.top - 1 || bottom > frame.bottom + 1)) clipped = true;
      if (overflowY !== "visible") [top, bottom] = [Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
    }
    const fixed = layer !== document.body && style(layer).position !== "sticky" && bottom > top;
    const outside = box.left < -1 || box.right > innerWidth + 1 || (fixed && (top < -1 || bottom > innerHeight + 1));
    if (clipped) faults.add(`clipped: ${said(one)}`);
    if (outside) faults.add(`outside the screen: ${said(one)}`);
    controls.push({ one, target, layer, left: box.left, right: box.right, top, bottom });
  }

  const shared = (a, b) => [
    Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
  ];
  controls.forEach((a, at) => {
    for (const b of controls.slice(at + 1)) {
      if (a.layer !== b.layer || a.target.contains(b.target) || b.target.contains(a.target)) continue;
      if (Math.min(...shared(a, b)) > 1) faults.add(`on each other: ${said(a.one)} | ${said(b.one)}`);
    }
  });
  const wider = document.documentElement.scrollWidth - innerWidth;
  if (wider > 0) faults.add(`the page is ${wider} px wider than the screen`);
  return [...faults];
}
