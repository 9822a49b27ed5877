// The colour of the organisation, tried while it is chosen.
const field = document.getElementById("brandColour");

const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

function ink(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => linear(parseInt(colour.slice(at, at + 2), 16) / 255));
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5 ? "#ffffff" : "#1b2330";
}

field.addEventListener("input", () => {
  document.getElementById("colour-name").textContent = field.value;
  for (const part of document.querySelectorAll("[data-ground]")) part.setAttribute("fill", field.value);
  for (const part of document.querySelectorAll("[data-ink]")) part.setAttribute("fill", ink(field.value));
});
