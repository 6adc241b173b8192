import fc from 'fast-check';
import { z } from 'zod';
import type { RpcNode } from '../json-rpc.ts';
import { checkedAnswer, readHeader, readLog, readReceipt, readTransaction } from './answers.ts';
import type { Read } from './fields.ts';
import { callsByCallTracer, callsByTraceBlock } from './internal-calls.ts';

// The forms of answers as schemas, which are too slow for each transaction of each block.
const HexDigits = z.string().regex(/^0x[0-9a-f]{1,64}$/);
const Quantity = HexDigits.transform(BigInt);
const SmallQuantity = Quantity.refine((value) => value <= Number.MAX_SAFE_INTEGER).transform(Number);
const Hash = z.string().regex(/^0x[0-9a-f]{64}$/);
const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
const Transaction = z.object({
  hash: Hash,
  blockHash: z.string(),
  to: Address.nullish(),
  from: Address,
  value: Quantity,
});
const Header = z.object({ hash: Hash, parentHash: Hash, number: SmallQuantity, timestamp: SmallQuantity });
const Log = z.object({
  address: Address,
  topics: z.array(Hash).max(4),
  data: z.string(),
  logIndex: SmallQuantity,
  transactionHash: z.string(),
  blockHash: z.string(),
  removed: z.literal(false).optional(),
});
const Receipt = z.object({
  transactionHash: z.string(),
  blockHash: z.string(),
  status: z.enum(['0x0', '0x1']),
  logs: z.array(Log),
  type: HexDigits.nullish(),
  cumulativeGasUsed: HexDigits,
  logsBloom: z.string().nullish(),
  depositNonce: HexDigits.nullish(),
  depositReceiptVersion: HexDigits.nullish(),
});
const Trace = z.object({
  type: z.string(),
  action: z.object({
    callType: z.string().optional(),
    from: Address.optional(),
    to: Address.optional(),
    value: Quantity.optional(),
    address: Address.optional(),
    refundAddress: Address.optional(),
    balance: Quantity.optional(),
  }),
  result: z.object({ address: Address.optional() }).nullish(),
  error: z.string().optional(),
  traceAddress: z.array(z.int()),
  transactionHash: z.string().nullish(),
  blockHash: z.string(),
});
const Frame = z.object({
  type: z.string(),
  to: Address.nullish(),
  value: Quantity.nullish(),
  error: z.string().nullish(),
  calls: z.array(z.unknown()).nullish(),
});
const CallTrace = z.object({
  txHash: z.string().optional(),
  result: z.unknown().optional(),
  error: z.string().optional(),
});

const hash = `0x${'a1'.repeat(32)}`;
const address = `0x${'5a'.repeat(20)}`;
const log = {
  address,
  topics: [hash, hash],
  data: '0x01',
  logIndex: '0x0',
  transactionHash: hash,
  blockHash: hash,
  removed: false,
};
const receipt = {
  transactionHash: hash,
  blockHash: hash,
  status: '0x1',
  logs: [log, log],
  type: '0x7e',
  cumulativeGasUsed: '0x5208',
  logsBloom: '0x00',
  depositNonce: '0x1',
  depositReceiptVersion: null,
};
const trace = {
  type: 'call',
  action: { callType: 'call', to: address, value: '0x1', refundAddress: address, balance: '0x0' },
  result: { address },
  error: 'Reverted',
  traceAddress: [0, 1],
  transactionHash: hash,
  blockHash: hash,
};
const frame = { type: 'CALL', to: address, value: '0x1', error: '', calls: [{ type: 'CALL' }] };

type Path = readonly (string | number)[];
const pathsIn = (value: unknown, path: Path = []): Path[] =>
  typeof value === 'object' && value !== null
    ? [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))]
    : [path];
const changedAt = (value: unknown, [key, ...rest]: Path, to: unknown): unknown => {
  if (key === undefined) return to;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = changedAt(copy[key], rest, to);
  return copy;
};

