import { transferOf } from '../testing/jest-chain-process.ts';
import type { Block, Transfer } from './chain-source.ts';
import { asSeenFirst, knownIds, surplusId } from './same-money.ts';
import { mined, type SeenTransfer, unmined } from './seen-transfer.ts';

const NOW = new Date('2026-01-31T12:00:00.000Z');
const ref = { height: 7, hash: '0x7' };
const call = (tx: string, position: number, units: bigint, address = 'address-a'): Transfer =>
  transferOf(tx, { id: `${tx}:native${position}`, address, units });
const surplus = (units: bigint, address = 'address-a'): Transfer =>
  transferOf('none', { id: surplusId(address, ref.height, units), txHash: null, address, units });
const block = (...transfers: Transfer[]): Block => ({ ref, parent: '0x6', time: NOW, transfers });
const seen = (transfer: Transfer): SeenTransfer => mined(transfer, { ref, time: NOW }, undefined, NOW);
const gone = (transfer: Transfer): SeenTransfer => unmined(seen(transfer), ref.height, NOW);

const direct = transferOf('b', { address: 'address-a' });
const calls = [call('a', 1, 5n), call('a', 2, 6n)];

test('keeps the id of a surplus when traces show its calls', () => {
  const read = block(direct, ...calls);
  expect(knownIds(read)).toEqual(['b:0', 'a:native1', 'a:native2', 'address-a:surplus-7-11']);
  expect(asSeenFirst(read, [seen(surplus(11n))], [])).toEqual([direct, surplus(11n)]);
});

test('keeps the ids of calls when a balance shows their sum', () => {
  const others = [gone(call('c', 1, 11n, 'address-c')), gone(call('d', 1, 4n))];
  expect(asSeenFirst(block(direct, surplus(11n)), [], [...others, ...calls.map(gone)])).toEqual([direct, ...calls]);
  const several = [...calls, call('d', 1, 4n)];
  expect(asSeenFirst(block(surplus(15n)), [], several.map(gone))).toEqual(several);
});

test('leaves money that was not seen before, or was seen the same way', () => {
  expect(asSeenFirst(block(...calls), [], [])).toEqual(calls);
  expect(asSeenFirst(block(...calls), calls.map(seen), [])).toEqual(calls);
  expect(asSeenFirst(block(surplus(11n)), [], [gone(calls[0]!)])).toEqual([surplus(11n)]);
  expect(asSeenFirst(block(surplus(11n)), [gone(surplus(11n))], calls.map(gone))).toEqual([surplus(11n)]);
});
