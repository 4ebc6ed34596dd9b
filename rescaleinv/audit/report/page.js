"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("points");
  const body = table.tBodies[0];
  const rows = Array.from(body.querySelectorAll("tr[data-number]"));
  const collator = new Intl.Collator(undefined, { numeric: true });

  // Text goes into the page as text only: names of columns and points may hold anything.
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const addressOf = (row) => `#row=${encodeURIComponent(data.points[row.dataset.number].name)}`;
  const shown = (value) => (value === null ? "–" : Number(value.toPrecision(3)).toString());

  // --- details of one point ---------------------------------------------------------------------------------------

  const close = () => {
    const open = body.querySelector("tr.detail");
    if (!open) return null;
    const owner = open.previousElementSibling;
    owner.querySelector("button").setAttribute("aria-expanded", "false");
    open.remove();
    return owner;
  };

  const rescaling = (one, point, largest) => {
    const box = make("div");
    box.append(make("h4", `${one.name}: ${one.label}`));
    box.append(make("p", `decision value ${shown(one.value)}, of which ${shown(one.base)} at the mean of the training rows and the rest from:`));
    const list = make("table");
    const head = list.createTHead().insertRow();
    for (const title of ["feature", "value", "factor", "pushes", "drawn"]) {
      const cell = make("th", title);
      cell.scope = "col";
      head.append(cell);
    }
    const lines = list.createTBody();
    data.features.forEach((name, j) => {
      const line = lines.insertRow();
      if (one.factors[j] !== 1) line.className = "changed";
      const first = make("th", name);
      first.scope = "row";
      line.append(first);
      line.append(make("td", shown(point.values[j])), make("td", `× ${shown(one.factors[j])}`));
      line.append(make("td", (one.contributions[j] > 0 ? "+" : "") + shown(one.contributions[j])));
      const cell = make("td");
      const push = make("div", undefined, "push");
      const bar = make("i", undefined, one.contributions[j] >= 0 ? "up" : "down");
      bar.style.width = `${(50 * Math.abs(one.contributions[j])) / largest}%`;
      push.append(bar);
      cell.append(push);
      line.append(cell);
    });
    box.append(list);
    return box;
  };

  const open = (row) => {
    const previous = close();
    if (previous === row) return;
    const point = data.points[row.dataset.number];
    const detail = make("tr", undefined, "detail");
    const whole = make("td");
    const cell = make("div", undefined, "inner");
    whole.append(cell);
    whole.colSpan = table.tHead.rows[0].cells.length;
    cell.append(make("h3", point.name), make("p", point.text));
    if (point.rescalings.length) {
      const pair = make("div", undefined, "pair");
      const pushes = point.rescalings.flatMap((one) => one.contributions.map(Math.abs));
      const largest = Math.max(...pushes, Number.MIN_VALUE);
      for (const one of point.rescalings) pair.append(rescaling(one, point, largest));
      cell.append(pair);
    } else {
      const values = data.features.map((name, j) => `${name} ${shown(point.values[j])}`);
      cell.append(make("p", values.join(", ")));
    }
    const link = make("a", "Link to this row");
    link.href = addressOf(row);
    const labels = point.labels.map(([name, label]) => `${name}: ${label}`);
    cell.append(make("p", `Labels after the usual scalings: ${labels.join("; ")}.`, "labels"));
    const last = make("p");
    last.append(link);
    cell.append(last);
    detail.append(whole);
    row.after(detail);
    row.querySelector("button").setAttribute("aria-expanded", "true");
  };

  for (const row of rows) row.addEventListener("click", () => open(row));

  // --- pages ------------------------------------------------------------------------------------------------------

  const ROWS_PER_PAGE = 50;
  let page = 0;
  let fitting = rows; // those that the filters leave, in their order
  const turn = (to) => {
    close();
    const last = Math.max(Math.ceil(fitting.length / ROWS_PER_PAGE) - 1, 0);
    page = Math.min(Math.max(to, 0), last);
    const start = page * ROWS_PER_PAGE;
    fitting.forEach((row, k) => row.classList.toggle("off-page", k < start || k >= start + ROWS_PER_PAGE));
    const stop = Math.min(start + ROWS_PER_PAGE, fitting.length);
    document.getElementById("page").textContent = `${fitting.length ? start + 1 : 0} to ${stop} of ${fitting.length}`;
    document.getElementById("previous").disabled = page === 0;
    document.getElementById("next").disabled = page === last;
  };
  document.getElementById("previous").addEventListener("click", () => turn(page - 1));
  document.getElementById("next").addEventListener("click", () => turn(page + 1));

  // --- links to rows ----------------------------------------------------------------------------------------------

  const follow = () => {
    const wanted = rows.find((row) => addressOf(row) === location.hash);
    if (!wanted) return;
    reset();
    turn(Math.floor(fitting.indexOf(wanted) / ROWS_PER_PAGE));
    if (wanted.querySelector("button").getAttribute("aria-expanded") !== "true") open(wanted);
    wanted.scrollIntoView({ block: "start" });
    wanted.querySelector("button").focus();
  };
  window.addEventListener("hashchange", follow);

  // --- filters ----------------------------------------------------------------------------------------------------

  const search = document.getElementById("search");
  const verdict = document.getElementById("verdict");
  const split = document.getElementById("split");
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    fitting = [];
    for (const row of Array.from(body.querySelectorAll("tr[data-number]"))) {
      const fits =
        texts.get(row).includes(wanted) &&
        (!verdict.value || row.dataset.verdict === verdict.value) &&
        (!split.checked || row.dataset.split === "1");
      row.hidden = !fits;
      row.classList.remove("off-page");
      if (fits) fitting.push(row);
    }
    document.getElementById("shown").textContent = `${fitting.length} of ${rows.length}`;
    turn(0);
  };
  const reset = () => {
    search.value = verdict.value = "";
    split.checked = false;
    filter();
  };
  search.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  split.addEventListener("change", filter);

  // --- sorting ----------------------------------------------------------------------------------------------------

  const headers = Array.from(table.tHead.rows[0].cells);
  const sortBy = (header) => {
    close();
    const column = headers.indexOf(header);
    const down = header.getAttribute("aria-sort") === "ascending";
    for (const other of headers) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyOf = (row) => {
      const cell = row.cells[column];
      if (header.dataset.kind !== "number") return cell.textContent.trim();
      const text = cell.dataset.value;
      return text === "inf" ? Infinity : text === "-inf" ? -Infinity : text === "nan" ? NaN : Number(text);
    };
    const keyed = rows.map((row) => [keyOf(row), row]);
    keyed.sort(([a], [b]) => {
      if (typeof a === "string") return (down ? -1 : 1) * collator.compare(a, b);
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // what is not known comes last
      return a === b ? 0 : (a < b) === down ? 1 : -1;
    });
    body.append(...keyed.map(([, row]) => row));
    filter();
  };
  for (const header of headers) {
    const button = make("button", header.textContent);
    button.type = "button";
    header.replaceChildren(button);
    button.addEventListener("click", () => sortBy(header));
  }
  filter();
  follow();
})();
