import { type AssetTable, mistakableTokens } from '@cpg/assets';
import {
  AppError,
  type AssignedDeposit,
  AssignedInstruction,
  MerchantId,
  OWN_PROVIDERS,
  type PageDeposit,
  type PaymentPageAddresses,
} from '@cpg/contracts';
import { eventsOf } from '@cpg/event-sourcing';
import { counterMetric, type Logger, type MetricsRegistry } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import type { AccountBook } from '../../addresses/account-book.ts';
import type { FindPayable } from '../../payables/find-payable.ts';
import { ORDER_PREFIXES, receivingIndex } from '../../payables/payable.ts';

export interface PageAddressesOptions {
  readonly client: EventStoreDBClient;
  readonly findPayable: FindPayable;
  readonly readAccounts: () => Promise<AccountBook>;
  readonly table: AssetTable;
  readonly metrics?: MetricsRegistry | undefined;
  readonly log: Logger;
}

/** The addresses behind the page that a reference opens. Throws `not_found`. */
export type PageAddresses = (reference: string) => Promise<PaymentPageAddresses>;

/** Derives each address again before a payer sees it: money sent to a wrong address is lost. */
export const pageAddresses = ({
  client,
  findPayable,
  readAccounts,
  table,
  metrics,
  log,
}: PageAddressesOptions): PageAddresses => {
  const explorers = new Map(table.networks.map(({ name, explorer }) => [name, explorer]));
  const countRefused = counterMetric(metrics, {
    name: 'payment_page_addresses_refused_total',
    help: 'Deposit addresses that payment pages do not show, because they differ from their derivation',
    labelNames: ['network'],
  });
  const isDerived = (
    book: AccountBook,
    orderId: string,
    { network, address, derivation }: AssignedDeposit,
  ): boolean => {
    const index = receivingIndex(derivation.path);
    const derived = index === null ? null : (book.accountBy(network, derivation.fingerprint)?.addressAt(index) ?? null);
    if (derived === address) return true;
    countRefused({ network });
    log.error({ orderId, network, address, derivation, derived }, 'a deposit address differs from its derivation');
    return false;
  };
  return async (reference) => {
    const owner = await findPayable({ reference });
    // Reads a stream for unknown references too, so the time does not reveal deleted orders.
    const instructed = await instructedOrder(client, owner?.orderId ?? NO_ORDER);
    if (!owner || !instructed || !isOwnPage(instructed.instructions, reference))
      throw new AppError('not_found', 'no payment page has this reference');
    const { orderId } = owner;
    const book = await readAccounts();
    return {
      order_id: orderId,
      merchant_id: instructed.merchantId,
      deposits: instructed.instructions.flatMap((instruction) =>
        assignedDepositsOf(instruction)
          .filter((deposit) => isDerived(book, orderId, deposit))
          .map((deposit) =>
            pageDeposit(instruction.rail, deposit, {
              explorer: explorers.get(deposit.network),
              notTokens: mistakableTokens(table, deposit),
            }),
          ),
      ),
    };
  };
};

const NO_ORDER = 'none';

const OrderEvent = z.object({
  type: z.string(),
  data: z.object({ merchantId: MerchantId.optional(), instructions: z.array(AssignedInstruction).optional() }),
});

/** Merchant and instructions of an order; null if it has none, is deleted or does not exist. */
const instructedOrder = async (client: EventStoreDBClient, orderId: string) => {
  let merchantId: string | undefined;
  for await (const { event } of eventsOf(client, `${ORDER_PREFIXES[0]}${orderId}`, OrderEvent)) {
    merchantId ??= event.data.merchantId;
    const { instructions } = event.data;
    if (merchantId && instructions) return { merchantId, instructions };
  }
  return null;
};

const isOwnPage = (instructions: readonly AssignedInstruction[], reference: string): boolean =>
  instructions.some(
    (instruction) =>
      instruction.rail === 'gateway_pay' &&
      instruction.paymentReference === reference &&
      OWN_PROVIDERS.includes(instruction.provider),
  );

const assignedDepositsOf = (instruction: AssignedInstruction): readonly AssignedDeposit[] =>
  instruction.rail === 'crypto_deposit' ? [instruction] : (instruction.deposits ?? []);

const pageDeposit = (
  rail: PageDeposit['rail'],
  deposit: AssignedDeposit,
  { explorer, notTokens }: { readonly explorer: string | undefined; readonly notTokens: readonly string[] },
): PageDeposit => ({
  rail,
  network: deposit.network,
  chain_id: deposit.chainId,
  asset: deposit.asset,
  ...(deposit.assetLabel && { asset_label: deposit.assetLabel }),
  ...(notTokens.length > 0 && { not_tokens: [...notTokens] }),
  address: deposit.address,
  decimals: deposit.decimals,
  required_confirmations: deposit.requiredConfirmations,
  ...(explorer && { explorer }),
});
