import { z } from 'zod';
import { PaymentRail } from './currencies.ts';
import { MerchantId, OrderId } from './ids.ts';
import { Minor } from './money.ts';

/** A deposit address that payments derived again from its account and compared. */
export const PageDeposit = z.object({
  /** The rail whose instruction shows it. */
  rail: PaymentRail,
  network: z.string(),
  /** CAIP-2. */
  chain_id: z.string(),
  /** CAIP-19. */
  asset: z.string(),
  /** The name that wallets show for the asset, where it is not the currency. */
  asset_label: z.string().optional(),
  /** The names of tokens on the network that a payer could mistake for it, and that do not pay the order. */
  not_tokens: z.array(z.string()).optional(),
  address: z.string(),
  /** Decimals of the asset on its chain. */
  decimals: z.int(),
  required_confirmations: z.int(),
  /** The smallest amount that can be paid; one minor unit by default. */
  smallest_payable_minor: Minor.optional(),
  /** The block explorer of the network. It shows a transaction at `/tx/<hash>`. */
  explorer: z.string().optional(),
});
export type PageDeposit = z.infer<typeof PageDeposit>;

/** `GET /pages/:reference` of payments -> 200 PaymentPageAddresses, which never change. It omits an
 *  address that differs from its derivation. 404: unknown, deleted, or of an outside provider. */
export const PaymentPageAddresses = z.object({
  order_id: OrderId,
  merchant_id: MerchantId,
  deposits: z.array(PageDeposit),
});
export type PaymentPageAddresses = z.infer<typeof PaymentPageAddresses>;
