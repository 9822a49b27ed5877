// Numbers as the language of the page writes them, with digits 0 to 9 and no marks between thousands.

const locale = `${document.documentElement.lang}-u-nu-latn`;
/** A number with at most so many digits after its mark. */
export const write = (n, digits) => n.toLocaleString(locale, { maximumFractionDigits: digits, useGrouping: false });
