/*
 * What a page can do beyond being read: tables are sorted, searched and filtered, and a link opens
 * the part it leads into.  Without it everything is there, in the report's order.
 */
(() => {
  "use strict";

  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    element.append(...children);
    return element;
  };

  /* ---- sorting ---- */

  /* Numbers by their value in base units; what is unknown comes last either way. */
  const compare = (column, numeric, sign) => (a, b) => {
    const x = a.cells[column], y = b.cells[column];
    if (!numeric) return sign * x.textContent.localeCompare(y.textContent, "en", { numeric: true });
    const one = parseFloat(x.dataset.value), other = parseFloat(y.dataset.value);
    if (isNaN(one) || isNaN(other)) return isNaN(one) - isNaN(other);
    return sign * (one - other);
  };

  const makeSortable = (table) => {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], rows = [...body.rows];
    heads.forEach((head, column) => {
      const numeric = "number" in head.dataset, first = numeric ? "descending" : "ascending";
      const button = make("button", { type: "button", class: "sort" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const next = !now ? first : now !== first ? null : first === "ascending" ? "descending" : "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (next) head.setAttribute("aria-sort", next);
        const order = next ? [...rows].sort(compare(column, numeric, next === "ascending" ? 1 : -1)) : rows;
        body.append(...order);
      });
    });
  };

  /* ---- searching ---- */

  /* A list of the words that stand in a column of few words. */
  const choiceOf = (head, column, rows) => {
    const words = [...new Set(rows.map((row) => row.cells[column].textContent.trim()))].filter(Boolean).sort();
    if (words.length < 2) return null;
    const select = make("select", {}, make("option", { value: "" }, "all"));
    words.forEach((word) => select.append(make("option", { value: word }, word)));
    return { column, select, label: make("label", {}, head.textContent + " ", select) };
  };

  const makeSearchable = (table, title) => {
    const rows = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells];
    if (rows.length < 4) return;
    const search = make("input", { type: "search", "aria-label": "Search in " + title, placeholder: "Search" });
    const count = make("span", { role: "status", class: "meaning" });
    const choices = heads.map((head, column) => "choice" in head.dataset && choiceOf(head, column, rows)).filter(Boolean);
    const words = rows.map((row) => [...row.cells].map((cell) => cell.title + " " + cell.textContent).join(" ").toLowerCase());
    const apply = () => {
      const wanted = search.value.toLowerCase().split(" ").filter(Boolean);
      let shown = 0;
      rows.forEach((row, i) => {
        const fits = wanted.every((word) => words[i].includes(word)) &&
          choices.every((c) => !c.select.value || row.cells[c.column].textContent.trim() === c.select.value);
        row.hidden = !fits;
        shown += fits;
      });
      count.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " rows";
    };
    search.addEventListener("input", apply);
    choices.forEach((c) => c.select.addEventListener("change", apply));
    const scroll = table.closest(".scroll");
    scroll.before(make("div", { class: "tools" }, search, ...choices.map((c) => c.label), count));
  };

  document.querySelectorAll(".scroll > table").forEach((table) => {
    makeSearchable(table, table.parentNode.getAttribute("aria-label"));
    makeSortable(table);
  });

  /* ---- links ---- */

  const reveal = () => {
    let target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.localName === "details") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
