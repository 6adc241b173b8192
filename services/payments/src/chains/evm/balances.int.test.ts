import {
  anvil,
  blockOf,
  ETH,
  inOneBlock,
  open,
  OTHER,
  pay,
  proxy,
  STRANGER,
  transfersWith,
  WATCHED,
  watched,
} from '../../testing/jest-evm-source.ts';
import type { NodesOptions } from '../nodes.ts';

test('finds the growth of balances where a node has no traces', async () => {
  const [, direct] = await inOneBlock(async () => [
    await pay.internal({ to: WATCHED, units: 5n }, { to: STRANGER, units: 6n }),
    await pay.native(WATCHED, 1n),
    await pay.internal({ to: OTHER, units: 2n }, { to: OTHER, units: 1n }),
  ]);
  const { height } = await blockOf(direct!);
  const lacking = /^(debug_|trace_)/;
  proxy.falsify = ({ method }) => (lacking.test(method) ? { error: { code: -32_601, message: 'no' } } : undefined);
  expect(await transfersWith(direct!, open({ urls: [proxy.url] }))).toEqual([
    { id: `${direct}:native`, txHash: direct, address: WATCHED, asset: ETH, units: 1n },
    { id: `${WATCHED}:surplus-${height}-5`, txHash: null, address: WATCHED, asset: ETH, units: 5n },
    { id: `${OTHER}:surplus-${height}-3`, txHash: null, address: OTHER, asset: ETH, units: 3n },
  ]);
  expect(await transfersWith(direct!, open({ urls: [proxy.url, anvil.url] }))).toEqual(await transfersWith(direct!));
});

describe('of a block without traces', () => {
  let hash: string;
  const isTrace = ({ method }: { method: string }) => /^(debug_|trace_)/.test(method);
  const refused = { error: { code: -32_000, message: 'missing trie node' } };
  /** A node with traces of its newest block alone, which the probe asks for. */
  const openPruned = async (also: (method: string) => boolean = () => false, options: Partial<NodesOptions> = {}) => {
    const source = open({ urls: [proxy.url], ...options });
    await source.block(await source.tip(), watched);
    proxy.falsify = (question) => (isTrace(question) || also(question.method) ? refused : undefined);
    return source;
  };
  beforeAll(async () => void (hash = await pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 6n })));

  test('reads the balances', async () => {
    const { height } = await blockOf(hash);
    expect((await transfersWith(hash, await openPruned())).map(({ id }) => id)).toEqual([
      `${WATCHED}:surplus-${height}-5`,
      `${OTHER}:surplus-${height}-6`,
    ]);
  });

  test('asks another node where the state is missing too, and says so where there is none', async () => {
    const isState = (method: string) => method === 'eth_call';
    const faults: string[] = [];
    const source = await openPruned(isState, { onFault: (fault) => faults.push(fault) });
    await expect(transfersWith(hash, source)).rejects.toMatchObject({
      fault: 'no_state',
      message: expect.stringMatching(/^node 1 has neither traces nor the state of block \d+, .*missing trie node\)$/),
    });
    expect(faults).toEqual(['no_state']);
    proxy.falsify = () => undefined;
    const two = await openPruned(isState, { urls: [proxy.url, anvil.url] });
    expect((await transfersWith(hash, two)).map(({ id }) => id)).toEqual([`${hash}:native1`, `${hash}:native2`]);
    proxy.falsify = () => undefined;
    const unreachable = await openPruned(isState, { urls: [proxy.url, 'http://127.0.0.1:1'] });
    await expect(transfersWith(hash, unreachable)).rejects.toMatchObject({ fault: 'unreachable' });
  });

  test('looks for no coins of contracts where no address is watched', async () => {
    const source = await openPruned((method) => method === 'eth_call');
    expect((await source.block(await blockOf(hash), new Set())).transfers).toEqual([]);
  });
});

test('finds the growth of the balance of an address that pays in the same block', async () => {
  await anvil.call('anvil_setBalance', OTHER, '0xde0b6b3a7640000');
  await anvil.call('anvil_impersonateAccount', OTHER);
  const send = (to: string, value: string) =>
    anvil.call<string>('eth_sendTransaction', { from: OTHER, to, value, gas: '0x493e0' });
  const [hash] = await inOneBlock(async () => [
    await pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 7n }),
    await send(STRANGER, '0x64'),
    await send(OTHER, '0x3'),
  ]);
  const { height } = await blockOf(hash!);
  for (const lacking of [/^(debug_|trace_)/, /^(debug_|trace_|eth_getBlockReceipts)/]) {
    proxy.falsify = ({ method }) => (lacking.test(method) ? { error: { code: -32_601, message: 'no' } } : undefined);
    expect((await transfersWith(hash!, open({ urls: [proxy.url] }))).map(({ id }) => id)).toEqual([
      expect.stringMatching(/:native$/),
      `${WATCHED}:surplus-${height}-5`,
      `${OTHER}:surplus-${height}-7`,
    ]);
  }
});
