import { hash, randomBytes } from 'node:crypto';
import type { Call } from './fetch-only.ts';
import type { Recorded } from './recorded-node.ts';

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
