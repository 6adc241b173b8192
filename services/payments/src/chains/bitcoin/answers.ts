import { z } from 'zod';

/** RPC_INVALID_ADDRESS_OR_KEY: the node does not know the block or transaction. */
export const UNKNOWN = -5;

/** A height above the tip: RPC_INVALID_PARAMETER of Bitcoin Core, and -1 of btcd. */
export const ABOVE_TIP = [-8, -1];

/** Of a block or a transaction, as explorers spell it. */
export const Hash = z.string().regex(/^[0-9a-f]{64}$/);

export const Header = z.object({ height: z.int().nonnegative(), time: z.int().nonnegative() });

/** A block or a transaction. */
export const Bytes = z
  .string()
  .refine((text) => text.length % 2 === 0 && !/[^0-9a-f]/i.test(text))
  .transform((text) => Buffer.from(text, 'hex'));
