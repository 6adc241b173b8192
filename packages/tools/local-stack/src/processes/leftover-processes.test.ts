import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopLeftoverProcesses, dataDirArgument } from './leftover-processes.ts';

let folder: string;
const children: ReturnType<typeof spawn>[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'leftover processes '))));
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

test('stops processes of a killed launcher, but no others with a recorded id', async () => {
  const ours = sleeper(dataDirArgument(folder));
  const another = sleeper(dataDirArgument(`${folder}2`));
  const unrelated = sleeper();
  record({ orders: ours.pid, payments: another.pid, gateway: unrelated.pid, kafka: 2 ** 22 });
  await Promise.all([ours, another, unrelated].map((child) => once(child, 'spawn')));
  const ended = once(ours, 'exit');
  expect(await stopLeftoverProcesses(folder)).toEqual(['orders']);
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect([another.exitCode ?? another.signalCode, unrelated.exitCode ?? unrelated.signalCode]).toEqual([null, null]);
});

test('finds nothing in a folder without records', async () => expect(await stopLeftoverProcesses(folder)).toEqual([]));

test('ignores a broken record', async () => {
  writeFileSync(join(folder, 'processes.json'), '{"orders": ');
  expect(await stopLeftoverProcesses(folder)).toEqual([]);
});
