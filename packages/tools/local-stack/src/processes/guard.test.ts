import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { transformSync } from '@swc/core';

const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

const run = (...args: string[]): ChildProcess => {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
};

const sleeper = () => run('-e', 'setInterval(() => {}, 1000)');

/** Starts a process that starts a guard, as the launcher does. */
const launcher = (watched: ChildProcess[][], then: string) => {
  const source = readFileSync(new URL('./guard.ts', import.meta.url), 'utf8');
  const { code } = transformSync(source, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  const watch = watched.map((list) => `guard.watch(${JSON.stringify(list.map(({ pid }) => [pid]))});`);
  return run(
    '--input-type=module',
    '-e',
    `${code}\nconst guard = startGuard(); ${watch.join(' ')} process.stdout.write('up'); ${then}`,
  );
};

test('stops the processes named last when the launcher is killed', async () => {
  const [earlier, current] = [sleeper(), sleeper()];
  const killed = launcher([[earlier], [current]], 'setInterval(() => {}, 1000)');
  await once(killed.stdout!, 'data');
  const ended = once(current, 'exit');
  killed.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(earlier.signalCode).toBeNull();
});

test('stops one group after the other', async () => {
  const said: string[] = [];
  const slow = run(
    '-e',
    "process.on('SIGTERM', () => setTimeout(process.exit, 700)); process.stdout.write('up'); setInterval(() => {}, 1000)",
  );
  await once(slow.stdout!, 'data');
  const engine = sleeper();
  const ended = [slow, engine].map((child) =>
    once(child, 'exit').then(() => said.push(child === slow ? 'service' : 'engine')),
  );
  launcher([[slow, engine]], 'process.exit(1)');
  await Promise.all(ended);
  expect(said).toEqual(['service', 'engine']);
});

test('kills a process that ignores SIGTERM', async () => {
  const stubborn = run(
    '-e',
    "process.on('SIGTERM', () => {}); process.stdout.write('up'); setInterval(() => {}, 1000)",
  );
  await once(stubborn.stdout!, 'data');
  const ended = once(stubborn, 'exit');
  launcher([[stubborn]], 'process.exit(1)');
  expect(await ended).toEqual([null, 'SIGQUIT']);
});

test('does nothing when the launcher has stopped all processes', async () => {
  const other = sleeper();
  const finished = launcher([[other], []], '');
  expect(await once(finished, 'exit')).toEqual([0, null]);
  expect(other.signalCode).toBeNull();
});
