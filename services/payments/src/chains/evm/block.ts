import { checkedAnswer, listOf, requireMatch } from '../nodes/answers.ts';
import type { BlockRef } from '../chain-source.ts';
import { RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { Header, Log, Receipt, Transaction } from './answers.ts';
import type { Fields } from './encodings.ts';

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
