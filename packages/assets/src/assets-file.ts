import { AmountDto, PaymentCurrency } from '@cpg/contracts';
import { z } from 'zod';
import { chainOf } from './chains.ts';
import { isChecksummed } from './evm-address.ts';

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

const Name = z.string().min(1).max(64);

/** A comment for readers of the file. */
const Note = z.string().optional();

const NetworkRow = z.strictObject({
  note: Note,
  network: Name,
  chain_id: z.string().refine((id) => chainOf(id) !== null, {
    error:
      'must be the CAIP-2 id of an EVM chain ("eip155:1") or of a Bitcoin chain by its genesis block ("bip122:000000000019d6689c085ae165831e93")',
  }),
  /** The coin that pays the gas, for an EVM chain that this version does not know. */
  native_coin: z.string().min(1).optional(),
  /** Extended public key of the account that receives deposits, unless a variable sets it. */
  xpub: z.string().optional(),
  /** Block explorer, shows `/tx/<hash>`. Default: the one of the chain; null for none. */
  explorer: z
    .url({ protocol: /^https$/, error: 'must be the https:// address of a block explorer, or null for none' })
    .nullable()
    .optional(),
});

const PositiveAmount = AmountDto.refine((amount) => /[1-9]/.test(amount), { error: 'must be more than zero' });
const Confirmations = z.int().min(1, { error: 'must be at least 1' });

const AssetRow = z
  .strictObject({
    note: Note,
    currency: z.enum(PaymentCurrency.options, {
      error: `must be a currency that orders can be paid in: ${PaymentCurrency.options.join(', ')}`,
    }),
    network: Name,
    native: z.literal(true, { error: 'must be true, or be left out for a token' }).optional(),
    contract: z
      .string()
      .refine((address) => isChecksummed(address) && address !== ZERO_ADDRESS, {
        error:
          'must be the address of a token contract with its EIP-55 checksum: copy it with its upper-case and lower-case letters',
      })
      .optional(),
    /** The name that wallets show for a token, where it is not the currency: `USDC.e`. */
    label: z.string().min(1).max(32).optional(),
    /** For a token that is not offered, because another row of its currency and network is. A payer who sends it
     *  nevertheless pays the order (`credit`), or the payment is an orphan with the reason `wrong_currency`. */
    if_sent: z
      .enum(['credit', 'orphan'], {
        error: 'must be "credit" or "orphan", or be left out for a token that payers are asked for',
      })
      .optional(),
    decimals: z.int({ error: 'must be the number of decimals that the asset has on its chain' }),
    smallest_payable: PositiveAmount,
    /** Deposits of earlier orders are still looked for; new orders are not offered it. */
    retired: z.literal(true, { error: 'must be true, or be left out' }).optional(),
    /** Totals round up to a multiple of it, because wallets do not take every decimal. */
    payable_step: PositiveAmount.optional(),
    confirmations: Confirmations,
    /** Larger amounts that need more confirmations, smallest first. */
    confirmation_tiers: z.array(z.strictObject({ from: PositiveAmount, confirmations: Confirmations })).optional(),
    /** From this amount on, the nodes also have to call the block `finalized`. EVM chains only. */
    finalized_from: PositiveAmount.optional(),
  })
  .refine(({ native, contract }) => (native === undefined) !== (contract === undefined), {
    error: 'must have either "native": true, for the coin of the chain, or the "contract" of a token',
  });

/** The file of assets: chains that accept deposits, and one row for each coin or token on them. */
export const AssetsFile = z.strictObject({
  note: Note,
  networks: z.array(NetworkRow).min(1, { error: 'needs a network: no rail could take a deposit' }),
  assets: z.array(AssetRow).min(1, { error: 'needs an asset: no rail could take a deposit' }),
});
export type AssetsFile = z.infer<typeof AssetsFile>;
export type NetworkRow = z.infer<typeof NetworkRow>;
export type AssetRow = z.infer<typeof AssetRow>;
