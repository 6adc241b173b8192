import { randomBytes } from 'node:crypto';
import {
  callData,
  type ChainNode,
  deployTestTokens,
  hexOf,
  PAYER,
  sendFrom,
  startAnvil,
  TEST_TOKENS,
} from '@cpg/local-chain';
import type { Call } from './fetch-only.ts';
import type { Recorded } from './recorded-node.ts';

/** The calls that fetch everything about one block. */
export const evmCalls = ({ hash, height }: { hash: string; height: number }): Call[] => [
  ['eth_getBlockByHash', [hash, true]],
  ['eth_getBlockReceipts', [hash]],
  ['trace_block', [hexOf(BigInt(height))]],
];

/** Mines blocks of transfers on anvil and records its answers. `first` is the lowest height. */
export const recordEvmBlocks = async (
  blocks: number,
  transfers: number,
): Promise<{ first: number; answers: Recorded[] }> => {
  const anvil = await startAnvil();
  try {
    await deployTestTokens(anvil.call);
    const record = async (...[method, params]: Call): Promise<Recorded> => ({
      call: [method, params],
      result: await anvil.call(method, ...params),
    });
    const answers = [await record('eth_chainId', [])];
    for (const { contract } of TEST_TOKENS) {
      answers.push(await record('eth_getCode', [contract, 'latest']));
      answers.push(await record('eth_call', [{ to: contract, data: callData('TestToken', 'decimals()') }, 'latest']));
    }
    const first = Number(await anvil.call<string>('eth_blockNumber')) + 1;
    for (let block = 0; block < blocks; block += 1) {
      await mineTransfers(anvil.call, transfers);
      const byNumber = await record('eth_getBlockByNumber', ['latest', false]);
      const { hash, number } = byNumber.result as { hash: string; number: string };
      answers.push(byNumber, await record('eth_getBlockByNumber', [number, false]));
      for (const [method, params] of evmCalls({ hash, height: Number(number) }))
        answers.push(await record(method, params));
    }
    return { first, answers };
  } finally {
    await anvil.stop();
  }
};

/** Mines one block of transfers to random addresses: the coin and a token in turns. */
const mineTransfers = async (call: ChainNode['call'], transfers: number): Promise<void> => {
  await call('evm_setAutomine', false);
  const nonce = Number(await call<string>('eth_getTransactionCount', PAYER, 'latest'));
  for (let index = 0; index < transfers; index += 1) {
    const payment = index % 2 === 0 ? coins(randomAddress()) : tokens(randomAddress());
    await sendFrom(call, PAYER, { ...payment, nonce: `0x${(nonce + index).toString(16)}` });
  }
  await call('evm_mine');
};

const randomAddress = (): string => `0x${randomBytes(20).toString('hex')}`;
const coins = (to: string) => ({ to, value: hexOf(1n), gas: hexOf(21_000n) });
const tokens = (address: string) => ({
  to: TEST_TOKENS[0].contract,
  data: callData('TestToken', 'transfer(address,uint256)', { address }, 1n),
  gas: hexOf(100_000n),
});
