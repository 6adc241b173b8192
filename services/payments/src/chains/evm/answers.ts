import { z } from 'zod';
import { ChainNodeError } from '../chain-source.ts';
import type { RpcNode } from '../json-rpc.ts';

// Quantities are hex text, never JSON numbers. Source: Ethereum JSON-RPC specification, "Hex encoding".
const HexDigits = z.string().regex(/^0x[0-9a-f]{1,64}$/);
export const Quantity = HexDigits.transform(BigInt);
export const SmallQuantity = Quantity.refine((value) => value <= Number.MAX_SAFE_INTEGER).transform(Number);
export const Hash = z.string().regex(/^0x[0-9a-f]{64}$/);
export const Bytes = z.string().regex(/^0x([0-9a-fA-F]{2})*$/);
export const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
/** A hash that is only compared with checked ones. */
export const ComparedHash = z.string();

export const Transaction = z.object({
  hash: Hash,
  blockHash: ComparedHash,
  to: Address.nullish(),
  from: Address,
  value: Quantity,
});
export type Transaction = z.infer<typeof Transaction>;

export const Header = z.object({ hash: Hash, parentHash: Hash, number: SmallQuantity, timestamp: SmallQuantity });
export type Header = z.infer<typeof Header>;

export const Log = z.object({
  address: Address,
  topics: z.array(Hash).max(4),
  data: z.string(),
  logIndex: SmallQuantity,
  transactionHash: ComparedHash,
  blockHash: ComparedHash,
  removed: z.literal(false).optional(),
});
export type Log = z.infer<typeof Log>;

export const Receipt = z.object({
  transactionHash: ComparedHash,
  blockHash: ComparedHash,
  status: z.enum(['0x0', '0x1']),
  logs: z.array(Log),
  gasUsed: HexDigits,
  effectiveGasPrice: HexDigits,
  blobGasUsed: HexDigits.nullish(),
  blobGasPrice: HexDigits.nullish(),
  l1Fee: HexDigits.nullish(),
});
export type Receipt = z.infer<typeof Receipt>;

/** The answer as a value of the schema. Throws ChainNodeError. */
export const checkedAnswer = <T extends z.ZodType>(
  node: RpcNode,
  method: string,
  schema: T,
  answer: unknown,
): z.output<T> => {
  const { success, data, error } = schema.safeParse(answer);
  if (success) return data;
  const path = error.issues[0]!.path.join('.');
  throw new ChainNodeError('malformed', `node ${node.number}, ${method}: ${path || 'the answer'} is invalid`);
};

/** Throws ChainNodeError if an answer contradicts the question or another answer. */
export const requireMatch = (condition: boolean, node: RpcNode, method: string, why: string): void => {
  if (!condition) throw new ChainNodeError('mismatch', `node ${node.number}, ${method}: ${why}`);
};
