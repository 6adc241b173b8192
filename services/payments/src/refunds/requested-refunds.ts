import { type Asset, assetsOf, type AssetTable, type Network, paymentUri, unsignedTransfer } from '@cpg/assets';
import {
  AppError,
  fromMinor,
  invalidRequest,
  type Refund,
  type RefundCall,
  type RefundRequest,
  type RefundRequestCall,
  type RegisteredPayment,
  toUnits,
} from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { RefusedAddress } from '../addresses/recipient.ts';
import { findToRefund } from '../matching/changes.ts';
import type { PaymentCommands } from '../matching/commands.ts';
import type { NotifyOrder } from '../matching/notify-order.ts';
import type { ExistingPayment } from '../payment/state.ts';
import { paymentResource } from '../payment/view.ts';
import type { RefundDestinations, Route, Sender } from './refund-destination.ts';
import { type RefundRow, refundOf } from './refund-rows.ts';

/** Refunds that the merchant sends from its own wallet, and that its chain proves. All are idempotent. */
export interface RequestedRefunds {
  /** Reserves the amount. Throws like a refund, `invalid_request` for a network or an address that does not fit, and
   *  `payment_conflict` for a merchant without a refund address there. */
  readonly request: (paymentId: string, call: RefundCall, context: CallContext) => Promise<RegisteredPayment>;
  /** What to pay, after the refund got its destination if the call has one. Throws `payment_conflict` unless it is
   *  pending. */
  readonly paymentRequest: (id: string, call: RefundRequestCall, context: CallContext) => Promise<RefundRequest>;
  readonly cancel: (id: string, merchantId: string, context: CallContext) => Promise<Refund>;
}

export interface RequestedRefundsOptions {
  readonly commands: PaymentCommands;
  readonly notifyOrder: NotifyOrder;
  readonly db: Queryable;
  readonly destinations: RefundDestinations;
  readonly table: AssetTable;
  /** Whether the chain of a network is read. */
  readonly isWatched: (network: string) => boolean;
  readonly now: () => Date;
}

export const requestedRefunds = ({
  commands,
  notifyOrder,
  db,
  destinations,
  table,
  isWatched,
  now,
}: RequestedRefundsOptions): RequestedRefunds => {
  const routeTo = async (text: string, sender: Sender): Promise<Route> => {
    try {
      return await destinations.routeTo(text, sender);
    } catch (error) {
      throw error instanceof RefusedAddress ? refusedField('destination', error.message) : error;
    }
  };

  const requireRefund = async (id: string, merchantId: string): Promise<RefundRow> => {
    const refund = await refundOf(db, merchantId, id);
    if (!refund) throw new AppError('not_found', 'the refund does not exist');
    return refund;
  };

  const assetBy = (id: string): Asset => {
    const asset = table.assets.find((each) => each.id === id);
    if (!asset) throw new Error(`the file of assets lacks ${id}: add it again`);
    return asset;
  };

  return {
    request: async (paymentId, call, context) => {
      const { merchant_id: merchantId, refund_id: refundId, what, reason, destination } = call;
      if (call.tx_hash !== undefined)
        throw refusedField('tx_hash', 'has no meaning with "settle": "on_chain": the chain shows the transaction');
      const { payment, amountMinor } = await findToRefund(paymentId, call, { commands, notifyOrder }, context);
      const { id: asset, network } = assetToSend(table, payment, call.network);
      requireProvable(network, isWatched);
      // Before the request is recorded: an address that is refused reserves nothing.
      const route = destination === undefined ? undefined : await routeTo(destination, { merchantId, network });
      if (!route) await destinations.sendersOf({ merchantId, network });
      const requested = await commands.run(
        paymentId,
        { type: 'RequestRefund', refundId, amountMinor, what, reason, network: network.name, asset, at: now() },
        context,
      );
      const addressed = route
        ? await commands.run(paymentId, { type: 'AddressRefund', refundId, ...route, at: now() }, context)
        : requested;
      return { payment: paymentResource(addressed), order: null };
    },

    paymentRequest: async (id, { merchant_id: merchantId, destination }, context) => {
      const found = await requireRefund(id, merchantId);
      const { paymentId, asset } = found;
      if (asset === null)
        throw conflict('the refund only records that you paid back: request one with "settle": "on_chain"');
      const { network } = assetBy(asset);
      if (destination !== undefined) {
        const route = await routeTo(destination, { merchantId, network });
        await commands.run(paymentId, { type: 'AddressRefund', refundId: id, ...route, at: now() }, context);
      }
      return requestOf(await requireRefund(id, merchantId), assetBy(asset));
    },

    cancel: async (refundId, merchantId, context) => {
      const { paymentId } = await requireRefund(refundId, merchantId);
      await commands.run(paymentId, { type: 'CancelRefund', refundId, at: now() }, context);
      return (await requireRefund(refundId, merchantId)).resource;
    },
  };
};

/** The coin or token to send back: the one that arrived, or that of the currency on the network of the call. */
const assetToSend = (
  table: AssetTable,
  { asset: paid, currency }: Pick<ExistingPayment, 'asset' | 'currency'>,
  network: string | undefined,
): Asset => {
  const arrived = table.assets.find(({ id }) => id === paid);
  if (arrived && (network === undefined || arrived.network.name === network)) return arrived;
  const offered = assetsOf(table, currency);
  if (offered.length === 0)
    throw refusedField('settle', `"on_chain" is not supported for ${currency}: record the refund without "settle"`);
  const names = offered.map((each) => each.network.name).join(', ');
  if (network === undefined)
    throw refusedField(
      'network',
      `is needed, because no chain shows this payment: send one of ${names}, the network on which you will pay back`,
    );
  const asset = offered.find((each) => each.network.name === network);
  if (!asset) throw refusedField('network', `is none on which ${currency} can be paid back: send one of ${names}`);
  return asset;
};

/** Only a chain that is read shows the transfer. */
const requireProvable = ({ name }: Network, isWatched: RequestedRefundsOptions['isWatched']): void => {
  if (!isWatched(name))
    throw refusedField(
      'settle',
      `"on_chain" needs a chain that is read, and ${name} is not: record the refund without "settle"`,
    );
};

/** What the wallet of the merchant sends. A refund that is sent gets no second request. */
const requestOf = (
  { resource: refund, amountMinor, decimals: scale, destination, senders }: RefundRow,
  { id: asset, decimals, network: { chainId } }: Asset,
): RefundRequest => {
  if (refund.status !== 'pending')
    throw conflict(
      refund.tx_hash === undefined
        ? `the refund is ${refund.status}: request another one`
        : `the refund is ${refund.status}: transaction ${refund.tx_hash} pays it, so send nothing again`,
    );
  if (destination === null) throw refusedField('destination', 'is needed: the refund has no address of the payer yet');
  const units = toUnits(amountMinor, { scale, decimals });
  const transfer = { chainId, asset, address: destination, units };
  const transaction = unsignedTransfer(transfer);
  const label = `Refund ${refund.id}`;
  return {
    refund,
    payment_uri: paymentUri({ ...transfer, amount: fromMinor(units, decimals), label }),
    amount_units: String(units),
    decimals,
    senders: [...senders],
    ...(transaction && { transaction }),
  };
};

const conflict = (message: string): AppError => new AppError('payment_conflict', message);

const refusedField = (path: string, message: string): AppError => invalidRequest([{ path, message }]);
