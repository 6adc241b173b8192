import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goneList } from './gone.ts';

const NOW = new Date('2026-01-31T12:00:00.123Z');
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'gone-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const row = (id: string, where = 'orders.orders') => ({ kind: 'row', where, id, content: { n: 1 } }) as const;

test('a list of nothing makes no file', () => {
  const list = goneList(folder, 'orders', NOW);
  expect([list.total(), list.of('orders.orders'), list.close()]).toEqual([0, { count: 0, ids: [] }, null]);
  expect(readdirSync(folder)).toEqual([]);
});

test('what is gone is counted by place, and is in a file that only its owner reads', () => {
  const list = goneList(folder, 'orders', NOW);
  for (const id of ['a', 'b']) list.add(row(id));
  list.add(row('c', 'orders.notes'));
  expect(list.total()).toBe(3);
  expect([list.of('orders.orders'), list.of('orders.notes')]).toEqual([
    { count: 2, ids: ['a', 'b'] },
    { count: 1, ids: ['c'] },
  ]);
  const path = list.close()!;
  expect(path).toBe(join(folder, 'store-reconcile-orders-20260131T120000123Z.ndjson'));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([row('a'), row('b'), row('c', 'orders.notes')]);
  expect(list.close()).toBeNull();
});

test('names ten of each place', () => {
  const list = goneList(folder, 'orders', NOW);
  for (let n = 0; n < 12; n += 1) list.add(row(String(n)));
  list.close();
  expect(list.of('orders.orders')).toEqual({ count: 12, ids: ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] });
});

test('never writes over an earlier list', () => {
  const first = goneList(folder, 'orders', NOW);
  first.add(row('a'));
  first.close();
  expect(() => goneList(folder, 'orders', NOW).add(row('b'))).toThrow('EEXIST');
});
