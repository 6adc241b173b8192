import {
  type Transaction,
  checkEnd,
  startProducer,
  transactionTimeouts,
  withPartitions,
  checkProducer,
} from './transaction.ts';

const start = { id: 'tx', timeoutMs: 1_000, freshId: 7 };
const fresh = startProducer(undefined, start);
const partition = (index: number) => ({ topicId: 1, topic: 't', index });
const codeOf = (act: () => unknown) => {
  try {
    act();
    return 0;
  } catch (error) {
    return (error as { code: number }).code;
  }
};

test('a new transactional id gets the fresh producer id; a known one keeps its id with the next epoch', () => {
  expect(fresh).toMatchObject({ producerId: 7, epoch: 0, state: 'empty' });
  expect(startProducer(fresh, { ...start, freshId: 8, timeoutMs: 5 })).toMatchObject({
    producerId: 7,
    epoch: 1,
    timeoutMs: 5,
  });
});

test('when the epochs are used up, a fresh producer id is used; one epoch always remains for fencing', () => {
  const last = { ...fresh, epoch: 32_765 };
  expect(startProducer(last, start).epoch).toBe(32_766);
  expect(startProducer(startProducer(last, start), { ...start, freshId: 9 })).toMatchObject({
    producerId: 9,
    epoch: 0,
  });
});

test('the first partition begins the transaction, and later ones are added once', () => {
  const begun = withPartitions(fresh, [partition(0)], 100);
  expect(begun).toMatchObject({ state: 'ongoing', startedAt: 100 });
  const both = withPartitions(begun, [partition(0), partition(1)], 200);
  expect(both).toMatchObject({ startedAt: 100, partitions: [partition(0), partition(1)] });
});

test('the next transaction starts without partitions', () => {
  const committed: Transaction = { ...fresh, state: 'committed', startedAt: 1, partitions: [partition(0)] };
  expect(withPartitions(committed, [partition(1)], 300)).toMatchObject({
    startedAt: 300,
    partitions: [partition(1)],
  });
});

test('an ongoing transaction can end either way, an ended one only repeat its end', () => {
  const states = ['empty', 'ongoing', 'committed', 'aborted'] as const;
  const outcomes = (commit: boolean) => states.map((state) => codeOf(() => checkEnd({ ...fresh, state }, commit)));
  expect(outcomes(true)).toEqual([48, 0, 0, 48]);
  expect(outcomes(false)).toEqual([48, 0, 48, 0]);
  expect(checkEnd({ ...fresh, state: 'ongoing' }, true)).toBe('end');
  expect(checkEnd({ ...fresh, state: 'committed' }, true)).toBe('repeat');
});

test('only an ongoing transaction times out, whatever time it has from a clock that was set since', () => {
  for (const startedAt of [100, -3_600_000, 3_600_000]) {
    const begun = withPartitions(fresh, [partition(0)], startedAt);
    const timedOut = transactionTimeouts();
    expect(timedOut([begun], 50)).toEqual([]);
    const grown = withPartitions(begun, [partition(1)], 200);
    expect(timedOut([grown], 1_050)).toEqual([]);
    expect(timedOut([grown], 1_051)).toMatchObject([{ id: 'tx', startedAt }]);
    expect(timedOut([{ ...begun, state: 'aborted' }], 1_052)).toEqual([]);
  }
});

test('each transaction of a producer has its own timeout', () => {
  const timedOut = transactionTimeouts();
  expect(timedOut([withPartitions(fresh, [partition(0)], 100)], 0)).toEqual([]);
  expect(timedOut([withPartitions(fresh, [partition(0)], 900)], 1_001)).toEqual([]);
  expect(timedOut([withPartitions({ ...fresh, epoch: 1 }, [partition(0)], 900)], 2_002)).toEqual([]);
});

test('only the current producer id and epoch are accepted', () => {
  const producer = { transactionalId: 'tx', producerId: 7, epoch: 0 };
  expect(checkProducer(fresh, producer)).toBe(fresh);
  expect(codeOf(() => checkProducer(undefined, producer))).toBe(49);
  expect(codeOf(() => checkProducer(fresh, { ...producer, producerId: 8 }))).toBe(49);
  expect(codeOf(() => checkProducer({ ...fresh, epoch: 1 }, producer))).toBe(47);
  expect(codeOf(() => checkProducer(fresh, { ...producer, epoch: 1 }))).toBe(47);
});
