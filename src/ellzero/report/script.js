"use strict";
// The slider walks the models along the path. All texts come ready-made from the page's own data
// and are set as text, never as markup.
(function () {
  const steps = JSON.parse(document.getElementById("steps").textContent);
  const slider = document.getElementById("slider");
  const body = document.getElementById("step-variables");
  const SVG = "http://www.w3.org/2000/svg";

  function cell(row, text, kind) {
    const element = row.insertCell();
    element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }

  function bar(row, share) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "cell");
    svg.setAttribute("viewBox", "0 0 100 10");
    svg.setAttribute("preserveAspectRatio", "none");
    const rect = document.createElementNS(SVG, "rect");
    rect.setAttribute("class", "bar");
    rect.setAttribute("y", "1");
    rect.setAttribute("height", "8");
    rect.setAttribute("width", String(share));
    svg.append(rect);
    cell(row, "", "less").append(svg);
  }

  function show(place) {
    const step = steps[place];
    document.getElementById("step-size").textContent = step.size;
    document.getElementById("step-price").textContent = step.price;
    document.getElementById("step-r2").textContent = step.r2;
    document.getElementById("step-error").textContent = step.error ? "; error on rows held out " + step.error : "";
    document.getElementById("step-chosen").hidden = !step.chosen;
    slider.setAttribute("aria-valuetext", step.size + ", " + step.price);
    body.replaceChildren();
    for (const [name, coefficient, standardised, lost, share] of step.variables) {
      const row = body.insertRow();
      cell(row, name, "name");
      cell(row, coefficient, "num");
      cell(row, standardised, "num");
      cell(row, lost, "num");
      if (share === null) {  // a feature of the variable above
        row.className = "part";
        cell(row, "", "less");
      } else {
        bar(row, share);
      }
    }
    const last = body.insertRow();
    cell(last, "(intercept)", "name");
    cell(last, step.intercept, "num");
    for (const kind of ["", "", "less"]) cell(last, "", kind);
    for (const band of document.querySelectorAll(".step")) {
      band.classList.toggle("on", Number(band.dataset.step) === place);
    }
  }

  slider.addEventListener("input", () => show(Number(slider.value)));
  for (const band of document.querySelectorAll(".step")) {
    band.addEventListener("click", () => {
      slider.value = band.dataset.step;
      show(Number(slider.value));
    });
  }
  document.getElementById("walk").hidden = false;
  show(Number(slider.value));
})();
