import { z } from 'zod';
import type { BlockRef } from '../chain-source.ts';
import { checkedAnswer, listOf, requireMatch, RpcError, type RpcNode } from '../nodes/json-rpc.ts';

// The fields that are read of the answers of nodes. Quantities are hex text, never JSON numbers. Source: Ethereum
// JSON-RPC specification, "Hex encoding".

// Each pass of a group takes memory of the stack, and a node can send millions of bytes.
export const Bytes = z.string().refine((text) => text.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(text));
export const QuantityText = z.string().regex(/^0x[0-9a-f]{1,64}$/);
export const Quantity = QuantityText.transform(BigInt);
const SmallQuantity = QuantityText.transform(Number).refine(Number.isSafeInteger);
/** In lower case, as most nodes write it. */
export const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
const Hash = z.string().regex(/^0x[0-9a-f]{64}$/);
/** A hash that is only compared with checked ones. */
const SomeHash = z.string();

export type Transaction = Readonly<z.infer<typeof Transaction>>;
export const Transaction = z.object({
  hash: Hash,
  blockHash: SomeHash,
  to: Address.nullish(),
  from: Address,
  value: Quantity,
});

export type Header = Readonly<z.infer<typeof Header>>;
export const Header = z.object({ hash: Hash, parentHash: Hash, number: SmallQuantity, timestamp: SmallQuantity });

export type Log = Readonly<z.infer<typeof Log>>;
export const Log = z.object({
  address: Address,
  topics: z.array(z.unknown()).max(4).pipe(z.array(Hash)),
  data: z.string(),
  logIndex: SmallQuantity,
  transactionHash: SomeHash,
  blockHash: SomeHash,
  removed: z.literal(false).optional(),
});

/** Numbers other than the status are hex text: only the root of all receipts contains them. */
export type Receipt = Readonly<z.infer<typeof Receipt>>;
export const Receipt = z.object({
  transactionHash: SomeHash,
  blockHash: SomeHash,
  status: z.enum(['0x0', '0x1']),
  logs: listOf(Log),
  type: QuantityText.nullish(),
  cumulativeGasUsed: QuantityText,
  logsBloom: z.string().nullish(),
  depositNonce: QuantityText.nullish(),
  depositReceiptVersion: QuantityText.nullish(),
});

export interface EvmBlock {
  readonly header: Header;
  readonly transactions: readonly Transaction[];
}

/** With the whole answer of the node, whose parts the hash of the block may prove. */
export interface FetchedBlock extends EvmBlock {
  readonly answer: Fields & { readonly transactions: readonly Fields[] };
}

const Block = Header.extend({ transactions: listOf(Transaction) });

// Keccak-256 of "Transfer(address,address,uint256)". Source: ERC-20.
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const UNKNOWN_BLOCK = /unknown block|block not found|header not found/i;

/** The block of that hash with its transactions; null if the node does not know it. */
export const fetchBlock = async (node: RpcNode, { height, hash }: BlockRef): Promise<FetchedBlock | null> => {
  const method = 'eth_getBlockByHash';
  const answer = await node.call(method, [hash, true]);
  if (answer === null) return null;
  const { transactions, ...header } = checkedAnswer(node, method, Block, answer);
  requireMatch(header.hash === hash, node, method, 'is another block than the requested one');
  requireMatch(header.number === height, node, method, 'has another height than the requested block');
  for (const transaction of transactions)
    requireMatch(transaction.blockHash === hash, node, method, 'contains a transaction of another block');
  const ids = new Set(transactions.map((transaction) => transaction.hash));
  requireMatch(ids.size === transactions.length, node, method, 'contains a transaction twice');
  return { header, transactions, answer: answer as FetchedBlock['answer'] };
};

/** The receipts of all transactions of a block, in their order; null if the node does not know the block. */
export const fetchBlockReceipts = async (
  node: RpcNode,
  { header: { hash }, transactions }: EvmBlock,
): Promise<Receipt[] | null> => {
  const method = 'eth_getBlockReceipts';
  const answer = await node.call(method, [hash]);
  if (answer === null) return null;
  const receipts = checkedAnswer(node, method, listOf(Receipt), answer);
  requireMatch(receipts.length === transactions.length, node, method, 'has not one receipt for each transaction');
  receipts.forEach((receipt, index) => requireReceiptOf(node, method, receipt, transactions[index]!));
  return receipts;
};

/** The receipt of one transaction of a block; null if the node does not know it. */
export const fetchReceipt = async (node: RpcNode, transaction: Transaction): Promise<Receipt | null> => {
  const method = 'eth_getTransactionReceipt';
  const answer = await node.call(method, [transaction.hash]);
  if (answer === null) return null;
  const receipt = checkedAnswer(node, method, Receipt, answer);
  requireReceiptOf(node, method, receipt, transaction);
  return receipt;
};

/** All events of a block, or the Transfer events of some tokens; null if the node does not know the block, which it
 *  reports as an error. */
export const fetchLogs = async (
  node: RpcNode,
  { header: { hash: blockHash } }: EvmBlock,
  tokens?: readonly string[],
): Promise<Log[] | null> => {
  const method = 'eth_getLogs';
  const filter = { blockHash, ...(tokens && { address: tokens, topics: [TRANSFER_TOPIC] }) };
  const answer = await node.call(method, [filter]).catch((error: unknown) => {
    if (error instanceof RpcError && UNKNOWN_BLOCK.test(error.message)) return null;
    throw error;
  });
  if (answer === null) return null;
  const logs = checkedAnswer(node, method, listOf(Log), answer);
  for (const log of logs) requireMatch(log.blockHash === blockHash, node, method, 'contains a log of another block');
  return logs;
};

const requireReceiptOf = (node: RpcNode, method: string, receipt: Receipt, { hash, blockHash }: Transaction): void => {
  requireMatch(receipt.transactionHash === hash, node, method, 'contains a receipt of another transaction');
  requireMatch(receipt.blockHash === blockHash, node, method, 'contains a receipt of another block');
  let lastIndex = -1;
  for (const log of receipt.logs) {
    requireMatch(log.transactionHash === hash && log.blockHash === blockHash, node, method, 'contains a foreign log');
    requireMatch(log.logIndex > lastIndex, node, method, 'contains logs out of order');
    lastIndex = log.logIndex;
  }
};

/** A part of an answer of a node. */
export type Fields = Readonly<Record<string, unknown>>;
