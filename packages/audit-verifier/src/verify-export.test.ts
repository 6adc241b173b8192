import { type AnyEvent, endOf, historyEntry, linkEvents, type Recorded } from '@cpg/event-sourcing';
import { checkpointText, newSigningKey, noteSigner } from '@cpg/transparency-log';
import fc from 'fast-check';
import { CheckpointError, openCheckpoint } from './checkpoint.ts';
import { merkleTree } from './merkle-tree.ts';
import { verifyExport, type VerifyOptions } from './verify-export.ts';

const signer = noteSigner(newSigningKey('pay.example'));
const AT = '2026-01-31T12:00:00.000Z';
const CONTEXT = { actor: 'key:test', requestId: 'req_1', correlationId: 'req_1' };

type RecordedEvent = Recorded<AnyEvent>;

const linked = (stream: string, ...events: { type: string; data: object }[]): RecordedEvent[] =>
  linkEvents(
    events.map(({ type, data }) => ({ type, data: { ...data, at: AT } })),
    stream,
    endOf(stream, null),
    CONTEXT,
    { causationId: 'cause' },
  ).map((event) => ({ ...event, recordedAt: new Date(AT) }));

const order = linked('order-1', ...[1, 2, 3].map((n) => ({ type: 'Counted', data: { n, amountMinor: '10' } })));
const payment = linked('payment-1', { type: 'Received', data: {} }, { type: 'Applied', data: { feeMinor: '1' } });
const deletedOrder = linked('order-2', { type: 'Created', data: {} }, { type: 'Deleted', data: {} });
const deletedPayment = linked('payment-2', { type: 'Received', data: {} });
const deletion = linked('deletion-2', { type: 'Deleted', data: { orderId: '2', paymentIds: ['2'] } });
const recordedBefore = [...order.slice(0, 2), ...deletedOrder, ...payment, ...deletedPayment, ...deletion];
const entryOf = ({ revision, stream, metadata }: RecordedEvent) => `${revision}@${stream} ${metadata.hash}`;

/** The events of a log that adds batches of events. */
const logOf = (...batches: RecordedEvent[][]): RecordedEvent[] => {
  const tree = merkleTree();
  const checkpoints = batches.map((batch) => {
    const entries = batch.map(entryOf);
    entries.forEach(tree.add);
    const root = Buffer.from(tree.root(), 'base64');
    const text = checkpointText({ origin: signer.name, size: tree.size(), root });
    return { type: 'CheckpointSigned', data: { size: tree.size(), entries, checkpoint: signer.sign(text) } };
  });
  return linked('transparency-log', ...checkpoints);
};
const checkpointIn = (log: readonly RecordedEvent[], index: number): string =>
  String(log[index]!.event.data.checkpoint);

const log = logOf(recordedBefore.slice(0, 5), recordedBefore.slice(5), order.slice(2));
const linesOf = (events: readonly RecordedEvent[]): string[] =>
  events.map((event) => JSON.stringify(historyEntry(event)));
const untouched = [...order, ...payment, ...deletion, ...log];
const verify = (lines: readonly string[], checkpoint = checkpointIn(log, 1), options: VerifyOptions = {}) =>
  verifyExport(lines, openCheckpoint(checkpoint, signer.verifierKey), options);

/** Events whose chain somebody computed again, with other content from some event on. */
const rewritten = (
  events: readonly RecordedEvent[],
  change: (data: Record<string, unknown>) => object,
): RecordedEvent[] => {
  const { stream } = events[0]!;
  return linked(
    stream,
    ...events.map(({ event }) => ({ type: event.type, data: change(event.data as Record<string, unknown>) })),
  );
};

test('finds nothing in an untouched export, against each checkpoint of its log', async () => {
  for (const index of [0, 1, 2]) {
    const nothing = { findings: [], events: 6, entries: 9, deleted: 3, notLogged: 0 };
    const deletedSince = index === 0 ? ['order-2'] : [];
    expect(await verify(linesOf(untouched), checkpointIn(log, index))).toEqual({ ...nothing, deletedSince });
  }
});

test('counts the events that the log does not have yet', async () => {
  const recent = linked('order-3', { type: 'Created', data: {} });
  expect(await verify(linesOf([...untouched, ...recent]))).toMatchObject({ findings: [], notLogged: 1 });
});