const other = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, true, false, 0, -1, 1.5, 2 ** 53, '', '0x', '0x0', '0x1', '0x2', '1', 'ff'),
  fc.constantFrom<unknown>([], {}, [hash], Array(4).fill(hash), Array(5).fill(hash), [null], [{}], { address: 1 }),
  fc.constantFrom(hash.toUpperCase(), `${hash}\n`, `${hash}0`, ` ${address}`, `${address}\n`, address.slice(1)),
  fc.constantFrom('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0XFF', '0x0f', '0xF', `0x${'f'.repeat(65)}`),
  fc.constantFrom('0x1fffffffffffff', '0x20000000000000', '0x20000000000001', `0x${'f'.repeat(64)}`),
  fc.jsonValue(),
);
/** The answer with some of its values changed. */
const changed = (answer: unknown) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsIn(answer)), other), { minLength: 0, maxLength: 3 })
    .map((changes) =>
      changes.reduce<unknown>(
        (value, [path, to]) =>
          pathsIn(value).some((known) => `${known}` === `${path}`) ? changedAt(value, path, to) : value,
        answer,
      ),
    );

const node = { number: 1 } as RpcNode;
/** What a schema says: a value, or the error for its first issue. */
const bySchema = (schema: z.ZodType, answer: unknown) => {
  const { success, data, error } = schema.safeParse(answer);
  return success ? { data } : { message: `node 1, any: ${error.issues[0]!.path.join('.') || 'the answer'} is invalid` };
};
const byReader = (read: Read<unknown>, answer: unknown) => {
  try {
    return { data: checkedAnswer(node, 'any', read, answer) };
  } catch (error) {
    return { message: (error as Error).message };
  }
};
const withoutUndefined = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutUndefined)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([key, inner]) => inner !== undefined && key !== 'removed')
            .map(([key, inner]) => [key, withoutUndefined(inner)]),
        )
      : value;

test.each<[string, unknown, z.ZodType, Read<unknown>]>([
  ['transactions', { hash, blockHash: hash, to: address, from: address, value: '0xde' }, Transaction, readTransaction],
  ['headers', { hash, parentHash: hash, number: '0x10', timestamp: '0x6b061a43' }, Header, readHeader],
  ['logs', log, Log, readLog],
  ['receipts', receipt, Receipt, readReceipt],
])('reads %s as their schema says, with the same errors', (_, answer, schema, read) => {
  expect(bySchema(schema, answer)).toHaveProperty('data');
  fc.assert(
    fc.property(changed(answer), (value) => {
      expect(withoutUndefined(byReader(read, value))).toEqual(withoutUndefined(bySchema(schema, value)));
    }),
    { numRuns: 1_000 },
  );
});

test.each<[string, unknown, z.ZodType, typeof callsByCallTracer]>([
  ['trace_block', [trace, trace], z.array(Trace), callsByTraceBlock],
  ['debug_traceBlockByHash', [{ txHash: hash, result: {} }], z.array(CallTrace), callsByCallTracer],
])('refuses what the schema of %s refuses, with the same errors', async (method, answer, schema, calls) => {
  const block = { header: { hash, parentHash: hash, number: 1, timestamp: 1 }, transactions: [] };
  await fc.assert(
    fc.asyncProperty(changed(answer), async (value) => {
      const read = calls({ ...node, call: async () => value }, block);
      const { message } = bySchema(schema, value);
      const error = await read.then(
        () => null,
        (thrown: Error) => thrown,
      );
      const refused = error && 'fault' in error && error.fault === 'malformed' ? error.message : undefined;
      expect(refused).toEqual(message?.replace('any', method));
    }),
    { numRuns: 1_000 },
  );
});

test('refuses what the schema of a frame refuses, with the same errors', async () => {
  const block = {
    header: { hash, parentHash: hash, number: 1, timestamp: 1 },
    transactions: [{ hash, blockHash: hash, to: address, from: address, value: 0n }],
  };
  await fc.assert(
    fc.asyncProperty(changed({ ...frame, calls: [] }), async (value) => {
      const answer = [{ txHash: hash, result: { ...frame, calls: [value] } }];
      const { message } = bySchema(Frame, value);
      const error = await callsByCallTracer({ ...node, call: async () => answer }, block).then(
        () => null,
        (thrown: Error) => thrown,
      );
      if (message === undefined && !(value as z.infer<typeof Frame>).calls?.length) expect(error).toBeNull();
      if (message !== undefined) expect(error?.message).toBe(message.replace('any', 'debug_traceBlockByHash'));
    }),
    { numRuns: 1_000 },
  );
});
