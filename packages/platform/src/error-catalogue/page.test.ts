import { readFileSync } from 'node:fs';
import { ERROR_CODES, ERROR_TEXTS } from '@cpg/contracts';
import { CATALOGUE_PATH, renderErrorCatalogue } from './page.ts';

const rows = renderErrorCatalogue()
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('has one row with the status of each code', () => {
  expect(Object.fromEntries(rows.map(([, code, status]) => [code!.replaceAll('`', ''), Number(status)]))).toEqual(
    ERROR_CODES,
  );
});

test('has the texts of the API reference for 401, 403 and 429', () => {
  const errors = Object.fromEntries(rows.map(([, , status, error]) => [status, error]));
  expect(errors).toMatchObject({ 401: 'Unauthorized', 403: 'Forbidden', 429: 'Rate limit exceeded' });
});

test('fills all cells of every row, without breaking the table', () => {
  for (const cells of rows) {
    expect(cells).toHaveLength(7);
    expect(cells.slice(1, -1).filter((cell) => cell === '')).toEqual([]);
  }
  expect(Object.keys(ERROR_TEXTS).sort()).toEqual(Object.keys(ERROR_CODES).sort());
});

test('matches the committed file, which `pnpm --filter @cpg/platform errors` writes', () => {
  expect(readFileSync(CATALOGUE_PATH, 'utf8')).toBe(renderErrorCatalogue());
});