test.each<[what: string, events: RecordedEvent[], finding: RegExp]>([
  [
    'a changed amount',
    untouched.map((each) =>
      each === order[1] ? { ...each, event: { type: 'Counted', data: { n: 9, at: AT } } } : each,
    ),
    /^1@order-1 \(line 2\): its hash does not match its content$/,
  ],
  [
    'another actor',
    untouched.map((each) => (each === order[1] ? { ...each, metadata: { ...each.metadata, actor: 'key:x' } } : each)),
    /^1@order-1 \(line 2\): its hash does not match its content$/,
  ],
  [
    'a smaller amount in a chain that was computed again',
    [...order, ...rewritten(payment, (data) => ({ ...data, feeMinor: '0' })), ...deletion, ...log],
    /^0@payment-1 was changed: entry 4 of the log has another hash$/,
  ],
  [
    'the last event of a stream removed',
    untouched.filter((each) => each !== order[2]),
    /^2@order-1 was removed: entry 8/,
  ],
  ['an event in the middle removed', untouched.filter((each) => each !== order[1]), /event 1 before it is missing/],
  ['a stream removed', untouched.filter(({ stream }) => stream !== 'payment-1'), /^0@payment-1 was removed: entry 4/],
  ['the record of a deletion removed', [...order, ...payment, ...log], /^0@order-2 was removed: entry 2 of the log$/],
  [
    'a deletion that never was',
    [...untouched, ...linked('deletion-1', { type: 'Deleted', data: { orderId: '1', paymentIds: [] } })],
    /^order-1 is there, although its deletion was recorded/,
  ],
  [
    'an event added in the middle',
    [
      ...linked('order-1', ...[1, 7, 2, 3].map((n) => ({ type: 'Counted', data: { n } }))),
      ...payment,
      ...deletion,
      ...log,
    ],
    /^1@order-1 was changed: entry 1/,
  ],
  ['an event twice', [order[0]!, ...untouched], /^0@order-1 \(line 2\): it is there twice, or in the wrong place$/],
  ['events in another order', [order[1]!, order[0]!, ...untouched.slice(2)], /event 0 before it is missing/],
  [
    'the end of the log cut',
    [...order, ...payment, ...deletion, log[0]!],
    /has 5 entries, and the checkpoint is over 8/,
  ],
  ['no log', [...order, ...payment, ...deletion], /has 0 entries, and the checkpoint is over 8/],
  [
    'a log that was written again without an event',
    [
      ...order,
      ...payment.slice(0, 1),
      ...deletion,
      ...logOf(
        recordedBefore.filter((each) => each !== payment[1]),
        [order[2]!],
      ),
    ],
    /^the first 8 entries of the log are not those of the checkpoint: it was rewritten$/,
  ],
  [
    'a log whose entries are not those of its checkpoints',
    [
      ...order,
      ...payment,
      ...deletion,
      ...rewritten(log, (data) => ({ ...data, size: 1, checkpoint: checkpointIn(log, 0) })),
    ],
    /^1@transparency-log: its checkpoint is not the one of its entries$/,
  ],
  [
    'a log with an event twice',
    [...untouched.filter(({ stream }) => stream !== 'transparency-log'), ...logOf(recordedBefore, [order[1]!])],
    /^1@order-1: the log has it twice, or out of order \(entry 8\)$/,
  ],
])('names %s', async (_, events, finding) => {
  expect((await verify(linesOf(events))).findings).toContainEqual(expect.stringMatching(finding));
});

test('names a deletion record that the log does not have, and the streams that are gone by it', async () => {
  const forged = linked('deletion-1', { type: 'Deleted', data: { orderId: '1', paymentIds: ['1'] } });
  const { findings } = await verify(linesOf([...deletion, ...forged, ...log]));
  const gone = 'says that order-1, payment-1 were deleted';
  expect(findings).toEqual([expect.stringContaining(`0@deletion-1 is not in the log, and ${gone}`)]);
});

test('says from which checkpoint on a log was rewritten that the key has not signed', async () => {
  const another = noteSigner(newSigningKey('pay.example'));
  const entries = [...recordedBefore.slice(0, 5), order[2]!, ...recordedBefore.slice(6)].map(entryOf);
  const tree = merkleTree();
  entries.forEach(tree.add);
  const text = checkpointText({ origin: signer.name, size: 8, root: Buffer.from(tree.root(), 'base64') });
  const data = { entries: entries.slice(5), checkpoint: another.sign(text) };
  const forged = linked('transparency-log', log[0]!.event, { type: 'CheckpointSigned', data });
  const lines = linesOf([...order, ...payment, ...deletion, ...forged]);
  const { findings } = await verify(lines, checkpointIn(log, 1), { key: signer.verifierKey });
  expect(findings).toContainEqual(
    expect.stringMatching(/it was rewritten; .* not signed is 1@transparency-log with entries from 5 on$/),
  );
});

