import { setTimeout as sleep } from 'node:timers/promises';
import { FatalStartError } from '../config/config.ts';
import { createApp } from '../http/app.ts';
import { createLogger } from '../log/logger.ts';
import { createStartGate, createStartupTasks, waitForStartGate } from './startup.ts';

const log = createLogger({ name: 'test', level: 'silent' });

const appBehind = (gate: ReturnType<typeof createStartGate>, arrived?: () => void) => {
  const app = createApp({ log });
  app.addHook('onRequest', async () => arrived?.());
  waitForStartGate(app, gate);
  app.get('/things', async () => 'things');
  return app;
};

test('a request waits until the gate is open', async () => {
  const gate = createStartGate();
  let arrived = () => {};
  const arrival = new Promise<void>((done) => (arrived = done));
  const app = appBehind(gate, arrived);
  const steps: string[] = [];
  const answer = app.inject('/things').then((response) => (steps.push('answered'), response));
  await arrival;
  // A request that does not wait is answered within a turn of the event loop.
  await sleep(0);
  steps.push('open');
  gate.open();
  expect((await answer).statusCode).toBe(200);
  expect(steps).toEqual(['open', 'answered']);
  expect((await app.inject('/things')).statusCode).toBe(200);
});

test('a request is answered 503 when the gate stays closed', async () => {
  const app = appBehind(createStartGate(10));
  expect(await app.inject('/things')).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
});

test('requests are refused at once, and the service is not ready, until the gate opens again', async () => {
  const gate = createStartGate(60_000);
  const app = appBehind(gate);
  await gate.check();
  gate.refuse(new Error('another event store'));
  expect((await app.inject('/things')).statusCode).toBe(503);
  await expect(gate.check()).rejects.toThrow('another event store');
  gate.open();
  await gate.check();
  expect((await app.inject('/things')).statusCode).toBe(200);
});

test('a request that already waits is told as well that an operator has to act', async () => {
  const gate = createStartGate(50);
  const waiting = gate.waitUntilOpen();
  gate.refuse(new Error('another event store'));
  await expect(waiting).rejects.toThrow('an operator has to repair the service');
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
