import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';

type Fields = Readonly<Record<string, unknown>>;

/** A block as nodes answer it, with its transactions. */
interface NodeBlock extends Fields {
  readonly transactions: readonly Fields[];
}

export interface NodeReceipt extends Fields {
  readonly logs: readonly Fields[];
}

export interface NodeAnswers {
  readonly block: NodeBlock;
  readonly receipts: readonly NodeReceipt[];
}

// The header in the order of its hash. Source: Ethereum yellow paper, EIP-1559, EIP-4895, EIP-4844, EIP-4788, EIP-7685.
const HEADER =
  'parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash';
const QUANTITIES = 'difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas'.split(' ');
const BLOOM_BYTES = 256;

/** Makes the answers about a block fit each other after a change: hashes and places of transactions, places of logs,
 *  sums of gas, bloom filters, roots and the hash. `unrooted` are transactions that nodes add to those of the block. */
export const sealed = async (
  { block: changed, receipts }: NodeAnswers,
  unrooted: (transaction: Fields) => boolean = () => false,
): Promise<NodeAnswers> => {
  const hashed = changed.transactions.map((each) => {
    const bytes = encodedTransaction(each);
    return bytes && !unrooted(each) ? { ...each, hash: hex(keccak_256(bytes)) } : each;
  });
  const block: NodeBlock = { ...changed, transactions: hashed };
  let logIndex = 0;
  let gas = 0n;
  const placed = receipts.map((receipt, index): NodeReceipt => {
    const transaction = block.transactions[index]!;
    const transactionIndex = quantity(index);
    const place = { transactionHash: transaction.hash, transactionIndex, blockNumber: block.number };
    const logs = receipt.logs.map((log) => ({ ...log, ...place, logIndex: quantity(logIndex++), removed: false }));
    gas += BigInt(receipt.gasUsed as string);
    return { ...receipt, ...place, logs, cumulativeGasUsed: quantity(gas), logsBloom: hex(bloomOf(logs)) };
  });
  const rooted = placed.filter((_, index) => !unrooted(block.transactions[index]!));
  const ownTransactions = block.transactions.filter((each) => !unrooted(each));
  const header: Fields = {
    ...block,
    transactionsRoot: hex(
      await rootOf(ownTransactions.map((each) => encodedTransaction(each) ?? bytes(each.hash as string))),
    ),
    receiptsRoot: hex(await rootOf(rooted.map(encoded))),
    logsBloom: hex(bloomOf(rooted.flatMap(({ logs }) => logs))),
    gasUsed: quantity(gas),
  };
  const fields = HEADER.split(' ').filter((name) => header[name] !== undefined);
  const hash = hex(keccak_256(RLP.encode(fields.map((name) => valueOf(name, header[name] as string)))));
  const inBlock = <T extends Fields>(value: T): T => ({ ...value, blockHash: hash });
  return {
    block: {
      ...header,
      hash,
      transactions: block.transactions.map((each, index) => inBlock({ ...each, transactionIndex: quantity(index) })),
    },
    receipts: placed.map((receipt) => inBlock({ ...receipt, logs: receipt.logs.map(inBlock) })),
  };
};

const quantity = (value: number | bigint): string => `0x${value.toString(16)}`;
const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
const bytes = (text: string): Uint8Array => Buffer.from(text.slice(2), 'hex');

/** A quantity has no leading zeros, and zero has no bytes. */
const number = (text: string): Uint8Array => {
  const digits = BigInt(text).toString(16);
  return digits === '0'
    ? new Uint8Array()
    : Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
};

const valueOf = (name: string, value: string): Uint8Array => (QUANTITIES.includes(name) ? number(value) : bytes(value));

/** Null for a type that has no public form here. Sources: EIP-155, EIP-1559; OP Stack specification, "Deposits";
 *  Arbitrum Nitro, "Internal transactions". */
const encodedTransaction = (transaction: Fields): Uint8Array | null => {
  const { to, type, ...rest } = transaction as Readonly<Record<string, string>>;
  const numbers = (...names: readonly string[]) => names.map((name) => number(rest[name] ?? '0x0'));
  const call = [to ? bytes(to) : new Uint8Array(), number(rest.value!), bytes(rest.input!)];
  const fees = ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas'];
  switch (type) {
    case '0x0':
      return RLP.encode([...numbers('nonce', 'gasPrice', 'gas'), ...call, ...numbers('v', 'r', 's')]);
    case '0x2': // without an access list
      return envelope(type, [...numbers(...fees), ...call, [], ...numbers('yParity', 'r', 's')]);
    case '0x6a':
      return envelope(type, [number(rest.chainId!), bytes(rest.input!)]);
    case '0x7e':
      return envelope(type, [
        ...[bytes(rest.sourceHash!), bytes(rest.from!), call[0]!],
        ...[...numbers('mint', 'value', 'gas'), new Uint8Array(), call[2]!],
      ]);
    default:
      return null;
  }
};

const envelope = (type: string, parts: Parameters<typeof RLP.encode>[0]): Uint8Array =>
  Buffer.concat([number(type), RLP.encode(parts)]);

/** Source: EIP-2718; for deposits, OP Stack specification, "Deposit Receipt". */
const encoded = (receipt: NodeReceipt): Uint8Array => {
  const { status, cumulativeGasUsed, logsBloom, logs, type, depositNonce, depositReceiptVersion } =
    receipt as unknown as Record<'status' | 'cumulativeGasUsed' | 'logsBloom' | 'type', string> & {
      readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[];
      readonly depositNonce?: string;
      readonly depositReceiptVersion?: string;
    };
  const parts = [
    number(status),
    number(cumulativeGasUsed),
    bytes(logsBloom),
    logs.map(({ address, topics, data }) => [bytes(address), topics.map(bytes), bytes(data)]),
    ...(depositNonce === undefined ? [] : [number(depositNonce)]),
    ...(depositReceiptVersion === undefined ? [] : [number(depositReceiptVersion)]),
  ];
  return type === '0x0' ? RLP.encode(parts) : envelope(type, parts);
};

const rootOf = async (values: readonly Uint8Array[]): Promise<Uint8Array> => {
  const trie = await createMPT();
  for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value);
  return trie.root();
};

/** Source: Ethereum yellow paper, 4.3.1. */
const bloomOf = (logs: readonly Fields[]): Uint8Array => {
  const bloom = new Uint8Array(BLOOM_BYTES);
  for (const { address, topics } of logs as readonly { readonly address: string; readonly topics: readonly string[] }[])
    for (const item of [address, ...topics]) {
      const hash = keccak_256(bytes(item));
      for (const at of [0, 2, 4]) {
        const bit = ((hash[at]! << 8) | hash[at + 1]!) & 0x7ff;
        bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7);
      }
    }
  return bloom;
};
