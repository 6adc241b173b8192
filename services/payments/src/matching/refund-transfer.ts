import { assetsOf, type AssetTable, type Network } from '@cpg/assets';
import { chainOf, invalidRequest, type PaymentCurrency, type RefundCall } from '@cpg/contracts';
import { parsedField, recipientOn, transactionOn } from '../addresses/recipient.ts';
import type { RefundTransfer } from '../payment/command.ts';

type GivenTransfer = Pick<RefundCall, 'tx_hash' | 'network' | 'destination'>;

/** How the merchant paid back, checked for the network: the given one, or else that of the payment. Money that no chain
 *  shows went back in a way that only its provider can check, so its values stay as given. Throws `invalid_request`
 *  naming the field. */
export const checkedRefundTransfer = (
  { tx_hash, network: name, destination }: GivenTransfer,
  payment: { readonly providerId: string; readonly currency: PaymentCurrency },
  table: AssetTable,
): RefundTransfer => {
  if (tx_hash === undefined && name === undefined && destination === undefined) return {};
  const network = name === undefined ? networkOf(payment.providerId, table) : givenNetwork(name, payment, table);
  if (!network) return { txHash: tx_hash, destination };
  return {
    network: network.name,
    txHash: parsedIfGiven('tx_hash', tx_hash, (text) => transactionOn(network, text)),
    destination: parsedIfGiven('destination', destination, (text) => recipientOn(network, text)),
  };
};

const parsedIfGiven = (path: string, given: string | undefined, parse: (text: string) => string): string | undefined =>
  given === undefined ? undefined : parsedField(path, given, parse);

const networkOf = (providerId: string, { networks }: AssetTable): Network | undefined =>
  networks.find(({ chainId }) => chainId === chainOf(providerId));

const givenNetwork = (
  name: string,
  { currency }: { readonly currency: PaymentCurrency },
  table: AssetTable,
): Network => {
  const networks = [...new Set(assetsOf(table, currency).map((asset) => asset.network))];
  const network = networks.find((each) => each.name === name);
  if (network) return network;
  const names = networks.map((each) => each.name).join(', ');
  const message = `must be a network of ${currency}: ${names || 'there is none, so leave it out'}`;
  throw invalidRequest([{ path: 'network', message }]);
};
