import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureMemory } from 'node:vm';
import { untilAborted, withTimeout, withTimeoutSignal } from './retry.ts';

// With `--expose-gc`, V8 would reject the compiled code that jest keeps for later test files.
const collectGarbage = () => measureMemory({ execution: 'eager' });

const running = () => new AbortController().signal;

test('withTimeout rejects after the time, or as the work does', async () => {
  expect(await withTimeout(1_000, Promise.resolve('done'))).toBe('done');
  await expect(withTimeout(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await expect(withTimeout(10, sleep(1_000))).rejects.toThrow('timed out after 10 ms');
});

test('withTimeoutSignal resolves or rejects as the work does', async () => {
  expect(await withTimeoutSignal(1_000, running(), async ({ aborted }) => aborted)).toBe(false);
  await expect(withTimeoutSignal(1_000, running(), () => Promise.reject(new Error('failed')))).rejects.toThrow(
    'failed',
  );
});

test('withTimeoutSignal aborts the work after the time', async () => {
  const reason = await withTimeoutSignal(10, running(), async (signal) => {
    await untilAborted(signal);
    return signal.reason;
  });
  expect(reason).toMatchObject({ name: 'TimeoutError', message: 'timed out after 10 ms' });
});

test('withTimeoutSignal aborts the work with the outer signal', async () => {
  const outer = new AbortController();
  const aborted = withTimeoutSignal(60_000, outer.signal, (signal) => once(process, 'never', { signal }));
  outer.abort(new Error('stopping'));
  await expect(aborted).rejects.toMatchObject({ cause: new Error('stopping') });
});

test('withTimeoutSignal aborts the work although garbage was collected meanwhile', async () => {
  const ended = withTimeoutSignal(100, running(), untilAborted);
  await sleep(10);
  await collectGarbage();
  await ended;
});
