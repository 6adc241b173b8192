import { ChainNodeError } from '../chain-source.ts';
import type { RpcNode } from '../json-rpc.ts';
import {
  addressIn,
  fieldsIn,
  hashIn,
  InvalidValue,
  itemsIn,
  listOf,
  nullish,
  quantityIn,
  quantityTextIn,
  type Read,
  smallQuantityIn,
  textIn,
} from './fields.ts';

/** Hashes that are only compared with checked ones may be any text. */
export interface Transaction {
  readonly hash: string;
  readonly blockHash: string;
  readonly to: string | null | undefined;
  readonly from: string;
  readonly value: bigint;
}

export interface Header {
  readonly hash: string;
  readonly parentHash: string;
  readonly number: number;
  readonly timestamp: number;
}

export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: number;
  readonly transactionHash: string;
  readonly blockHash: string;
}

/** Numbers other than the status are hex text: only the root of all receipts contains them. */
export interface Receipt {
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly status: '0x0' | '0x1';
  readonly logs: readonly Log[];
  readonly type: string | null | undefined;
  readonly cumulativeGasUsed: string;
  readonly logsBloom: string | null | undefined;
  readonly depositNonce: string | null | undefined;
  readonly depositReceiptVersion: string | null | undefined;
}

const MAX_TOPICS = 4;

export const readTransaction: Read<Transaction> = (answer) => {
  const { hash, blockHash, to, from, value } = fieldsIn(answer);
  return {
    hash: hashIn(hash, 'hash'),
    blockHash: textIn(blockHash, 'blockHash'),
    to: nullish(addressIn, to, 'to'),
    from: addressIn(from, 'from'),
    value: quantityIn(value, 'value'),
  };
};

export const readHeader: Read<Header> = (answer) => {
  const { hash, parentHash, number, timestamp } = fieldsIn(answer);
  return {
    hash: hashIn(hash, 'hash'),
    parentHash: hashIn(parentHash, 'parentHash'),
    number: smallQuantityIn(number, 'number'),
    timestamp: smallQuantityIn(timestamp, 'timestamp'),
  };
};

const hashesIn = listOf(hashIn);
const topicsIn: Read<string[]> = (value, path = '') => {
  if (itemsIn(value, path).length > MAX_TOPICS) throw new InvalidValue(path);
  return hashesIn(value, path);
};

export const readLog: Read<Log> = (answer) => {
  const { address, topics, data, logIndex, transactionHash, blockHash, removed } = fieldsIn(answer);
  const log = {
    address: addressIn(address, 'address'),
    topics: topicsIn(topics, 'topics'),
    data: textIn(data, 'data'),
    logIndex: smallQuantityIn(logIndex, 'logIndex'),
    transactionHash: textIn(transactionHash, 'transactionHash'),
    blockHash: textIn(blockHash, 'blockHash'),
  };
  if (removed !== undefined && removed !== false) throw new InvalidValue('removed');
  return log;
};

const logsIn = listOf(readLog);
const statusIn: Read<Receipt['status']> = (value, path = '') => {
  if (value !== '0x0' && value !== '0x1') throw new InvalidValue(path);
  return value;
};

export const readReceipt: Read<Receipt> = (answer) => {
  const receipt = fieldsIn(answer);
  return {
    transactionHash: textIn(receipt.transactionHash, 'transactionHash'),
    blockHash: textIn(receipt.blockHash, 'blockHash'),
    status: statusIn(receipt.status, 'status'),
    logs: logsIn(receipt.logs, 'logs'),
    type: nullish(quantityTextIn, receipt.type, 'type'),
    cumulativeGasUsed: quantityTextIn(receipt.cumulativeGasUsed, 'cumulativeGasUsed'),
    logsBloom: nullish(textIn, receipt.logsBloom, 'logsBloom'),
    depositNonce: nullish(quantityTextIn, receipt.depositNonce, 'depositNonce'),
    depositReceiptVersion: nullish(quantityTextIn, receipt.depositReceiptVersion, 'depositReceiptVersion'),
  };
};

/** The answer in its form. Throws ChainNodeError. */
export const checkedAnswer = <T>(node: RpcNode, method: string, read: Read<T>, answer: unknown): T => {
  try {
    return read(answer);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ChainNodeError('malformed', `node ${node.number}, ${method}: ${error.path || 'the answer'} is invalid`);
  }
};

/** Throws ChainNodeError if an answer contradicts the question or another answer. */
export const requireMatch = (condition: boolean, node: RpcNode, method: string, why: string): void => {
  if (!condition) throw new ChainNodeError('mismatch', `node ${node.number}, ${method}: ${why}`);
};
