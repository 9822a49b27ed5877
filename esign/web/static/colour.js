// The colour of the organisation, tried while it is chosen. The numbers are those of core/people/brand_colours.py.
const field = document.getElementById("brandColour");
const WHITE = "#ffffff", INK = "#1b2330", BLACK = "#000000", LIGHT_DESK = "#f4f2ee", DARK_PAPER = "#1c212b";
const USUAL = "#3d4657", BLUE = "#2546d8", LIGHT_BLUE = "#8fa4ff";
const READABLE = 4.5, STEP = 0.04, WASH = 0.1;

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

function luminance(colour) {
  const [red, green, blue] = channels(colour).map((value) => linear(value / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function mix(one, other, share) {
  const others = channels(other);
  return `#${channels(one).map((value, n) => Math.floor(value + (others[n] - value) * share + 0.5).toString(16).padStart(2, "0")).join("")}`;
}

function adapt(colour, toward, ground, paper) {
  let share = 0, mixed = colour;
  while (Math.min(contrast(mixed, ground), contrast(mixed, mix(paper, mixed, WASH))) < READABLE) {
    share += STEP;
    mixed = mix(colour, toward, Math.min(share, 1));
  }
  return mixed;
}

field.addEventListener("input", () => {
  const colour = field.value;
  const darkened = adapt(colour, BLACK, LIGHT_DESK, WHITE);
  const usual = colour === USUAL; // buttons keep the blue of esign
  const light = usual ? BLUE : darkened;
  const tones = {
    "--try": colour,
    "--try-ink": [WHITE, INK].find((ink) => contrast(ink, colour) >= READABLE) ?? BLACK,
    "--try-light": light,
    "--try-dark": usual ? LIGHT_BLUE : adapt(colour, WHITE, DARK_PAPER, DARK_PAPER),
    "--try-rule": contrast(colour, WHITE) >= READABLE ? colour : darkened,
  };
  const tried = document.querySelector(".brand-tries");
  for (const [name, value] of Object.entries(tones)) tried.style.setProperty(name, value);
  document.getElementById("colour-name").textContent = colour;
  const note = document.getElementById("colour-adapted");
  note.hidden = usual || light === colour;
  note.querySelector("code").textContent = light;
});
