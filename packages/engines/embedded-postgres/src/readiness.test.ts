import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { waitUntilReady } from './readiness.ts';

// An ES module has no global `jest`.
const timers = (import.meta as unknown as { jest: typeof jest }).jest;

const PID = 4_711;
const NOW = new Date('2026-01-31T12:00:00.000Z');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'readiness-'));
  timers.useFakeTimers({ now: NOW });
});
afterEach(() => {
  timers.useRealTimers();
  rmSync(folder, { recursive: true });
});

const startServer = () => {
  const child = Object.assign(new EventEmitter(), { pid: PID, stderr: new PassThrough() });
  const reports: string[] = [];
  let outcome = 'waiting';
  void waitUntilReady(child as unknown as ChildProcess, {
    port: 5433,
    folder,
    onLine: () => {},
    onSlowStart: (message) => reports.push(message),
  }).then(
    () => (outcome = 'ready'),
    (error: Error) => (outcome = error.message),
  );
  return { child, reports, outcome: () => outcome };
};

const pidFile = (status: string, { pid = PID, startedAt = NOW.getTime() } = {}) =>
  writeFileSync(
    join(folder, 'postmaster.pid'),
    `${pid}\n${folder}\n${startedAt / 1000}\n5433\n\n127.0.0.1\n \n${status.padEnd(8)}\n`,
  );

test('waits for a recovery of any length while the server lives, and reports it every 30 s', async () => {
  const { child, reports, outcome } = startServer();
  child.stderr.write('LOG:  redo in progress, elapsed time: 20.00 s\n');
  pidFile('starting');
  await timers.advanceTimersByTimeAsync(95_000);
  expect(outcome()).toBe('waiting');
  expect(reports).toHaveLength(3);
  expect(reports[2]).toBe(
    'PostgreSQL is still starting after 90 s; its last log line: LOG:  redo in progress, elapsed time: 20.00 s',
  );
  child.stderr.write('LOG:  database system is ready to accept connections\n');
  await timers.advanceTimersByTimeAsync(0);
  expect(outcome()).toBe('ready');
  await timers.advanceTimersByTimeAsync(60_000);
  expect(reports).toHaveLength(3);
});

test('reads from postmaster.pid that the server is ready when its log goes elsewhere', async () => {
  const { outcome } = startServer();
  pidFile('starting');
  await timers.advanceTimersByTimeAsync(1_000);
  expect(outcome()).toBe('waiting');
  pidFile('ready');
  await timers.advanceTimersByTimeAsync(1_000);
  expect(outcome()).toBe('ready');
});

test.each([
  ['of another process', { pid: 12 }],
  ['of an earlier process with the same id', { startedAt: NOW.getTime() - 60_000 }],
])('ignores the postmaster.pid %s', async (_, owner) => {
  pidFile('ready', owner);
  const { outcome } = startServer();
  await timers.advanceTimersByTimeAsync(1_000);
  expect(outcome()).toBe('waiting');
});

test('fails when the process ends, with the reason that its log gives', async () => {
  const { child, outcome } = startServer();
  child.stderr.write('FATAL:  could not locate a valid checkpoint record\n');
  await timers.advanceTimersByTimeAsync(40_000);
  child.emit('exit', 1);
  await timers.advanceTimersByTimeAsync(0);
  expect(outcome()).toBe('PostgreSQL ended while starting: FATAL:  could not locate a valid checkpoint record');
});
