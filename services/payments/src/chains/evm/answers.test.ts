import { z } from 'zod';
import { checkedAnswer, listOf, type RpcNode } from '../nodes/json-rpc.ts';
import { Bytes, Header, Log, Receipt, Transaction } from './block.ts';
import { callsByCallTracer, callsByTraceBlock, type FetchInternalCalls } from './internal-calls.ts';

const node = { number: 2 } as RpcNode;
const hash = `0x${'a1'.repeat(32)}`;
const address = `0x${'5a'.repeat(20)}`;
const transaction = { hash, blockHash: hash, to: address, from: address, value: '0xde' };
const header = { hash, parentHash: hash, number: '0x10', timestamp: '0x1fffffffffffff' };
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
const read = (form: z.ZodType, answer: unknown) => checkedAnswer(node, 'any', form, answer);

test('reads numbers, and addresses in lower case', () => {
  expect(read(Transaction, { ...transaction, from: `0x${'5A'.repeat(20)}`, to: null })).toEqual({
    ...transaction,
    to: null,
    value: 0xden,
  });
  expect(read(Header, header)).toEqual({ ...header, number: 16, timestamp: Number.MAX_SAFE_INTEGER });
  expect(read(Receipt, receipt)).toMatchObject({ status: '0x1', logs: [{ logIndex: 0 }, { logIndex: 0 }] });
});

test.each<[string, z.ZodType, unknown]>([
  ['the answer', Transaction, null],
  ['the answer', Header, []],
  ['hash', Transaction, { ...transaction, hash: hash.toUpperCase() }],
  ['hash', Transaction, { ...transaction, hash: `${hash}\n` }],
  ['to', Transaction, { ...transaction, to: ` ${address}` }],
  ['from', Transaction, { ...transaction, from: undefined }],
  ['value', Transaction, { ...transaction, value: 222 }],
  ['value', Transaction, { ...transaction, value: '0x' }],
  ['value', Transaction, { ...transaction, value: `0x${'f'.repeat(65)}` }],
  ['number', Header, { ...header, number: '0x20000000000000' }],
  ['timestamp', Header, { ...header, timestamp: '1' }],
  ['topics', Log, { ...log, topics: Array(5).fill(hash) }],
  ['topics.1', Log, { ...log, topics: [hash, '0x0'] }],
  ['removed', Log, { ...log, removed: true }],
  ['status', Receipt, { ...receipt, status: '0x2' }],
  ['logs.1.logIndex', Receipt, { ...receipt, logs: [log, { ...log, logIndex: -1 }] }],
  ['cumulativeGasUsed', Receipt, { ...receipt, cumulativeGasUsed: '0xF' }],
  ['depositNonce', Receipt, { ...receipt, depositNonce: 1 }],
])('names the node and %s, which is invalid', (path, form, answer) => {
  expect(() => read(form, answer)).toThrow(
    expect.objectContaining({ fault: 'malformed', message: `node 2, any: ${path} is invalid` }),
  );
});

test('reads long bytes', () => {
  const bytes = `0x${'a1'.repeat(6_000_000)}`;
  expect(read(Bytes, bytes) === bytes).toBe(true);
  expect(() => read(Bytes, `${bytes}0`)).toThrow('the answer is invalid');
  expect(() => read(Bytes, `${bytes}0g`)).toThrow('the answer is invalid');
});

test.each<[string, z.ZodType, (items: unknown[]) => unknown]>([
  ['0', listOf(z.int()), (items) => items],
  ['logs.0', Receipt, (logs) => ({ ...receipt, logs })],
  ['topics', Log, (topics) => ({ ...log, topics })],
])('reports one invalid item of a long list: %s', (path, form, answer) => {
  const { error } = form.safeParse(answer(Array(1_000).fill('x')));
  expect(error!.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});

const block = {
  header: { hash, parentHash: hash, number: 1, timestamp: 1 },
  transactions: [{ ...transaction, value: 0n }],
};
const trace = {
  type: 'call',
  action: { to: address, value: '0x1' },
  traceAddress: [0],
  transactionHash: hash,
  blockHash: hash,
};
const frame = { type: 'CALL', to: address, value: '0x1', calls: [] };
const traced = (...calls: unknown[]) => [{ txHash: hash, result: { ...frame, calls } }];

test.each<[string, FetchInternalCalls, unknown]>([
  ['trace_block: the answer', callsByTraceBlock, {}],
  ['trace_block: 1.action', callsByTraceBlock, [trace, { ...trace, action: undefined }]],
  ['trace_block: 0.action.value', callsByTraceBlock, [{ ...trace, action: { value: 1 } }]],
  ['trace_block: 0.result.address', callsByTraceBlock, [{ ...trace, result: { address: '0x1' } }]],
  ['trace_block: 0.traceAddress.1', callsByTraceBlock, [{ ...trace, traceAddress: [0, '1'] }]],
  ['debug_traceBlockByHash: 0.txHash', callsByCallTracer, [{ txHash: 1, result: frame }]],
  ['debug_traceBlockByHash: to', callsByCallTracer, traced(frame, { ...frame, to: 'x' })],
  ['debug_traceBlockByHash: value', callsByCallTracer, traced({ ...frame, calls: [{ ...frame, value: 1 }] })],
])('names the node and %s, which is invalid in a trace', async (path, calls, answer) => {
  await expect(calls({ ...node, call: async () => answer }, block)).rejects.toMatchObject({
    fault: 'malformed',
    message: `node 2, ${path} is invalid`,
  });
});

test('reads calls that nest as deep as a transaction can', async () => {
  let deepest: object = frame;
  for (let depth = 0; depth < 1_024; depth += 1) deepest = { ...frame, value: '0x0', calls: [deepest] };
  const found = await callsByCallTracer({ ...node, call: async () => traced(deepest) }, block);
  expect(found.get(hash)).toEqual([{ from: '', to: address, value: 1n }]);
});