describe('with an earlier export', () => {
  const earlier = linesOf(untouched);
  const withEarlier = (events: readonly RecordedEvent[], index = 1) =>
    verify(linesOf(events), checkpointIn(log, index), { earlier });

  test('finds nothing in a later one that has more', async () => {
    const more = linked('order-3', { type: 'Created', data: {} });
    expect(await withEarlier([...untouched, ...more])).toMatchObject({ findings: [] });
    const deleted = linesOf([...untouched, ...deletedOrder, ...deletedPayment]);
    expect(await verify(linesOf(untouched), checkpointIn(log, 1), { earlier: deleted })).toMatchObject({
      findings: [],
    });
  });

  test('names an event that was recorded at another time', async () => {
    const changed = untouched.map((each) => (each === order[1] ? { ...each, recordedAt: new Date(0) } : each));
    expect((await verify(linesOf(changed))).findings).toEqual([]);
    expect((await withEarlier(changed)).findings).toEqual([`1@order-1 was recorded at ${AT} in the earlier export`]);
  });

  test('names the checkpoints after the kept one that were removed', async () => {
    const cut = untouched.filter((each) => each !== log[2]);
    expect((await verify(linesOf(cut))).findings).toEqual([]);
    expect((await withEarlier(cut)).findings).toEqual(['2@transparency-log was removed: the earlier export has it']);
  });

  test('names each event once, and what is no event', async () => {
    const { findings } = await verify(linesOf(untouched.slice(1)), checkpointIn(log, 1), {
      earlier: [...earlier, 'x'],
    });
    expect(findings.filter((finding) => finding.startsWith('0@order-1 '))).toHaveLength(1);
    expect(findings).toContain('line 10 of the earlier export is not a recorded event');
  });
});

test('finds each change of a logged line, wherever it is', async () => {
  const lines = linesOf(untouched);
  const change = fc.record({
    line: fc.nat({ max: lines.length - 1 }),
    how: fc.oneof(
      fc.constant(null),
      fc.constantFrom('id', 'stream', 'type', 'actor', 'request_id', 'salt', 'data', 'sequence', 'at', 'hash'),
    ),
    other: fc.nat({ max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ line, how, other }) => {
      const entry = JSON.parse(lines[line]!) as Record<string, unknown>;
      const value =
        how === 'data' ? { ...(entry.data as object), other } : how === 'sequence' ? 10 + other : `x${other}`;
      const changed = how === null ? [] : [JSON.stringify({ ...entry, [how]: value })];
      // The last events of the log are after the checkpoint: without them, the log is one of then.
      fc.pre(!(how === null && line === lines.length - 1));
      const { findings } = await verify([...lines.slice(0, line), ...changed, ...lines.slice(line + 1)]);
      expect(findings).not.toEqual([]);
    }),
  );
});

test.each(['', 'x', '{}', 'null', '[]', '{"stream":"order-1","sequence":0}'])(
  'says that "%s" is not a recorded event',
  async (line) => {
    expect((await verify([...linesOf(untouched), line])).findings).toEqual(['line 10 is not a recorded event']);
  },
);

test.each([
  ['no signature', 'pay.example\n1\nAA==\n', signer.verifierKey],
  ['the signature of another key', checkpointIn(log, 1), noteSigner(newSigningKey('pay.example')).verifierKey],
  ['another size', checkpointIn(log, 1).replace('\n8\n', '\n7\n'), signer.verifierKey],
  ['a text that is no checkpoint', signer.sign('pay.example\n'), signer.verifierKey],
  ['a key that is none', checkpointIn(log, 1), 'pay.example'],
])('refuses a checkpoint with %s', (_, checkpoint, key) => {
  expect(() => openCheckpoint(checkpoint, key)).toThrow(CheckpointError);
});

test('the hash of an event is the one that is recorded, whatever the data', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const event = { type: 'Any', data: { value: JSON.parse(JSON.stringify(value)) as unknown, at: AT } };
      const [recorded] = linked('order-9', event);
      const { findings } = await verify([...linesOf(untouched), ...linesOf([recorded!])]);
      expect(findings).toEqual([]);
    }),
  );
});
