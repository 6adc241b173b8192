/** A table as CSV (RFC 4180), for spreadsheets: a text that they would run as a formula gets a `'`. */
export const toCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');

const FORMULA = /^[=+\-@\t\r]/;
/** A number is no formula, also below zero. */
const NUMBER = /^-?\d+(\.\d+)?$/;

const cell = (text: string): string => {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
