// A table of a query's rows, with the columns that /api/schema describes.

export function show(table, columns, rows, lcid, choose) {
  const shown = columns.filter((column) => column.type !== "Guid");
  const language = lcid === "1031" ? "de" : "en";
  const head = document.createElement("thead");
  head.append(row("th", shown.map((column) => column.label)));
  const body = document.createElement("tbody");
  for (const record of rows) {
    const line = row("td", shown.map((column) => text(record[column.name], column, language)));
    line.tabIndex = 0;
    line.addEventListener("click", () => choose(record, line));
    line.addEventListener("keydown", (event) => event.key === "Enter" && choose(record, line));
    body.append(line);
  }
  table.replaceChildren(head, body);
}

function row(cell, texts) {
  const line = document.createElement("tr");
  for (const words of texts) line.append(Object.assign(document.createElement(cell), { textContent: words }));
  return line;
}

function text(value, column, language) {
  if (value === null || value === undefined) return "";
  if (column.optionSet) return column.optionSet.options.find((option) => option.value === value)?.name ?? value;
  if (column.type === "EntityReference") return value.name ?? value.id;
  if (column.type === "Money") return value.toLocaleString(language, { minimumFractionDigits: 2 });
  if (column.type === "DateTime") return new Date(value).toLocaleDateString(language);
  return String(value);
}
