import { z } from 'zod';
import { listOf } from '../nodes/answers.ts';

/** What is read of the answers of nodes. Quantities are hex text, never JSON numbers. Source: Ethereum JSON-RPC
 *  specification, "Hex encoding". */

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
