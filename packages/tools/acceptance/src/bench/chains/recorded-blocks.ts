import { fork } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
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

/** A method of JSON-RPC and its parameters. */
export type Call = readonly [string, readonly unknown[]];

/** An answer of a node to a call. */
export interface Recorded {
  readonly call: Call;
  readonly result: unknown;
}

/** Starts a node that replays a record, in its own process so that its CPU time is not measured. */
export const startRecordedNode = async (
  answers: readonly Recorded[],
): Promise<{ readonly url: string; readonly stop: () => void }> => {
  const node = fork(join(import.meta.dirname, 'recorded-node.js'));
  node.send(answers);
  const [url] = (await once(node, 'message')) as [string];
  return { url, stop: () => void node.kill() };
};

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

const REGTEST_GENESIS = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206';

/** The call that fetches a block. */
export const bitcoinCalls = ({ hash }: { hash: string }): Call[] => [['getblock', [hash, 0]]];

/** A node's answers about generated blocks from height 1 on: mining them would take minutes. */
export const recordBitcoinBlocks = (blocks: number, transactions: number): Recorded[] => {
  let last = REGTEST_GENESIS;
  const answers: Recorded[] = [{ call: ['getblockhash', [0]], result: last }];
  for (let height = 1; height <= blocks; height += 1) {
    const { hash, raw } = bitcoinBlock(transactions, last);
    answers.push({ call: ['getblockhash', [height]], result: hash });
    for (const call of bitcoinCalls({ hash })) answers.push({ call, result: raw });
    last = hash;
  }
  return answers;
};

const doubleSha256 = (bytes: Buffer) => hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer');
const reversedHex = (bytes: Buffer) => Buffer.from(bytes).reverse().toString('hex');

/** A block without proof of work. A transaction has two signed inputs and two segwit outputs. */
const bitcoinBlock = (transactions: number, parent: string): { hash: string; raw: string } => {
  const made = Array.from({ length: transactions }, transaction);
  let level = made.map(({ id }) => id);
  while (level.length > 1)
    level = level.flatMap((left, at) =>
      at % 2 === 0 ? [doubleSha256(Buffer.concat([left, level[at + 1] ?? left]))] : [],
    );
  const header = Buffer.alloc(80);
  header.set(Buffer.from(parent, 'hex').reverse(), 4);
  header.set(level[0]!, 36);
  header.writeUInt32LE(1_700_000_000, 68);
  const count = Buffer.alloc(3, 0xfd);
  count.writeUInt16LE(transactions, 1);
  const raw = Buffer.concat([header, count, ...made.map((each) => each.raw)]).toString('hex');
  return { hash: reversedHex(doubleSha256(header)), raw };
};

const transaction = (): { id: Buffer; raw: Buffer } => {
  const version = Buffer.from('02000000', 'hex');
  const lockTime = Buffer.alloc(4);
  const input = () => Buffer.concat([randomBytes(32), Buffer.from('01000000'.concat('00', 'fdffffff'), 'hex')]);
  const output = () => Buffer.concat([Buffer.from('1027000000000000160014', 'hex'), randomBytes(20)]);
  const body = Buffer.concat([Buffer.from([2]), input(), input(), Buffer.from([2]), output(), output()]);
  const witness = () => Buffer.concat([Buffer.from([2, 72]), randomBytes(72), Buffer.from([33]), randomBytes(33)]);
  return {
    id: doubleSha256(Buffer.concat([version, body, lockTime])),
    raw: Buffer.concat([version, Buffer.from([0, 1]), body, witness(), witness(), lockTime]),
  };
};
