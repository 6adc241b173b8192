import { setTimeout as sleep } from 'node:timers/promises';
import { FatalStartError } from './fatal-start-error.ts';
import { createApp } from './http.ts';
import { createLogger } from './logger.ts';
import { createStartGate, refuseUntilOpen } from './start-gate.ts';
import { createStartupTasks } from './startup-tasks.ts';

const log = createLogger({ name: 'test', level: 'silent' });

test('requests are answered 503 until the gate is open', async () => {
  const gate = createStartGate();
  const app = createApp({ log });
  refuseUntilOpen(app, gate);
  app.get('/things', async () => 'things');
  expect(await app.inject('/things')).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  gate.open();
  expect((await app.inject('/things')).statusCode).toBe(200);
});

test('a startup task retries other errors, and ends the process on a fatal one', async () => {
  const fatal: FatalStartError[] = [];
  const tasks = createStartupTasks(log, (error) => void fatal.push(error));
  const errors: Error[] = [new Error('not yet'), new FatalStartError('wrong environment')];
  let isDone = false;
  const running = tasks.run('check', async () => {
    throw errors.shift()!;
  });
  await expect(running.finally(() => (isDone = true))).rejects.toThrow('wrong environment');
  await sleep(0);
  expect([isDone, fatal.map(({ message }) => message), errors]).toEqual([true, ['wrong environment'], []]);
  await expect(tasks.check()).rejects.toThrow('unfinished startup tasks: check');
});
