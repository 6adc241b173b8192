import { createLogger } from '@cpg/platform';
import { lastQueries } from './last-queries.ts';
import type { OutsideProvider } from './provider.ts';

const CONTEXT = { actor: 'service:orders', requestId: 'req_test', correlationId: 'req_test' };
const log = createLogger({ name: 'payments', level: 'silent' });
const REF = [{ provider: 'acme', reference: 'REF' }];

/** Queries that each wait until the test answers them. */
const queries = (options: { answerWithinMs?: number } = {}) => {
  const clock = { ms: 0 };
  const running: { reference: string; answer: () => void; fail: () => void }[] = [];
  const asked: string[] = [];
  const ask = lastQueries({
    providers: [{ name: 'acme' } as OutsideProvider, { name: 'other' } as OutsideProvider],
    query: (_provider, reference) =>
      new Promise((answer, fail) => {
        asked.push(reference);
        running.push({ reference, answer, fail: () => fail(new Error('unavailable')) });
      }),
    log,
    nowMs: () => clock.ms,
    ...options,
  });
  return { clock, asked, running, ask: (references = REF) => ask(references, CONTEXT) };
};

test('waits for a provider until it has answered, and asks again at the next deadline', async () => {
  const { ask, running, asked } = queries();
  for (let deadline = 1; deadline <= 2; deadline += 1) {
    const answer = ask();
    running.pop()!.answer();
    expect(await answer).toEqual([]);
    expect(asked).toHaveLength(deadline);
  }
});

test('an answer that comes after the caller has gone is found by the next call, once', async () => {
  const { ask, running, asked } = queries({ answerWithinMs: 1 });
  expect(await ask()).toEqual(['acme']);
  expect(await ask()).toEqual(['acme']);
  expect(asked).toHaveLength(1);
  running.pop()!.answer();
  await new Promise((done) => setImmediate(done));
  expect(await ask()).toEqual([]);
  expect(asked).toHaveLength(1);
  expect(await ask()).toEqual(['acme']);
  expect(asked).toHaveLength(2);
});

test('a provider that failed is left alone for 15 seconds, and holds up no other one', async () => {
  const { ask, running, asked, clock } = queries();
  const failing = ask();
  running.pop()!.fail();
  expect(await failing).toEqual(['acme']);
  clock.ms = 14_999;
  expect(await ask()).toEqual(['acme']);
  expect(asked).toHaveLength(1);
  const other = ask([...REF, { provider: 'other', reference: 'X' }]);
  running.pop()!.answer();
  expect(await other).toEqual(['acme']);
  clock.ms = 15_000;
  const again = ask();
  running.pop()!.answer();
  expect(await again).toEqual([]);
});

test('asks a provider for at most eight references at once', async () => {
  const { ask, asked } = queries({ answerWithinMs: 1 });
  const references = Array.from({ length: 9 }, (_, n) => ({ provider: 'acme', reference: `REF${n}` }));
  await Promise.all(references.map((reference) => ask([reference])));
  expect(asked).toHaveLength(8);
});

test('nothing is asked of a provider that is not set up', async () => {
  const { ask, asked } = queries();
  expect(await ask([{ provider: 'gone', reference: 'REF' }])).toEqual([]);
  expect(asked).toEqual([]);
});
