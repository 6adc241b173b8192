import { startAnvil } from './anvil.ts';
import { callData } from './contracts.ts';
import { deployTestTokens, mintTestTokens, PAYER, TEST_TOKENS } from './test-tokens.ts';
import type { RpcCall } from './node-process.ts';
import { mined } from './transactions.ts';

const balanceOf = async (call: RpcCall, contract: string, owner: string) =>
  BigInt(
    await call<string>(
      'eth_call',
      { to: contract, data: callData('TestToken', 'balanceOf(address)', { address: owner }) },
      'latest',
    ),
  );

test('deploys the test tokens at their addresses, once', async () => {
  const { call, stop } = await startAnvil();
  await deployTestTokens(call);
  const blocks = await call('eth_blockNumber');
  await deployTestTokens(call);
  expect(await call('eth_blockNumber')).toBe(blocks);
  for (const { contract, decimals } of TEST_TOKENS) {
    const read = callData('TestToken', 'decimals()');
    expect(Number(await call('eth_call', { to: contract, data: read }, 'latest'))).toBe(decimals);
    expect(await balanceOf(call, contract, PAYER)).toBe(10n ** BigInt(12 + decimals));
  }
  const [{ contract }] = TEST_TOKENS;
  const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  expect(await mined(call, await mintTestTokens(call, contract, other, 5n))).toMatchObject({ status: '0x1' });
  expect(await balanceOf(call, contract, other)).toBe(5n);
  await stop();
});

test('continues a deployment that was interrupted after a few transactions', async () => {
  const { call, stop } = await startAnvil();
  let left = 3;
  const interrupted = async (method: string, ...params: unknown[]) => {
    if (method === 'eth_sendTransaction' && left-- === 0) throw new Error('interrupted');
    return call(method, ...params);
  };
  await expect(deployTestTokens(interrupted as RpcCall)).rejects.toThrow('interrupted');
  await deployTestTokens(call);
  expect(await balanceOf(call, TEST_TOKENS[3].contract, PAYER)).toBe(10n ** 30n);
  await stop();
});
