import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endLeftovers, markOf } from './leftovers.ts';

let folder: string;
const children: ReturnType<typeof spawn>[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'left overs '))));
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const sleeper = (...args: string[]) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...args], { stdio: 'ignore' });
  children.push(child);
  return child;
};
const record = (pids: Record<string, number | undefined>) =>
  writeFileSync(join(folder, 'processes.json'), JSON.stringify(pids));

test('what a killed launcher left is ended, what merely has a recorded id is not', async () => {
  const ours = sleeper(markOf(folder));
  const another = sleeper(markOf(`${folder}2`));
  const stranger = sleeper();
  record({ orders: ours.pid, payments: another.pid, gateway: stranger.pid, kafka: 2 ** 22 });
  await Promise.all([ours, another, stranger].map((child) => once(child, 'spawn')));
  const ended = once(ours, 'exit');
  expect(await endLeftovers(folder)).toEqual(['orders']);
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect([another.exitCode ?? another.signalCode, stranger.exitCode ?? stranger.signalCode]).toEqual([null, null]);
});

test('a folder without records has nothing left over', async () => expect(await endLeftovers(folder)).toEqual([]));

test('a broken record is no record', async () => {
  writeFileSync(join(folder, 'processes.json'), '{"orders": ');
  expect(await endLeftovers(folder)).toEqual([]);
});
